// file_editor: view, create, str_replace, insert, undo_edit, with the messages that users of such tools know.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "agent/workspace.h"

namespace passnet::agent {

class FileEditor {
 public:
  explicit FileEditor(Workspace& workspace) : workspace_(workspace) {}

  // The message for the model; an error's message is one too. `changes`: what was written.
  Result<std::string> run(const nlohmann::json& arguments, Changes& changes);
  // An edit that is known from a log: its file gets this text, and undo knows the old one.
  Result<std::monostate> repeat(const Changes& changes, bool undone);

 private:
  struct Call;
  std::string view(const Call& call) const;
  std::string create(const Call& call, Changes& changes);
  std::string replace(const Call& call, Changes& changes);
  std::string insert(const Call& call, Changes& changes);
  std::string undo(const Call& call, Changes& changes);
  std::string text_of(const Call& call) const;
  void set(const std::string& path, std::string text, Changes& changes);

  Workspace& workspace_;
  std::map<std::string, std::vector<std::optional<std::string>>> history_;  // what a file was before each edit
};

}  // namespace passnet::agent

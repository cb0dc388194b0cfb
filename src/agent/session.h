// One task being worked on: its folder, the editor, the verdicts so far and the best passes. The loop, MCP and the
// environment all work through it, so that they all mean the same.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "agent/editor.h"
#include "agent/judge.h"

namespace passnet::agent {

struct SessionOptions {
  double evaluation_seconds = 600;
  std::size_t result_limit = 30000;  // bytes of a tool's answer
  bool author_measures = false;      // author_suggest may measure
};

struct Best {
  double score = 0;
  bool correct = false;
  Files files;
};

// What a tool gave.
struct ToolResult {
  std::string text;
  bool error = false;
  Changes changes;
  bool undone = false;          // ... by undo_edit
  std::optional<double> score;  // of an evaluation with one
  bool correct = false;         // ... on every graph
  bool improved = false;        // the best so far is now this
};

class Session {
 public:
  Session(Task task, std::unique_ptr<Workspace> workspace, Judge& judge, SessionOptions options = {});

  // `arguments`: an object. Whatever it is, and whatever the tool is called, the answer is a result.
  ToolResult call(std::string_view tool, const nlohmann::json& arguments);
  // The same for a text that should be such an object.
  ToolResult call_text(std::string_view tool, std::string_view arguments);

  // Judges pass_dir as it is and keeps it if it is strictly better.
  ToolResult evaluate(bool verify_only, bool full);
  // The built-in author's passes, as files of pass_dir; none where it finds nothing to gain. `measure`: times decide.
  Result<Files> author_files(bool measure);
  // A result that is known from a log: files and best become what they were.
  void repeat(const ToolResult& result);
  void restore_best();
  void limit_evaluation(double seconds) { options_.evaluation_seconds = seconds; }

  const Task& task() const { return task_; }
  Workspace& workspace() { return *workspace_; }
  FileEditor& editor() { return editor_; }
  Judge& judge() { return judge_; }
  const SessionOptions& options() const { return options_; }
  const std::optional<Best>& best() const { return best_; }
  bool edited() const { return edited_; }  // since the last evaluation with a score
  // The graph of this name; an error lists the names. An empty name: the first.
  Result<std::size_t> graph(const std::string& name) const;

  Judge::Cancelled cancelled = [] { return false; };

 private:
  void keep(double score, bool correct);
  std::string hide_paths(std::string text) const;

  Task task_;
  std::unique_ptr<Workspace> workspace_;
  Judge& judge_;
  SessionOptions options_;
  FileEditor editor_;
  std::optional<Best> best_;
  bool edited_ = false;
};

}  // namespace passnet::agent

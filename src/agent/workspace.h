// A task's working folder: graph_list.txt, graphs/ (copies to read) and pass_dir/ (to write). Whatever path comes from
// outside is confined to it: names are followed one by one from the folder itself, and symbolic links not at all.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench.h"

namespace passnet::agent {

inline constexpr const char* kPassDir = "pass_dir";
inline constexpr std::size_t kEditLimit = std::size_t{1} << 20;  // bytes of a file that is written
inline constexpr std::size_t kPassFiles = 256;                   // files of a pass folder

using Files = std::map<std::string, std::string>;                   // text by path, relative to the folder
using Changes = std::map<std::string, std::optional<std::string>>;  // none: removed

// Whether it is the path of a file below pass_dir.
bool is_pass_path(std::string_view path);

// A short name for each of the task's graphs: its folder's, and a number behind it where two have the same.
std::vector<std::string> graph_names(const Task& task);

class Workspace {
 public:
  // Makes the folder with the task's graphs; passes that lie there already stay.
  static Result<std::unique_ptr<Workspace>> make(const std::string& folder, const Task& task);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const std::string& root() const { return root_; }
  std::string pass_dir() const { return root_ + "/" + kPassDir; }

  // The path as it is in the folder: relative, without dots. An error: it leads outside.
  Result<std::string> inside(std::string_view path) const;

  enum class Kind : std::uint8_t { missing, file, folder, other };
  Kind kind(const std::string& path) const;
  Result<std::string> read(const std::string& path) const;
  Result<std::vector<std::string>> list(const std::string& path, int depth) const;  // folders end with '/'
  // In pass_dir only: the rest is the task.
  Result<std::monostate> write(const std::string& path, std::string_view text);
  Result<std::monostate> remove(const std::string& path);

  Files passes() const;  // all of pass_dir, by paths of the folder
  Result<std::monostate> set_passes(const Files& files);

 private:
  Workspace() = default;
  int open_at(const std::string& path, int flags) const;  // a descriptor, or -1 with errno
  int open_parent(const std::string& path, bool create, std::string& name) const;

  std::string root_;
  int fd_ = -1;
};

}  // namespace passnet::agent

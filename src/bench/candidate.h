// What is judged against eager: a pass folder, or a peer.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace passnet {

inline constexpr const char* kOwnPasses = "pass_dir";  // a sample's own passes

struct Candidate {
  enum class Kind : std::uint8_t {
    passes,        // a pass folder, or a folder with one for each task
    eager,         // the graph itself once more: what the noise is
    none,          // the graph unchanged through the way of a rewritten one: what the way costs
    eager_python,  // Python's eager
    inductor,      // torch.compile
    author,        // the built-in author's passes: `bench` lets it write them, and evaluates those
  } kind = Kind::passes;
  std::string name;  // in records and tables
  std::string path;  // of the passes; empty: each sample's own
  std::string mode;  // of torch.compile: "default", "reduce-overhead", "max-autotune", ...

  bool in_python() const { return kind == Kind::eager_python || kind == Kind::inductor; }
  // The pass folder for a task: `path` itself; where that holds no passes, its subfolder of the task's name, or that
  // one's pass_dir. `sample` is the task's own folder, where there is one.
  Result<std::string> folder_for(const std::string& task, const std::string& sample) const;
};

// Records, logs and what workers are told are UTF-8; so are the paths in them.
Result<std::monostate> path_check(const std::string& path);

// "eager", "none", "eager-python", "inductor", "inductor:MODE", "author", "pass_dir" (each sample's own), a folder;
// NAME= before any.
Result<Candidate> candidate_from_text(const std::string& text);
// A pass folder or file, whatever it is called; its name is that of the file.
Result<Candidate> candidate_of_passes(std::string path);

}  // namespace passnet

// What is judged against eager: a pass folder, or a peer.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace passnet {

struct Candidate {
  enum class Kind : std::uint8_t {
    passes,        // a pass folder, or a folder with one for each task
    eager,         // the graph itself once more: what the noise is
    none,          // the graph unchanged through the way of a rewritten one: what the way costs
    eager_python,  // Python's eager
    inductor,      // torch.compile
  } kind = Kind::passes;
  std::string name;  // in records and tables
  std::string path;  // of the passes
  std::string mode;  // of torch.compile: "default", "reduce-overhead", "max-autotune", ...

  bool in_python() const { return kind == Kind::eager_python || kind == Kind::inductor; }
  // The pass folder for a task: `path` itself; where that holds no passes, its subfolder of the task's name, or that
  // one's pass_dir. `sample` is the task's own folder, where there is one.
  Result<std::string> folder_for(const std::string& task, const std::string& sample) const;
};

// "eager", "none", "eager-python", "inductor", "inductor:MODE", "pass_dir" (each sample's own), a folder; NAME= before
// any.
Result<Candidate> candidate_from_text(const std::string& text);

}  // namespace passnet

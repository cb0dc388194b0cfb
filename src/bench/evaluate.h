// One graph with a pass folder: eager, apply, compile, check, run, compare. The whole way in one function.
#pragma once

#include <string>

#include "bench/correctness.h"
#include "bench/status.h"
#include "pass/manage.h"
#include "pass/tile_backend.h"

namespace passnet {

struct EvaluateOptions {
  MatchMode match = MatchMode::normal;
  DeviceType device = DeviceType::cpu;
  std::uint64_t seed = 1024;
  int at = -5;          // status `correct` means right at this t
  bool checked = true;  // run the checked build first
  std::string dump_folder;
};

struct Evaluation {
  Status status = Status::correct;
  std::vector<AppliedPass> passes;
  std::size_t matches = 0;
  Comparison comparison;  // of a run that came to its end
  bool compared = false;
  std::vector<KernelReport> kernels;
  std::vector<Error> errors;       // the first decides the status
  std::vector<std::string> notes;  // facts for people
};

// Statuses of errors from loading the pass folder.
Status load_status(const Error& error);

Evaluation evaluate(const std::string& graph, const PassFolder& passes, Engine& engine, const EvaluateOptions& options);

}  // namespace passnet

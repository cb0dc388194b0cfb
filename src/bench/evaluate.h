// One graph with one candidate, in two stages: verify (eager, apply, check, run, compare), then time. The whole way in
// one class.
#pragma once

#include <functional>
#include <string>

#include "bench/candidate.h"
#include "bench/correctness.h"
#include "bench/record.h"
#include "bench/status.h"
#include "bench/timing.h"
#include "kernels/backend.h"
#include "pass/manage.h"

namespace passnet {

inline constexpr const char* kEagerStage = "eager";  // ends before the candidate's first instruction

struct EvaluateOptions {
  MatchMode match = MatchMode::normal;
  DeviceType device = DeviceType::cpu;
  std::uint64_t seed = 1024;
  std::uint64_t secret = 0;  // of the draws beyond the recorded one (bench/draws.h)
  int at = -5;               // status `correct` means right at this t
  int draws = 2;             // beyond the recorded inputs
  bool checked = true;       // run the checked build first
  bool cuda_graphs = false;  // the candidate is timed as one, where it can be recorded; eager is not
  std::string dump_folder;
  LoadOptions load;
  std::string baseline = "eager";  // or "eager-python"
  TimingOptions timing;
  // Called once, when all that a pass folder needs is compiled and loaded, before its fast kernels run: a worker closes
  // itself here. What it could not close is given back, and noted.
  std::function<std::vector<std::string>()> seal;
  // Called before work of another kind begins: torch's threads run graphs, or processes and threads are started, which
  // inherit the cores of who starts them.
  enum class Work : std::uint8_t { run, start };
  std::function<void(Work next)> settle = [](Work) {};
  // Told before each stage begins, so that the stage in which a worker died is known.
  std::function<void(std::string_view stage)> stage = [](std::string_view) {};
};

struct Evaluation {
  Status status = Status::correct;
  std::vector<AppliedPass> passes;
  std::size_t matches = 0;
  Comparison comparison;  // the worst of all draws, of a run that came to its end
  bool compared = false;
  std::vector<KernelReport> kernels;
  std::vector<Error> errors;       // the first decides the status
  std::vector<std::string> notes;  // facts for people
  std::vector<StageTime> stages;   // where the time went
  bool timed = false;
  std::string timed_inputs;
  Timing timing;

  void note(std::string text);  // once
};

class Evaluator {
 public:
  // `passes`: the pass folder of a candidate that has one.
  Evaluator(std::string graph, const Candidate& candidate, std::string passes, Engine& engine,
            const EvaluateOptions& options);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // Both throw for the environment's errors only.
  const Evaluation& verify();
  // After verify, if `worth_timing`: on all of the engine's threads.
  const Evaluation& time();
  bool worth_timing() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// What both stages found out, as a record; who and where is the caller's to fill in.
Record make_record(const Evaluation& evaluation);

}  // namespace passnet

// Many tasks, several candidates: every (graph, candidate) evaluated once, verification in parallel, timing alone.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/job.h"
#include "bench/turn.h"

namespace passnet {

struct Task {
  std::string name;
  std::string sample;  // its folder; empty where it is only a name for some graphs
  std::vector<std::string> graphs;
};

struct BenchOptions {
  std::vector<Candidate> candidates;
  EvaluateOptions evaluate;
  std::optional<bool> cuda_graphs;  // all candidates as such, or none; unset: the built-in author's
  int jobs = 0;                     // verifications at once
  int threads = 0;                  // of the timed process
  std::vector<int> cores;           // to which timing is pinned
  double timeout_s = 120;
  double python_timeout_s = 900;  // of candidates that torch.compile builds
};

// The jobs in the order of the tasks; of one graph all candidates follow one another.
std::vector<Job> bench_jobs(const std::vector<Task>& tasks, const BenchOptions& options, const Conditions& conditions);

// One job in its turn: verified beside others, timed alone. None: given up because `cancelled`. Throws the
// environment's errors.
std::optional<Record> evaluate_job(const Job& job, guard::Template& workers, Turn& turn,
                                   const JobRun::Cancelled& cancelled, bool verify_only = false);

// `done` is called with each record as it is finished, by one thread at a time; `waiting`, where another bench has the
// machine for long. False: stopped by `stop`. Throws the
// environment's errors, after all workers are gone.
bool bench_run(const std::vector<Job>& jobs, guard::Template& workers, int at_once, const std::atomic<bool>& stop,
               const std::function<void(const Job&, const Record&)>& done, const std::function<void()>& waiting);

// Of this machine. Throws where the device is missing or broken.
Conditions conditions_here(const BenchOptions& options, guard::Template& workers);

}  // namespace passnet

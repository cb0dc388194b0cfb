// One evaluation in a worker process: what it is asked, what it answers, and both ends of the conversation.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/evaluate.h"
#include "guard/worker.h"

namespace passnet {

struct Job {
  std::string task;    // its name
  std::string sample;  // the task's folder; empty where there is none
  std::string graph;
  Candidate candidate;
  int attempt = 0;
  std::string contents;     // of the graph and the passes
  EvaluateOptions options;  // but for `stage`
  bool alone = false;       // nothing else runs beside its verification, which then has all threads, too
  int threads = 1;          // while timing
  std::vector<int> cores;   // to which timing is pinned; none: not pinned
  double timeout_s = 120;   // of each of the two stages; where eager is slow its calls are not counted
  std::int64_t memory_bytes = guard::Limits{}.memory_bytes;
  Conditions conditions;
};

// What the template loads before it forks workers.
void job_load();
// What a worker runs: one job.
void job_serve(guard::Channel& channel);

// The device's name, asked for in a worker of its own, since this process must not start CUDA. Throws the environment's
// error where the device is missing or broken.
std::string probe_device(DeviceType device, guard::Template& workers);

// Our end of one job. Whatever happens to the worker becomes a record.
class JobRun {
 public:
  JobRun(const Job& job, guard::Template& workers);
  // Polled while waiting: true gives the job up.
  using Cancelled = std::function<bool()>;

  void verify(const Cancelled& cancelled);
  bool worth_timing() const { return worth_timing_; }
  int pid() const { return worker_->pid(); }
  void time(const Cancelled& cancelled);
  const Record& record() const { return record_; }
  bool cancelled() const { return gave_up_; }
  // By SIGKILL from outside, or by the system for want of memory: no word on the candidate.
  bool killed_by_others() const { return killed_by_others_; }
  // The worker could not use its device, before the candidate came in: no word on it either.
  bool device_refused() const { return device_refused_; }

 private:
  bool receive(std::string_view stage, const Cancelled& cancelled);
  void watch_eager();
  void died(std::string_view stage, Status status, std::string message);

  const Job& job_;
  std::unique_ptr<guard::Worker> worker_;
  Record record_;
  bool worth_timing_ = false, gave_up_ = false, killed_by_others_ = false, device_refused_ = false;
  double seconds_ = 0;
  std::optional<std::chrono::steady_clock::time_point> eager_begin_;
  std::optional<double> eager_seconds_;  // of a call
};

}  // namespace passnet

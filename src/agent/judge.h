// What passes are worth on a task: the bench's own evaluation, for whoever asks. Verifications run beside one another,
// timing is alone, among all sessions of this process and all benches of the machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "bench/score.h"

namespace passnet::agent {

struct Verdict {
  std::vector<Record> records;  // as the task's graphs
  std::optional<double> score;  // AS, as `passnet eval` gives it; none where nothing was to be timed
  double seconds = 0;

  bool matched() const;  // any pass on any graph
  bool correct() const;  // every graph
};

class Judge {
 public:
  Judge(guard::Template& workers, BenchOptions options, Conditions conditions);

  // None: given up because `cancelled`. After `seconds` what is not finished counts as timed out.
  using Cancelled = JobRun::Cancelled;
  std::optional<Verdict> judge(const Task& task, const std::string& passes, bool verify_only, double seconds,
                               const Cancelled& cancelled);

  Turn& turn() { return turn_; }
  const BenchOptions& options() const { return options_; }
  // Bytes a second that this machine copies (reads and writes counted), on the threads that are timed; measured once.
  double copy_rate();

 private:
  guard::Template& workers_;
  const BenchOptions options_;
  const Conditions conditions_;
  Turn turn_;
  std::once_flag measured_;
  double copy_rate_ = 0;
};

}  // namespace passnet::agent

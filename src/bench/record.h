// What is known of one graph with one candidate: a line of a run's JSONL, and the source of logs, tables and scores.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "bench/correctness.h"
#include "bench/status.h"
#include "bench/timing.h"
#include "cuda/monitor.h"

namespace passnet {

inline constexpr int kRecordVersion = 1;  // another one where a key means something else

struct OutputRecord {
  std::string dtype;                // eager's
  std::string compiled_dtype;       // the candidate's
  std::vector<std::int64_t> shape;  // eager's
  std::vector<std::int64_t> compiled_shape;
  bool equal = false;                      // bit for bit at the recorded statistics
  std::array<int, kLaws> tightest_t = {};  // by law (correctness.h): right at this t and all looser ones
  double max_diff = 0, mean_diff = 0;
  std::int64_t wrong = 0, worst = 0;  // elements not right at t = -5; the one of the largest difference, row-major
  double worst_expected = 0, worst_got = 0;
};

struct KernelRecord {
  std::string name, constexprs;
  std::array<std::int64_t, 3> grid = {1, 1, 1};
};

// Where and how it was measured; the same for all records of a run.
struct Conditions {
  std::string device = "cpu", hardware, torch_version, version;
  std::string guard;  // what the sandbox could not do here; empty: nothing is missing
  int threads = 0;
  int warmup = 25, trials = 100;  // as asked for
  double budget_s = 2;
  bool cuda_graphs = false;  // the candidate ran as one where it could
  std::string options;       // that decide what is right and what is measured again, as text
};

// Of the GPU, around the timing.
struct GpuRecord {
  cuda::GpuState before, after;
  std::optional<int> foreign_processes;  // that computed there beside ours; none: not known
};

struct StageTime {
  std::string name;
  double seconds = 0;
};

struct Record {
  // Who (RecordKey)
  std::string task;       // the sample folder's name, or that of the folder the graph is in
  std::string graph;      // path as listed
  std::string candidate;  // "eager", "none", "inductor", "inductor:max-autotune", "eager-python", or a pass folder
  int attempt = 0;        // 0, then 1 where measured again by --retry-unstable
  std::string baseline = "eager";  // what the speedup is against
  std::string contents;            // of the graph and the passes (contents.h); empty: not known

  Status status = Status::runtime_fail;
  std::optional<int> tightest_t;  // over all outputs and all draws; none: nothing was compared, or right at no t
  std::vector<OutputRecord> outputs;
  std::vector<Error> errors;       // the first decides the status
  std::vector<std::string> notes;  // facts for people: fewer trials, a draw left out
  std::size_t matches = 0;
  std::vector<KernelRecord> kernels;

  bool timed = false;
  Times eager, compiled;
  std::string timed_inputs;  // for people: which draw's
  Ratio speedup, gpu_speedup;
  std::optional<Ratio> speedup_again;  // in a second worker, see widen_interval
  int warmups = 0, trials = 0;         // as done
  std::optional<GpuRecord> gpu;        // where it was timed and NVML answers

  std::int64_t finished = 0;      // when: seconds since 1970
  double seconds = 0;             // the whole evaluation
  double overhead_seconds = 0;    // of these, all but warm-ups and trials
  std::vector<StageTime> stages;  // of the evaluation, in their order
  Conditions conditions;
};

// The law (correctness.h) by which an output of this dtype is compared; none: it must be equal.
std::optional<std::size_t> law_of_name(std::string_view dtype);
// The t from which everything is right: outputs, draws, whatever was compared; kNever.
int record_tightest_t(const Record& record);

// Slower than eager by its interval, but by so little that another worker, whose memory lies otherwise, may find the
// opposite. It then has a say in the interval; the speedup stays the first one's.
bool doubtfully_slower(const Record& record);
void widen_interval(Record& record, const Record& other_worker);

// Numbers that JSON has no word for are the strings "nan", "inf" and "-inf".
nlohmann::ordered_json to_json(const Record& record);
// One line with its end; bytes that are no UTF-8 are replaced.
std::string record_line(const Record& record);

// What is one evaluation, done again or not: task, graph and candidate. Of a path only what does not depend on where
// it is seen from: `root/task/graph` and `task/graph/` are one.
using RecordKey = std::tuple<std::string, std::string, std::string>;
RecordKey record_key(const std::string& task, const std::string& graph, const std::string& candidate);

// Only who and the status must be there. Unknown keys are left alone, so that records of later builds with more facts
// are readable; those of a later version are an error.
Result<Record> record_from_json(const nlohmann::json& json);
Result<Record> record_from_line(std::string_view line);

}  // namespace passnet

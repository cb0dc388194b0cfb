// What results are worth: S(t), ES(t), AS, and fast_p, from one row a graph.
//
// A row's rectified speedup r is its speedup s, or s^(p+1) where s < 1; a graph that is not right counts b. S(t) is the
// geometric mean over the graphs with correctness at tolerance t. ES(t) is S(t) up to t = 0; from t = 1 on errors are
// forgiven class by class: a graph wrong at t = 1 counts 1 once its class is tolerated, a right one keeps its r.
#pragma once

#include <array>
#include <bitset>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/correctness.h"
#include "bench/status.h"

namespace passnet {

struct Record;

inline constexpr std::size_t kSteps = kLoosest - kTightest + 1;  // the sweep's tolerances
using RightAt = std::bitset<kSteps>;                             // bit t - kTightest
constexpr std::size_t step_of(int t) { return static_cast<std::size_t>(t - kTightest); }
RightAt right_from(int tightest_t);  // at this t and all looser ones; kNever: at none

// The status as far as scores and logs tell statuses apart: `correct` (compared; also `accuracy`), a failure's class,
// and runtime_fail for what only we name (timeout, crash, integrity, unstable).
Status score_class(Status status);

struct ScoreRow {
  Status status = Status::runtime_fail;  // a score_class
  RightAt right;                         // of a `correct` one; a log's need not be monotone
  std::optional<double> speedup;         // positive and finite; without one a right graph counts as runtime_fail

  bool right_at(int t) const { return status == Status::correct && speedup && right.test(step_of(t)); }
  bool operator==(const ScoreRow&) const = default;
};
ScoreRow score_row(const Record& record);

enum class Interpretation : std::uint8_t { by_default, mismatch_extended };
std::optional<Interpretation> interpretation_from_name(std::string_view name);
// The t from which an error is forgiven; kNever: never.
int tolerated_from(Interpretation interpretation, Status error);

struct ScoreOptions {
  Interpretation interpretation = Interpretation::by_default;
  double p = 0;    // how much slower than eager hurts more than faster helps
  double b = 0.1;  // what a failure counts
};

struct Score {
  int last_t = 4;                              // the range of t is kTightest..last_t
  std::array<double, kSteps> s = {}, es = {};  // by step_of(t), up to last_t
  std::optional<double> as;                    // in the default interpretation
};

// Of one task's graphs; at least one.
Score score(std::span<const ScoreRow> graphs, const ScoreOptions& options = {});
// Of a benchmark: the geometric mean of its tasks' scores, whatever their number of graphs.
Score score_tasks(std::span<const Score> tasks);

// ES(t) from shares and means alone: alpha^lambda * beta^(lambda eta p) * gamma_t^(1-lambda). The published closed
// form; it agrees with score().es.
std::array<double, kSteps> es_closed_form(std::span<const ScoreRow> graphs, const ScoreOptions& options = {});

// The share of graphs that are right at t = -5 and more than `than` times as fast as eager.
double fast_share(std::span<const ScoreRow> graphs, double than);
inline constexpr std::array<double, 3> kFastThan = {1, 1.5, 2};

// Graphs by task, and what is said of them together.
struct ScoreTask {
  std::string name;
  std::vector<ScoreRow> graphs;
};
struct ScoreCard {
  Score score;
  std::vector<double> task_as;  // as the tasks; empty where the interpretation has no AS
  std::size_t graphs = 0;
  std::array<double, kFastThan.size()> fast = {};  // fast_share for each of kFastThan
  double right = 0;                                // share of graphs right at t = -5
  double slower = 0;                               // share of graphs right at t = -5, but slower than eager
};
// At least one task, each with at least one graph.
ScoreCard score_card(std::span<const ScoreTask> tasks, const ScoreOptions& options = {});

}  // namespace passnet

#include "bench/score.h"

#include <cmath>

#include "bench/record.h"

namespace passnet {

namespace {

constexpr int kUsual = -5;  // the tolerance at which people say "right"
constexpr int kFrozen = 1;  // from here on ES looks at the rows as they are at this t

// How far t goes, and from which t each class of error is forgiven.
struct InterpretationRow {
  std::string_view name;
  int last_t;
  int accuracy, mismatch, runtime, compile;
};
constexpr InterpretationRow kInterpretations[] = {
    {"default", 4, 1, 3, 3, 3},
    {"mismatch_extended", 5, 1, 2, 3, 4},
};
const InterpretationRow& row_of(Interpretation i) { return kInterpretations[static_cast<std::size_t>(i)]; }

// AS = 10^(sum of w_t log10 ES(t)), w_t = weight / sum of weights; t = -10..4.
constexpr double kWeights[] = {0.001, 0.001, 0.001, 0.001,  0.001,   1,        1,    1,
                               0.8,   0.64,  0.512, 0.4096, 0.32768, 0.262144, 0.001};

double log_rectified(double speedup, double p) { return std::log(speedup) * (speedup < 1 ? p + 1 : 1); }

// The class that a row has at t: correct, accuracy, or its failure.
Status class_at(const ScoreRow& row, int t) {
  if (row.status != Status::correct) return row.status;
  if (!row.right.test(step_of(t))) return Status::accuracy;
  return row.speedup ? Status::correct : Status::runtime_fail;
}

// log r of one row for S and for ES.
double log_s(const ScoreRow& row, int t, const ScoreOptions& o) {
  return row.right_at(t) ? log_rectified(*row.speedup, o.p) : std::log(o.b);
}
double log_es(const ScoreRow& row, int t, const ScoreOptions& o) {
  if (t < kFrozen) return log_s(row, t, o);
  const Status status = class_at(row, kFrozen);
  if (status == Status::correct) return log_rectified(*row.speedup, o.p);
  return t >= tolerated_from(o.interpretation, status) ? 0 : std::log(o.b);
}

std::optional<double> aggregated(const Score& score) {
  if (step_of(score.last_t) + 1 != std::size(kWeights)) return std::nullopt;
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < std::size(kWeights); ++i) {
    sum += kWeights[i] * std::log10(score.es[i]);
    weights += kWeights[i];
  }
  return std::pow(10, sum / weights);
}

}  // namespace

RightAt right_from(int tightest_t) {
  RightAt out;
  for (int t = std::max(tightest_t, kTightest); t <= kLoosest; ++t) out.set(step_of(t));
  return out;
}

Status score_class(Status status) {
  switch (status) {
    case Status::accuracy: return Status::correct;
    case Status::timeout:
    case Status::crash:
    case Status::integrity:
    case Status::unstable: return Status::runtime_fail;
    default: return status;
  }
}

ScoreRow score_row(const Record& record) {
  ScoreRow row;
  row.status = score_class(record.status);
  if (row.status != Status::correct) return row;
  if (record.timed && std::isfinite(record.speedup.value) && record.speedup.value > 0)
    row.speedup = record.speedup.value;
  row.right = right_from(record_tightest_t(record));
  return row;
}

std::optional<Interpretation> interpretation_from_name(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kInterpretations); ++i)
    if (kInterpretations[i].name == name) return static_cast<Interpretation>(i);
  return std::nullopt;
}

int tolerated_from(Interpretation interpretation, Status error) {
  const InterpretationRow& row = row_of(interpretation);
  switch (error) {
    case Status::correct: return kTightest;
    case Status::accuracy: return row.accuracy;
    case Status::shape_mismatch:
    case Status::type_mismatch: return row.mismatch;
    case Status::compile_fail: return row.compile;
    case Status::eager_fail: return kNever;
    default: return row.runtime;
  }
}

Score score(std::span<const ScoreRow> graphs, const ScoreOptions& options) {
  Score out;
  out.last_t = row_of(options.interpretation).last_t;
  const auto n = static_cast<double>(graphs.size());
  for (int t = kTightest; t <= out.last_t; ++t) {
    double s = 0, es = 0;
    for (const ScoreRow& row : graphs) {
      s += log_s(row, t, options);
      es += log_es(row, t, options);
    }
    out.s[step_of(t)] = std::exp(s / n);
    out.es[step_of(t)] = std::exp(es / n);
  }
  out.as = aggregated(out);
  return out;
}

Score score_tasks(std::span<const Score> tasks) {
  Score out = tasks.front();
  if (tasks.size() == 1) return out;
  const auto n = static_cast<double>(tasks.size());
  for (std::size_t i = 0; i <= step_of(out.last_t); ++i) {
    double s = 0, es = 0;
    for (const Score& task : tasks) {
      s += std::log(task.s[i]);
      es += std::log(task.es[i]);
    }
    out.s[i] = std::exp(s / n);
    out.es[i] = std::exp(es / n);
  }
  out.as = aggregated(out);  // equal to the geometric mean of the tasks' AS, since log AS is linear in log ES
  return out;
}

std::array<double, kSteps> es_closed_form(std::span<const ScoreRow> graphs, const ScoreOptions& options) {
  std::array<double, kSteps> out = {};
  const auto n = static_cast<double>(graphs.size());
  for (int t = kTightest; t <= row_of(options.interpretation).last_t; ++t) {
    const int frozen = std::min(t, kFrozen);
    double right = 0, slow = 0, log_alpha = 0, log_beta = 0;  // sums first, means below
    std::map<Status, double> errors;
    for (const ScoreRow& row : graphs) {
      const Status status = class_at(row, frozen);
      if (status != Status::correct) {
        ++errors[status];
        continue;
      }
      ++right;
      log_alpha += std::log(*row.speedup);
      if (*row.speedup >= 1) continue;
      ++slow;
      log_beta += std::log(*row.speedup);
    }
    const double lambda = right / n, eta = right > 0 ? slow / right : 0;
    const double alpha = right > 0 ? std::exp(log_alpha / right) : 1, beta = slow > 0 ? std::exp(log_beta / slow) : 1;
    double penalised = 0;  // share of the errors that are not forgiven at t
    for (const auto& [status, count] : errors)
      if (t < kFrozen || t < tolerated_from(options.interpretation, status)) penalised += count / (n - right);
    const double gamma = std::pow(options.b, penalised);
    out[step_of(t)] = std::pow(alpha, lambda) * std::pow(beta, lambda * eta * options.p) * std::pow(gamma, 1 - lambda);
  }
  return out;
}

double fast_share(std::span<const ScoreRow> graphs, double than) {
  if (graphs.empty()) return 0;
  std::size_t fast = 0;
  for (const ScoreRow& row : graphs) fast += row.right_at(kUsual) && *row.speedup > than ? 1 : 0;
  return static_cast<double>(fast) / static_cast<double>(graphs.size());
}

ScoreCard score_card(std::span<const ScoreTask> tasks, const ScoreOptions& options) {
  ScoreCard out;
  std::vector<Score> scores;
  std::vector<ScoreRow> all;
  for (const ScoreTask& task : tasks) {
    scores.push_back(score(task.graphs, options));
    if (scores.back().as) out.task_as.push_back(*scores.back().as);
    all.insert(all.end(), task.graphs.begin(), task.graphs.end());
  }
  out.graphs = all.size();
  out.score = score_tasks(scores);
  for (std::size_t i = 0; i < kFastThan.size(); ++i) out.fast[i] = fast_share(all, kFastThan[i]);
  for (const ScoreRow& row : all) {
    out.right += row.right_at(kUsual) ? 1 : 0;
    out.slower += row.right_at(kUsual) && *row.speedup < 1 ? 1 : 0;
  }
  out.right /= static_cast<double>(all.size());
  out.slower /= static_cast<double>(all.size());
  return out;
}

}  // namespace passnet

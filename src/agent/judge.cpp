#include "agent/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "base/parallel.h"

namespace passnet::agent {

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

Record timed_out(const Job& job, double seconds) {
  Record r;
  r.task = job.task;
  r.graph = job.graph;
  r.candidate = job.candidate.name;
  r.status = Status::timeout;
  r.errors.push_back({Code::limit, {}, fmt::format("the evaluation took longer than {} s in all", seconds), {}});
  return r;
}

// Out of all caches, each thread its own half.
double measure_copy(int threads) {
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  const auto count = static_cast<std::size_t>(std::max(1, threads));
  const auto from = std::make_unique<char[]>(kBytes * count), to = std::make_unique<char[]>(kBytes * count);
  std::memset(from.get(), 1, kBytes * count);
  double best = 1e9;
  for (int round = 0; round < 4; ++round) {
    const auto begin = Clock::now();
    parallel_run(static_cast<int>(count), count,
                 [&](std::size_t i) { std::memcpy(to.get() + i * kBytes, from.get() + i * kBytes, kBytes); });
    best = std::min(best, since(begin));
  }
  return 2.0 * static_cast<double>(kBytes * count) / best;
}

}  // namespace

bool Verdict::matched() const {
  return std::any_of(records.begin(), records.end(), [](const Record& r) { return r.matches > 0; });
}
bool Verdict::correct() const {
  return std::all_of(records.begin(), records.end(), [](const Record& r) { return r.status == Status::correct; });
}

Judge::Judge(guard::Template& workers, BenchOptions options, Conditions conditions)
    : workers_(workers), options_(std::move(options)), conditions_(std::move(conditions)), turn_(options_.jobs) {}

double Judge::copy_rate() {
  std::call_once(measured_, [&] {
    const TimeTurn hold(turn_);
    copy_rate_ = measure_copy(options_.threads);
  });
  return copy_rate_;
}

std::optional<Verdict> Judge::judge(const Task& task, const std::string& passes, bool verify_only, double seconds,
                                    const Cancelled& cancelled) {
  const auto begin = Clock::now();
  BenchOptions options = options_;
  Candidate& candidate = options.candidates.emplace_back(candidate_of_passes(passes).take());
  candidate.name = "agent";
  Verdict out;
  std::vector<Job> jobs = bench_jobs({task}, options, conditions_);
  for (Job& job : jobs) {
    job.alone = options.jobs == 1;
    const auto late = [&] { return since(begin) > seconds; };
    std::optional<Record> record;
    if (!late())
      record = evaluate_job(
          job, workers_, turn_, [&] { return cancelled() || late(); }, verify_only);
    if (!record && !late()) return std::nullopt;
    out.records.push_back(record ? std::move(*record) : timed_out(job, seconds));
  }
  if (cancelled()) return std::nullopt;
  const bool failed = std::none_of(out.records.begin(), out.records.end(), [](const Record& r) {
    return r.status == Status::correct || r.status == Status::accuracy;
  });
  if (!verify_only || failed) {  // what fails has its score without being timed
    std::vector<ScoreRow> rows;
    for (const Record& r : out.records) rows.push_back(score_row(r));
    out.score = score(rows).as;
  }
  out.seconds = since(begin);
  return out;
}

}  // namespace passnet::agent

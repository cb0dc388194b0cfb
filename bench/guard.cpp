// What the guard costs: the same evaluations in a sealed worker and in this process, in turn. Prints for each graph the
// medians of eager and candidate times on both sides, their ratios (the claim: within 1 %), and what an evaluation
// costs beyond warm-ups and trials (the claim: under 100 ms with the guard).
//   guard ROUNDS GRAPH PASSES [GRAPH PASSES ...]
#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "bench/job.h"

using namespace passnet;
using Clock = std::chrono::steady_clock;

namespace {

double median(const std::vector<double>& values) { return summarise(values).median; }

struct Side {
  std::vector<double> eager, compiled, overhead;  // milliseconds
};

void guarded_round(const Job& job, guard::Template& workers, Side& side) {
  JobRun run(job, workers);
  const auto never = [] { return false; };
  run.verify(never);
  if (run.worth_timing()) run.time(never);
  const Record& r = run.record();
  if (!r.timed) fail({Code::run, {job.graph, 0, 0, {}}, "could not be timed in a worker", {}});
  side.eager.push_back(r.eager.e2e.median);
  side.compiled.push_back(r.compiled.e2e.median);
  side.overhead.push_back(r.overhead_seconds * 1e3);
}

// Milliseconds: eager, candidate, overhead.
std::array<double, 3> evaluate_here(const Job& job) {
  const auto begin = Clock::now();
  Engine& engine = *engine_load().take();
  engine.set_threads(1);
  Evaluator evaluator(job.graph, job.candidate, job.candidate.path, engine, job.options);
  evaluator.verify();
  engine.set_threads(job.threads);
  if (!evaluator.worth_timing()) fail({Code::run, {job.graph, 0, 0, {}}, "could not be timed in this process", {}});
  const Timing& t = evaluator.time().timing;
  return {t.eager.e2e.median, t.compiled.e2e.median,
          (std::chrono::duration<double>(Clock::now() - begin).count() - t.trial_seconds) * 1e3};
}

void plain_round(const Job& job, Side& side) {
  int ends[2];
  if (::pipe(ends) != 0) fail(Code::io, "no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const std::array<double, 3> ms = evaluate_here(job);
      ::_exit(::write(ends[1], ms.data(), sizeof ms) == sizeof ms ? 0 : 1);
    } catch (const Failure& failure) {
      fmt::print(stderr, "{}\n", error_line(failure.error));
      ::_exit(1);
    }
  }
  ::close(ends[1]);
  std::array<double, 3> ms{};
  const ssize_t got = ::read(ends[0], ms.data(), sizeof ms);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  if (got != sizeof ms) fail({Code::run, {job.graph, 0, 0, {}}, "no answer from the plain process", {}});
  side.eager.push_back(ms[0]);
  side.compiled.push_back(ms[1]);
  side.overhead.push_back(ms[2]);
}

int run(int argc, char** argv) {
  const int rounds = std::atoi(argv[1]);
  const auto workers = guard::template_start(job_load, job_serve).take();
  job_load();  // nothing runs in parallel here, so that plain processes can be forked
  fmt::print("{:<36} {:>20} {:>20} {:>16} {:>9}\n", "ms: in a worker, plain", "eager", "candidate", "overhead",
             "ratios");
  double logs = 0;
  int counted = 0;
  for (int i = 2; i + 1 < argc; i += 2) {
    Job job;
    job.graph = argv[i];
    job.candidate = candidate_of_passes(argv[i + 1]).take();
    job.threads = 2;
    job.options.timing.noise_limit = 1000;
    job.options.timing.repeats = 0;
    Side guarded_side, plain;
    for (int r = 0; r <= rounds; ++r) {
      Side warm_up;  // kernels are compiled in the first round
      guarded_round(job, *workers, r == 0 ? warm_up : guarded_side);
      plain_round(job, r == 0 ? warm_up : plain);
    }
    const double ge = median(guarded_side.eager), pe = median(plain.eager), gc = median(guarded_side.compiled),
                 pc = median(plain.compiled);
    fmt::print("{:<36} {:>9.4f} {:>10.4f} {:>9.4f} {:>10.4f} {:>7.1f} {:>8.1f} {:.3f} {:.3f}\n",
               job.graph.substr(job.graph.size() > 36 ? job.graph.size() - 36 : 0), ge, pe, gc, pc,
               median(guarded_side.overhead), median(plain.overhead), ge / pe, gc / pc);
    logs += std::log(ge / pe) + std::log(gc / pc);
    counted += 2;
  }
  fmt::print("geometric mean of the ratios {:.4f}\n", std::exp(logs / std::max(1, counted)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return fmt::print(stderr, "usage: guard ROUNDS GRAPH PASSES [GRAPH PASSES ...]\n"), 2;
  try {
    return run(argc, argv);
  } catch (const Failure& failure) {
    fmt::print(stderr, "{}\n", error_line(failure.error));
    return 1;
  }
}

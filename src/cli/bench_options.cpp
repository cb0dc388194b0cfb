#include "cli/bench_options.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <csignal>

#include "base/process.h"
#include "base/text.h"
#include "bench/peer.h"
#include "cli/load_options.h"
#include "cli/validators.h"
#include "exec/engine.h"

namespace passnet::cli {

namespace {

// "0-3,6"
std::vector<int> read_cores(const std::string& text) {
  const std::vector<int> allowed = allowed_cores();
  std::vector<int> out;
  for (const std::string_view part : text_split(text, ',')) {
    int first = 0, last = 0, used = 0;
    const std::string item(part);
    if (std::sscanf(item.c_str(), "%d-%d%n", &first, &last, &used) != 2 || used != static_cast<int>(item.size())) {
      if (std::sscanf(item.c_str(), "%d%n", &first, &used) != 1 || used != static_cast<int>(item.size()))
        fail({Code::usage, {}, fmt::format("--cores '{}' is no list of cores", text), {"for example: --cores 0-3,6"}});
      last = first;
    }
    if (first < 0 || last < first || last >= CPU_SETSIZE)
      fail({Code::usage, {}, fmt::format("--cores '{}': no such core", text), {}});
    for (int core = first; core <= last; ++core) {
      if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), core) == allowed.end())
        fail({Code::usage,
              {},
              fmt::format("--cores '{}': there is no core {} for this process", text, core),
              {fmt::format("there are: {}", fmt::join(allowed, ", "))}});
      if (std::find(out.begin(), out.end(), core) == out.end()) out.push_back(core);
    }
  }
  return out;
}

std::atomic<bool> stop_asked = false;
void on_signal(int signal) {
  stop_asked = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Conditions conditions_now(const BenchOptions& options, guard::Template& workers) {
  Conditions out = conditions_here(options, workers);
  out.version = PASSNET_VERSION;
  if (!out.guard.empty()) fmt::print(stderr, "the sandbox lacks here: {}\n", out.guard);
  return out;
}

std::atomic<bool>& interrupted() { return stop_asked; }
void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

void say_waiting() { fmt::print(stderr, "another bench on this machine is timing; waiting for it\n"); }

void require_same(const Conditions& run, const Conditions& now) {
  const auto differs = [&](std::string_view what, const auto& a, const auto& b) {
    if (a == b) return;
    fail({Code::usage,
          {},
          fmt::format("this run was made with {} {}, now it is {}", what, a, b),
          {"use the same options, or another --out folder"}});
  };
  differs("device", run.device, now.device);
  differs("hardware", run.hardware, now.hardware);
  differs("threads", run.threads, now.threads);
  differs("warmup", run.warmup, now.warmup);
  differs("trials", run.trials, now.trials);
  differs("budget", run.budget_s, now.budget_s);
  const auto before = text_split(run.options, ' '), options = text_split(now.options, ' ');
  for (std::size_t i = 0; i < before.size() && !run.options.empty(); ++i)
    differs("the option", before[i], i < options.size() ? options[i] : "");
}

void require_python(const BenchOptions& options) {
  const auto in_python = [](const Candidate& candidate) { return candidate.in_python(); };
  if (options.evaluate.baseline == "eager-python" ||
      std::any_of(options.candidates.begin(), options.candidates.end(), in_python))
    peer_ready().take();
}

void EvaluationFlags::add_options(CLI::App& command) {
  EvaluateOptions& e = bench.evaluate;
  command.add_option("--device", device, "cpu or cuda")->capture_default_str();
  command.add_option("--cuda-graphs", cuda_graphs, "Who is timed as CUDA graphs, where they can be recorded")
      ->check(CLI::IsMember({"author", "all", "none"}))
      ->capture_default_str();
  add_threads(command, bench.threads, "Threads of torch and of kernels while timing; 0: all cores");
  command.add_option("--cores", cores,
                     "Cores to which timing is pinned, as 0-3,6; default: the last ones, one for each thread");
  add_jobs(command, bench.jobs, "Verifications");
  command.add_option("--warmup", e.timing.warmup, "Warm-up calls")->check(CLI::Range(1, 100000))->capture_default_str();
  command.add_option("--trials", e.timing.trials, "Timed calls")->check(CLI::Range(2, 100000))->capture_default_str();
  command
      .add_option("--budget", e.timing.budget_s,
                  "Seconds for one side's warm-up, and for its trials; slower graphs get fewer")
      ->check(kPositive)
      ->capture_default_str();
  command.add_option("--noise-limit", e.timing.noise_limit, "IQR / median above which a measurement is repeated")
      ->check(kPositive)
      ->capture_default_str();
  command.add_option("--repeats", e.timing.repeats, "Repeated measurements before a graph is called unstable")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command.add_option("--timeout", bench.timeout_s, "Seconds for verifying, and for timing, one graph")
      ->check(kPositive)
      ->capture_default_str();
  command.add_option("--python-timeout", bench.python_timeout_s, "The same for candidates in Python")
      ->check(kPositive)
      ->capture_default_str();
  command.add_option("--baseline", e.baseline, "What speedups are against: eager (ours) or eager-python")
      ->check(CLI::IsMember({"eager", "eager-python"}))
      ->capture_default_str();
  add_match_mode(command, e.match);
  command.add_option("--seed", e.seed, "Seed of the inputs")->check(kNatural)->capture_default_str();
  command.add_option("--draws", e.draws, "Checks on further inputs of other seeds and spreads")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command.add_option("--at", e.at, "The tolerance t at which an answer counts as correct, -10..5")
      ->check(CLI::Range(kTightest, kLoosest))
      ->capture_default_str();
  command.add_flag("--checked,!--no-checked", e.checked, "Run the checked build first (default)");
  add_load_options(command, e.load);
}

BenchOptions EvaluationFlags::resolve() const {
  BenchOptions out = bench;
  EvaluateOptions& e = out.evaluate;
  e.device = device_from_name(device).take();
  path_check(e.load.input_folder).take();
  if (cuda_graphs != "author") out.cuda_graphs = cuda_graphs == "all";
  if (!cores.empty()) out.cores = read_cores(cores);
  const int available = out.cores.empty() ? core_count() : static_cast<int>(out.cores.size());
  if (out.threads <= 0) out.threads = available;
  if (out.threads > available)
    fmt::print(stderr, "{} threads on {} core{}: they wait for each other, and times say little\n", out.threads,
               available, available == 1 ? "" : "s");
  if (out.jobs <= 0) out.jobs = core_count();
  return out;
}

}  // namespace passnet::cli

#include "bench/bench.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/parallel.h"
#include "base/text.h"
#include "bench/contents.h"
#include "bench/device.h"
#include "bench/draws.h"
#include "tile_cpu/compile.h"

namespace passnet {

namespace {

// Whoever kills workers at random does not decide about candidates.
constexpr int kAttemptsAgain = 10;

class Runner {
 public:
  Runner(const std::vector<Job>& jobs, guard::Template& workers, const std::atomic<bool>& stop,
         const std::function<void(const Job&, const Record&)>& done, const std::function<void()>& waiting)
      : jobs_(jobs),
        workers_(workers),
        stop_(stop),
        done_(done),
        turn_(std::numeric_limits<int>::max(), {[this] { return cancelled(); }, waiting}) {}

  bool run(int at_once) {
    alone_ = at_once == 1 || jobs_.size() == 1;
    parallel_run(std::max(1, at_once), jobs_.size(), [this](std::size_t i) { work(jobs_[i]); });
    return !stop_;
  }

 private:
  bool cancelled() const { return stop_ || broken_; }

  void work(const Job& job) {
    if (cancelled()) return;
    try {
      one(job);
    } catch (...) {
      broken_ = true;  // those beside it give up
      throw;
    }
  }

  void one(const Job& job) {
    Job mine = job;
    mine.alone = alone_;
    const auto stopped = [this] { return cancelled(); };
    auto record = evaluate_job(mine, workers_, turn_, stopped);
    if (record && doubtfully_slower(*record))
      if (const auto again = evaluate_job(mine, workers_, turn_, stopped)) widen_interval(*record, *again);
    if (!record) return;
    const std::lock_guard hold(mutex_);
    done_(job, *record);
  }

  bool alone_ = false;
  const std::vector<Job>& jobs_;
  guard::Template& workers_;
  const std::atomic<bool>& stop_;
  const std::function<void(const Job&, const Record&)>& done_;
  std::atomic<bool> broken_ = false;
  std::mutex mutex_;
  Turn turn_;
};

// What NVML says of the GPU around a timing.
class GpuWatch {
 public:
  // `worker` computes there and waits for its turn.
  explicit GpuWatch(pid_t worker) : worker_(worker) {
    if (const auto state = cuda::gpu_state()) out_ = GpuRecord{*state, {}, others()};
  }
  std::optional<GpuRecord> end() {
    if (!out_) return std::nullopt;
    out_->after = cuda::gpu_state().value_or(cuda::GpuState{});
    if (const auto now = others()) out_->foreign_processes = std::max(*now, out_->foreign_processes.value_or(0));
    return out_;
  }

 private:
  std::optional<int> others() const {
    const auto all = cuda::gpu_processes();
    return all ? cuda::foreign_processes(*all, worker_, ::getpid()) : std::nullopt;
  }
  pid_t worker_;
  std::optional<GpuRecord> out_;
};

// All that decides about an answer, or about whether a measurement is good enough.
std::string options_text(const EvaluateOptions& e) {
  return fmt::format(
      "seed={} draws={} at={} match={} policy={} checked={} baseline={} noise-limit={} repeats={} patterns={} "
      "replacement-funcs={} input-passes={}",
      e.seed, e.draws, e.at, e.match == MatchMode::strict ? "strict" : "normal", e.load.open_policy ? "open" : "closed",
      e.checked, e.baseline, e.timing.noise_limit, e.timing.repeats, e.load.pattern_limit,
      e.load.replacement_func_limit, e.load.input_folder.empty() ? "none" : e.load.input_folder);
}

// What ends thus on a GPU may have left it broken.
bool may_have_harmed(const Record& r) {
  return r.status == Status::crash || r.status == Status::timeout || r.status == Status::runtime_fail;
}

// What ends thus may be no word on the candidate: a full disk, a compiler that is gone.
bool may_lack_a_compiler(const Record& r) {
  const auto is_ours = [](const Error& e) {
    return e.code == Code::io || e.code == Code::environment || e.code == Code::internal;
  };
  return (r.status == Status::compile_fail || r.status == Status::runtime_fail) &&
         std::any_of(r.errors.begin(), r.errors.end(), is_ours);
}

}  // namespace

std::optional<Record> evaluate_job(const Job& job, guard::Template& workers, Turn& turn,
                                   const JobRun::Cancelled& cancelled, bool verify_only) {
  std::unique_ptr<JobRun> run;
  std::optional<GpuRecord> gpu;
  const auto worthless = [&] { return run == nullptr || run->killed_by_others() || run->device_refused(); };
  for (int again = 0; again <= kAttemptsAgain && worthless(); ++again) {
    if (run != nullptr && run->device_refused())  // others may have its memory for now
      std::this_thread::sleep_for(std::chrono::seconds(1));
    {
      const VerifyTurn hold(turn);
      if (cancelled()) return std::nullopt;
      run = std::make_unique<JobRun>(job, workers);
      run->verify(cancelled);
    }
    if (run->worth_timing() && !verify_only && !cancelled()) {
      const TimeTurn hold(turn);
      if (cancelled()) return std::nullopt;
      std::optional<GpuWatch> watch;
      if (job.options.device == DeviceType::cuda) watch.emplace(run->pid());
      run->time(cancelled);
      if (watch) gpu = watch->end();
    }
  }
  if (run->cancelled() || cancelled()) return std::nullopt;
  Record record = run->record();
  if (job.options.device == DeviceType::cuda && may_have_harmed(record)) {
    run.reset();
    probe_device(job.options.device, workers);  // throws where nobody's evaluation would mean anything
  }
  if (job.options.device == DeviceType::cpu && may_lack_a_compiler(record)) tile_cpu::compiler_probe().take();
  record.gpu = gpu;
  if (gpu && gpu->foreign_processes.value_or(0) > 0)
    record.notes.push_back(fmt::format("{} other processes were on the GPU", *gpu->foreign_processes));
  record.task = job.task;
  record.graph = job.graph;
  record.candidate = job.candidate.name;
  record.attempt = job.attempt;
  record.contents = job.contents;
  record.baseline = job.options.baseline;
  const std::string torch_version = record.conditions.torch_version;  // the worker's to know
  record.conditions = job.conditions;
  record.conditions.torch_version = torch_version;
  record.finished =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  return record;
}

std::vector<Job> bench_jobs(const std::vector<Task>& tasks, const BenchOptions& options, const Conditions& conditions) {
  std::vector<Job> out;
  Contents contents;
  const std::uint64_t secret = draw_secret();
  for (const Task& task : tasks)
    for (const std::string& graph : task.graphs)
      for (const Candidate& candidate : options.candidates) {
        Job job;
        job.task = task.name;
        job.sample = task.sample;
        job.graph = graph;
        job.candidate = candidate;
        std::string passes;
        if (candidate.kind == Candidate::Kind::passes)
          if (auto folder = candidate.folder_for(task.name, task.sample)) passes = std::move(*folder);
        job.contents = contents.of(graph, passes, options.evaluate.load.input_folder);
        job.options = options.evaluate;
        job.options.secret = secret;
        job.options.cuda_graphs = options.evaluate.device == DeviceType::cuda && options.cuda_graphs.value_or(false);
        job.threads = options.threads;
        job.cores = options.cores;
        job.timeout_s = candidate.in_python() ? options.python_timeout_s : options.timeout_s;
        job.conditions = conditions;
        job.conditions.cuda_graphs = job.options.cuda_graphs;
        out.push_back(std::move(job));
      }
  return out;
}

bool bench_run(const std::vector<Job>& jobs, guard::Template& workers, int at_once, const std::atomic<bool>& stop,
               const std::function<void(const Job&, const Record&)>& done, const std::function<void()>& waiting) {
  return Runner(jobs, workers, stop, done, waiting).run(at_once);
}

Conditions conditions_here(const BenchOptions& options, guard::Template& workers) {
  Conditions c;
  c.device = device_text(options.evaluate.device);
  c.hardware = probe_device(options.evaluate.device, workers);
  c.guard = text_join(guard::missing_features(), ", ");
  c.threads = options.threads;
  c.warmup = options.evaluate.timing.warmup;
  c.trials = options.evaluate.timing.trials;
  c.budget_s = options.evaluate.timing.budget_s;
  c.options = options_text(options.evaluate);
  return c;
}

}  // namespace passnet

#include "bench/bench.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/text.h"

namespace passnet {

namespace {

// Whoever kills workers at random does not decide about candidates.
constexpr int kAttemptsAgain = 10;

class Runner {
 public:
  Runner(const std::vector<Job>& jobs, guard::Template& workers, const std::atomic<bool>& stop,
         const std::function<void(const Job&, const Record&)>& done)
      : jobs_(jobs), workers_(workers), stop_(stop), done_(done) {}

  bool run(int at_once) {
    std::vector<std::thread> threads;
    for (int i = 0; i < at_once; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& t : threads) t.join();
    if (error_) std::rethrow_exception(error_);
    return !stop_;
  }

 private:
  bool cancelled() const { return stop_ || broken_; }

  void work() {
    try {
      while (!cancelled()) {
        const std::size_t i = next_++;
        if (i >= jobs_.size()) return;
        one(jobs_[i]);
      }
    } catch (...) {
      const std::lock_guard hold(mutex_);
      if (!error_) error_ = std::current_exception();
      broken_ = true;
    }
  }

  void one(const Job& job) {
    const auto record = evaluate_job(job, workers_, turn_, [this] { return cancelled(); });
    if (!record) return;
    const std::lock_guard hold(mutex_);
    done_(job, *record);
  }

  const std::vector<Job>& jobs_;
  guard::Template& workers_;
  const std::atomic<bool>& stop_;
  const std::function<void(const Job&, const Record&)>& done_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> broken_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
  Turn turn_;
};

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") || line.starts_with("CPU part"))
      return std::string(text_trim(std::string_view(line).substr(std::min(line.size(), line.find(':') + 1))));
  return "unknown";
}

}  // namespace

std::optional<Record> evaluate_job(const Job& job, guard::Template& workers, Turn& turn,
                                   const JobRun::Cancelled& cancelled, bool verify_only) {
  std::unique_ptr<JobRun> run;
  for (int again = 0; again <= kAttemptsAgain && (run == nullptr || run->killed_by_others()); ++again) {
    {
      const VerifyTurn hold(turn);
      if (cancelled()) return std::nullopt;
      run = std::make_unique<JobRun>(job, workers);
      run->verify(cancelled);
    }
    if (run->worth_timing() && !verify_only && !cancelled()) {
      const TimeTurn hold(turn);
      run->time(cancelled);
    }
  }
  if (run->cancelled() || cancelled()) return std::nullopt;
  Record record = run->record();
  record.task = job.task;
  record.graph = job.graph;
  record.candidate = candidate_from_text(job.candidate).take().name;
  record.attempt = job.attempt;
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
  for (const Task& task : tasks)
    for (const std::string& graph : task.graphs)
      for (const std::string& candidate : options.candidates) {
        Job job;
        job.task = task.name;
        job.sample = task.sample;
        job.graph = graph;
        job.candidate = candidate;
        job.options = options.evaluate;
        job.threads = options.threads;
        job.cores = options.cores;
        job.timeout_s =
            candidate_from_text(candidate).take().in_python() ? options.python_timeout_s : options.timeout_s;
        job.conditions = conditions;
        out.push_back(std::move(job));
      }
  return out;
}

bool bench_run(const std::vector<Job>& jobs, guard::Template& workers, int at_once, const std::atomic<bool>& stop,
               const std::function<void(const Job&, const Record&)>& done) {
  return Runner(jobs, workers, stop, done).run(at_once);
}

Conditions conditions_here(const BenchOptions& options) {
  Conditions c;
  c.device = options.evaluate.device == DeviceType::cuda ? "cuda" : "cpu";
  c.hardware = cpu_name();
  c.guard = text_join(guard::missing_features(), ", ");
  c.threads = options.threads;
  c.warmup = options.evaluate.timing.warmup;
  c.trials = options.evaluate.timing.trials;
  c.budget_s = options.evaluate.timing.budget_s;
  return c;
}

}  // namespace passnet

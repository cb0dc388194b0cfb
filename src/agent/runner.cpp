#include "agent/runner.h"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <mutex>

#include "base/file.h"
#include "base/parallel.h"

namespace passnet::agent {

namespace {

namespace fs = std::filesystem;
constexpr double kFailure = 0.1;  // what a failure counts in every score

// The unbiased estimate of the chance that one of k attempts succeeds, from n of which c did.
double pass_at_k(int n, int c, int k) {
  if (n - c < k) return 1;
  double miss = 1;
  for (int i = n - c + 1; i <= n; ++i) miss *= 1.0 - static_cast<double>(k) / i;
  return 1 - miss;
}

}  // namespace

bool run_attempts(const std::vector<Task>& tasks, Judge& judge, const LoopSetup& setup, const Attempts& before,
                  const RunOptions& options, const std::function<void(const Attempt&)>& tell) {
  std::vector<std::pair<const Task*, Attempt>> todo;
  for (int a = 0; a < options.attempts; ++a)
    for (const Task& task : tasks) {
      Attempt attempt{task.name, a, {}};
      for (const Attempt& known : before.attempts)
        if (known.task == task.name && known.attempt == a) attempt = known;
      if (attempt.ended() && options.retry_errors && attempt.end().value("reason", "") == kModelError)
        attempt.events.clear();
      if (!attempt.ended()) todo.emplace_back(&task, std::move(attempt));
    }
  std::atomic<bool> broken = false;
  std::mutex mutex;
  LoopSetup own = setup;
  own.stopped = [&] { return broken || setup.stopped(); };
  parallel_run(options.at_once, todo.size(), [&](std::size_t i) {
    if (own.stopped()) return;
    try {
      const auto& [task, attempt] = todo[i];
      const std::string folder = fmt::format("{}/work/{}/{}", options.folder, task->name, attempt.attempt);
      Session session(*task, Workspace::make(folder, *task).take(), judge, options.session);
      if (!run_attempt(session, own, attempt)) return;
      const std::lock_guard hold(mutex);
      tell(attempt);
    } catch (...) {
      broken = true;  // those that run end too
      throw;
    }
  });
  return !setup.stopped();
}

double attempt_score(const Attempt& attempt) {
  const Json& end = attempt.end();
  return attempt.ended() && end.contains("score") && end["score"].is_number() ? end["score"].get<double>() : 0;
}

bool attempt_success(const Attempt& attempt, double over) {
  return attempt_score(attempt) > over && attempt.end().contains("correct") && attempt.end()["correct"] == true;
}

Summary summarise_attempts(const std::vector<Attempt>& attempts, double success) {
  Summary out;
  int most = 0;
  for (const Attempt& a : attempts) {
    if (!a.ended()) continue;
    auto at = std::find_if(out.tasks.begin(), out.tasks.end(), [&](const TaskSummary& t) { return t.task == a.task; });
    if (at == out.tasks.end()) at = out.tasks.insert(out.tasks.end(), {a.task, 0, 0, 0, -1});
    ++at->attempts;
    at->successes += attempt_success(a, success) ? 1 : 0;
    if (const double score = attempt_score(a); score > at->best) {
      at->best = score;
      at->best_attempt = a.attempt;
    }
  }
  double logs = 0;
  for (const TaskSummary& t : out.tasks) {
    most = most == 0 ? t.attempts : std::min(most, t.attempts);
    logs += std::log(t.best > 0 ? t.best : kFailure);
  }
  if (out.tasks.empty()) return out;
  const auto count = static_cast<double>(out.tasks.size());
  out.best_of = std::exp(logs / count);
  for (int k = 1; k <= most; ++k) {
    double sum = 0;
    for (const TaskSummary& t : out.tasks) sum += pass_at_k(t.attempts, t.successes, k);
    out.pass_at.push_back(sum / count);
  }
  return out;
}

void write_best(const std::vector<Attempt>& attempts, const Summary& summary, const std::string& folder) {
  for (const TaskSummary& t : summary.tasks)
    for (const Attempt& a : attempts) {
      if (a.task != t.task || a.attempt != t.best_attempt) continue;
      const fs::path target = fs::path(folder) / "best" / t.task;
      fs::remove_all(target);
      for (const auto& [path, text] : files_from(a.end()["files"])) {
        const fs::path file = target / fs::path(path).lexically_relative(kPassDir);
        fs::create_directories(file.parent_path());
        file_write(file.string(), text).take();
      }
    }
}

}  // namespace passnet::agent

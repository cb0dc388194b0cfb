#include "serve/pool.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "agent/tools.h"
#include "base/text.h"

namespace passnet::serve {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Counts who uses a session while it is used.
struct Use {
  std::atomic<int>& users;
  std::atomic<double>& used;
  Use(std::atomic<int>& u, std::atomic<double>& at) : users(u), used(at) { ++users; }
  ~Use() {
    used = now();
    --users;
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
};

}  // namespace

agent::LoopLimits PoolOptions::limits() const {
  agent::LoopLimits out;
  out.steps = steps;
  return out;
}

std::string random_handle() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes) fail(Code::environment, "no random numbers");
  std::string out;
  for (const unsigned char b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

Work::Work(std::string handle, int attempt, std::unique_ptr<agent::Session> session, agent::EventLog& log)
    : handle_(std::move(handle)),
      attempt_(attempt),
      session_(std::move(session)),
      log_(log),
      used_(now()),
      begun_(now()) {}

double Work::idle() const { return users_ > 0 ? 0 : now() - used_; }

std::optional<double> Work::best() const {
  const double score = best_;
  return score < 0 ? std::nullopt : std::optional(score);
}
void Work::note_best() {
  if (session_->best()) best_ = session_->best()->score;
}

std::optional<Json> Work::remembered(const std::string& request_id) const {
  const std::lock_guard hold(answer_mutex_);
  return request_id.empty() || request_id != request_id_ ? std::nullopt : std::optional(answer_);
}
void Work::remember(const std::string& request_id, const Json& answer) {
  const std::lock_guard hold(answer_mutex_);
  request_id_ = request_id;
  answer_ = answer;
}

void Work::append(const char* event, Json more) {
  Json out = {{"event", event}, {"task", session_->task().name}, {"attempt", attempt_}};
  out.update(more);
  log_.append(std::move(out));
}

void Work::begin(const agent::Prompts& prompts, const PoolOptions& options) {
  const std::string steps = std::to_string(options.steps);
  const std::string system = prompts.text("system.md", {{"steps", steps}});
  const std::string task = prompts.text("task.md", {{"task", session_->task().name},
                                                    {"graphs", agent::problem_statement(session_->task())},
                                                    {"start", "pass_dir/ is empty."},
                                                    {"steps", steps}});
  prompt_ = system + "\n" + task;
  append("begin", {{"version", agent::kEventsVersion},
                   {"model", options.peer},
                   {"start", "empty"},
                   {"limits", agent::limits_json(options.limits(), options.session.evaluation_seconds)},
                   {"agent_args", Json::object()},
                   {"graphs", agent::graph_names(session_->task())},
                   {"tools", agent::tools_for_chat()},
                   {"messages", {{{"role", "system"}, {"content", system}}, {{"role", "user"}, {"content", task}}}},
                   {"files", Json::object()},
                   {"result", agent::result_json({})}});
}

agent::ToolResult Work::call(std::string_view tool, const Json& arguments, double seconds,
                             const std::function<bool()>& cancelled) {
  const Use use(users_, used_);
  const std::lock_guard hold(mutex_);
  if (ended_) return {"ERROR: this session has ended", true, {}, false, {}, false, false};
  const double begin = now();
  session_->cancelled = cancelled;
  session_->limit_evaluation(seconds);
  agent::ToolResult result = session_->call(tool, arguments);
  session_->cancelled = [] { return false; };
  note_best();
  if (cancelled()) return result;  // nobody is there to hear it
  const int step = ++steps_;
  const std::string id = fmt::format("call_{}", step);
  const Json message = {
      {"role", "assistant"},
      {"content", ""},
      {"tool_calls",
       {{{"id", id}, {"type", "function"}, {"function", {{"name", tool}, {"arguments", json_text(arguments)}}}}}}};
  append("reply", {{"step", step}, {"message", message}, {"finish", "tool_calls"}, {"tries", 1}, {"seconds", 0.0}});
  append("result", {{"step", step},
                    {"tool", tool},
                    {"message", {{"role", "tool"}, {"tool_call_id", id}, {"content", result.text}}},
                    {"result", agent::result_json(result)},
                    {"seconds", now() - begin}});
  return result;
}

void Work::end(const char* reason, bool evaluate, const std::function<bool()>& cancelled) {
  const Use use(users_, used_);
  const std::lock_guard hold(mutex_);
  if (ended_.exchange(true)) return;
  if (evaluate && session_->edited()) {
    const double begin = now();
    session_->cancelled = cancelled;
    const agent::ToolResult last = session_->call("pass_evaluator", Json::object());
    if (!cancelled())
      append("final", {{"step", steps_.load()},
                       {"content", last.text},
                       {"result", agent::result_json(last)},
                       {"seconds", now() - begin}});
  }
  note_best();
  session_->restore_best();
  Json out = {{"reason", reason},
              {"steps", steps_.load()},
              {"seconds", now() - begun_},
              {"files", agent::files_json(session_->workspace().passes())}};
  if (session_->best()) out["score"] = session_->best()->score;
  if (session_->best()) out["correct"] = session_->best()->correct;
  append("end", std::move(out));
}

Pool::Pool(std::vector<Task> tasks, agent::Judge& judge, const agent::Prompts& prompts, agent::EventLog& log,
           PoolOptions options, const agent::Attempts& before)
    : tasks_(std::move(tasks)), judge_(judge), prompts_(prompts), log_(log), options_(std::move(options)) {
  for (const agent::Attempt& a : before.attempts) attempts_[a.task] = std::max(attempts_[a.task], a.attempt + 1);
}

Pool::~Pool() {
  std::map<std::string, std::shared_ptr<Work>> all;
  {
    const std::lock_guard hold(mutex_);
    all.swap(open_);
  }
  for (const auto& [handle, work] : all) finish(work, "agent");
}

std::vector<std::string> Pool::task_names() const {
  std::vector<std::string> out;
  for (const Task& t : tasks_) out.push_back(t.name);
  return out;
}

Result<std::shared_ptr<Work>> Pool::open(const std::string& name, std::optional<std::uint64_t> number) {
  const Task* task = nullptr;
  int attempt = 0;
  {
    const std::lock_guard hold(mutex_);
    const auto working = static_cast<std::size_t>(
        std::count_if(open_.begin(), open_.end(), [](const auto& item) { return !item.second->ended(); }));
    if (working + opening_ >= options_.sessions)
      return Error{Code::limit, {}, fmt::format("all {} sessions are in use", options_.sessions), {}};
    if (name.empty()) task = &tasks_[(number ? *number : next_task_++) % tasks_.size()];
    for (const Task& t : tasks_)
      if (t.name == name) task = &t;
    if (task == nullptr)
      return Error{Code::usage,
                   {},
                   fmt::format("no task is called '{}'; there are {}", text_printable(name.substr(0, 200)),
                               text_join(task_names(), ", ")),
                   {}};
    attempt = attempts_[task->name]++;
    ++opening_;
  }
  auto work = guarded([&] {
    const std::string handle = random_handle();
    auto workspace = agent::Workspace::make(options_.folder + "/work/" + handle, *task).take();
    auto session = std::make_unique<agent::Session>(*task, std::move(workspace), judge_, options_.session);
    auto out = std::make_shared<Work>(handle, attempt, std::move(session), log_);
    out->begin(prompts_, options_);
    return out;
  });
  const std::lock_guard hold(mutex_);
  --opening_;
  if (work) open_[(*work)->handle()] = *work;
  return work;
}

std::shared_ptr<Work> Pool::find(const std::string& handle) {
  const std::lock_guard hold(mutex_);
  const auto at = open_.find(handle);
  return at == open_.end() ? nullptr : at->second;
}

std::shared_ptr<Work> Pool::only() {
  const std::lock_guard hold(mutex_);
  return open_.size() == 1 ? open_.begin()->second : nullptr;
}

std::size_t Pool::size() {
  const std::lock_guard hold(mutex_);
  return open_.size();
}

void Pool::finish(const std::shared_ptr<Work>& work, const char* reason) {
  work->end(reason, false, [] { return false; });
  if (options_.keep_folders) return;
  std::error_code ignored;
  std::filesystem::remove_all(work->session().workspace().root(), ignored);
}

void Pool::close(const std::string& handle, const char* reason) {
  std::shared_ptr<Work> work;
  {
    const std::lock_guard hold(mutex_);
    const auto at = open_.find(handle);
    if (at == open_.end()) return;
    work = std::move(at->second);
    open_.erase(at);
  }
  finish(work, reason);
}

std::size_t Pool::close_idle() {
  std::vector<std::string> idle;
  {
    const std::lock_guard hold(mutex_);
    for (const auto& [handle, work] : open_)
      if (work->idle() > options_.idle_seconds) idle.push_back(handle);
  }
  for (const std::string& handle : idle) close(handle, "traj_time_limit");
  return idle.size();
}

}  // namespace passnet::serve

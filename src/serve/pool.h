// Tasks being worked on by peers that we do not drive: agents over MCP, trainers over HTTP. Bounded in number, recorded
// like any attempt, closed when nobody uses them.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <mutex>

#include "agent/events.h"
#include "agent/prompts.h"

namespace passnet::serve {

struct PoolOptions {
  std::string folder;         // work/HANDLE; events.jsonl is the caller's
  std::string peer;           // who works: "mcp", "openenv"; the model's name in the records
  std::size_t sessions = 64;  // at once
  std::size_t queue = 256;    // steps that run or wait
  double idle_seconds = 900;  // after which a session is closed
  int steps = 100;            // of a session
  bool keep_folders = false;
  agent::SessionOptions session;
  agent::LoopLimits limits() const;
};

// One session. A step at a time; others wait for it.
class Work {
 public:
  Work(std::string handle, int attempt, std::unique_ptr<agent::Session> session, agent::EventLog& log);

  // A tool call, recorded. `seconds`: of an evaluation; `cancelled` is polled while it runs.
  agent::ToolResult call(std::string_view tool, const Json& arguments, double seconds,
                         const std::function<bool()>& cancelled);
  // Evaluates what was edited and not evaluated, puts the best passes back, and records the end. Once.
  void end(const char* reason, bool evaluate, const std::function<bool()>& cancelled);

  const std::string& handle() const { return handle_; }
  agent::Session& session() { return *session_; }
  int steps() const { return steps_; }
  bool ended() const { return ended_; }
  double idle() const;  // seconds since the last use; 0 while a step runs or waits
  const std::string& prompt() const { return prompt_; }
  void begin(const agent::Prompts& prompts, const PoolOptions& options);

  std::optional<double> best() const;  // the best score; may be asked while a step runs

  // The last answer, for a step that is sent twice with the same id.
  std::optional<Json> remembered(const std::string& request_id) const;
  void remember(const std::string& request_id, const Json& answer);

 private:
  void note_best();
  void append(const char* event, Json more);

  const std::string handle_;
  const int attempt_;
  std::unique_ptr<agent::Session> session_;
  agent::EventLog& log_;
  std::string prompt_;
  std::mutex mutex_;
  std::atomic<int> steps_ = 0, users_ = 0;
  std::atomic<bool> ended_ = false;
  std::atomic<double> used_ = 0;  // when last, by the steady clock
  std::atomic<double> best_ = -1;
  mutable std::mutex answer_mutex_;
  std::string request_id_;
  Json answer_;
  double begun_ = 0;
};

class Pool {
 public:
  Pool(std::vector<Task> tasks, agent::Judge& judge, const agent::Prompts& prompts, agent::EventLog& log,
       PoolOptions options, const agent::Attempts& before);
  ~Pool();  // closes all

  // An error with code `limit`: all places are taken. `task`: its name; empty: by `number`, or the next in turn.
  Result<std::shared_ptr<Work>> open(const std::string& task, std::optional<std::uint64_t> number = {});
  std::shared_ptr<Work> find(const std::string& handle);  // null: there is none, or no longer
  std::shared_ptr<Work> only();                           // the only one that is open; null: none or several
  void close(const std::string& handle, const char* reason = "agent");
  std::size_t close_idle();

  std::size_t size();
  const std::vector<Task>& tasks() const { return tasks_; }
  const PoolOptions& options() const { return options_; }
  std::vector<std::string> task_names() const;

  // A place in the queue of steps, held while one runs or waits.
  class Place {
   public:
    explicit Place(Pool& pool) : pool_(pool), taken_(pool.waiting_.fetch_add(1) < pool.options_.queue) {}
    ~Place() { pool_.waiting_.fetch_sub(1); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    explicit operator bool() const { return taken_; }

   private:
    Pool& pool_;
    const bool taken_;
  };

 private:
  void finish(const std::shared_ptr<Work>& work, const char* reason);

  const std::vector<Task> tasks_;
  agent::Judge& judge_;
  const agent::Prompts& prompts_;
  agent::EventLog& log_;
  const PoolOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Work>> open_;
  std::map<std::string, int> attempts_;  // the next of each task
  std::size_t opening_ = 0, next_task_ = 0;
  std::atomic<std::size_t> waiting_ = 0;
};

std::string random_handle();

}  // namespace passnet::serve

// Many attempts at many tasks: several at once, while timing stays alone; what they come to together.
#pragma once

#include <map>

#include "agent/loop.h"

namespace passnet::agent {

struct RunOptions {
  std::string folder;  // events.jsonl, work/TASK/ATTEMPT, best/TASK
  int attempts = 1;
  int at_once = 1;
  bool retry_errors = false;  // attempts whose model could not be asked begin anew
  SessionOptions session;
  double success = 1;  // an attempt that is right with a score over this is a success
};

// `tell` is called with each attempt that ended, by one thread at a time. False: stopped.
bool run_attempts(const std::vector<Task>& tasks, Judge& judge, const LoopSetup& setup, const Attempts& before,
                  const RunOptions& options, const std::function<void(const Attempt&)>& tell);

// What ended attempts come to.
struct TaskSummary {
  std::string task;
  int attempts = 0, successes = 0;
  double best = 0;  // of scores; 0: none has one
  int best_attempt = -1;
};
struct Summary {
  std::vector<TaskSummary> tasks;
  std::vector<double> pass_at;  // pass@k for k = 1..attempts, the unbiased estimate over tasks
  double best_of = 0;           // geometric mean of the best scores; a task without one counts 0.1
};
Summary summarise_attempts(const std::vector<Attempt>& attempts, double success);
double attempt_score(const Attempt& attempt);  // 0: none
bool attempt_success(const Attempt& attempt, double over);

// Writes the best passes of every task to FOLDER/best/TASK.
void write_best(const std::vector<Attempt>& attempts, const Summary& summary, const std::string& folder);

}  // namespace passnet::agent

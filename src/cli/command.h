// A command per file: each adds its subcommands to the application and runs when they are chosen.
#pragma once

#include <CLI/CLI.hpp>

namespace passnet::cli {

// Exit codes of every command.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;       // the task failed: some item is wrong
inline constexpr int kUsage = 2;        // the command line is wrong
inline constexpr int kEnvironment = 3;  // this machine lacks something
inline constexpr int kInterrupted = 130;

// Set by a command's callback; what main returns.
struct Outcome {
  int code = kOk;
};

inline constexpr int kMostThreads = 1024;  // a process has no room for any number of them
// --threads of the commands that run something: 0 is their default.
inline void add_threads(CLI::App& command, int& threads, const std::string& help) {
  command.add_option("--threads", threads, help)->check(CLI::Range(0, kMostThreads));
}

// --jobs: how many of `what` are done at once.
inline void add_jobs(CLI::App& command, int& jobs, const std::string& what) {
  command.add_option("--jobs", jobs, what + " at once; 0: one a core")->check(CLI::Range(0, kMostThreads));
}

void add_agent(CLI::App& app, Outcome& outcome);
void add_author(CLI::App& app, Outcome& outcome);
void add_bench(CLI::App& app, Outcome& outcome);
void add_data(CLI::App& app, Outcome& outcome);
void add_doctor(CLI::App& app, Outcome& outcome);
void add_eval(CLI::App& app, Outcome& outcome);
void add_graph(CLI::App& app, Outcome& outcome);
void add_guard(CLI::App& app, Outcome& outcome);
void add_match(CLI::App& app, Outcome& outcome);
void add_mcp(CLI::App& app, Outcome& outcome);
void add_ops(CLI::App& app, Outcome& outcome);
void add_pass(CLI::App& app, Outcome& outcome);
void add_run(CLI::App& app, Outcome& outcome);
void add_runs(CLI::App& app, Outcome& outcome);
void add_score(CLI::App& app, Outcome& outcome);
void add_serve(CLI::App& app, Outcome& outcome);
void add_tile(CLI::App& app, Outcome& outcome);

}  // namespace passnet::cli

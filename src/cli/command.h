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

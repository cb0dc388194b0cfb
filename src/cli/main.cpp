// passnet: one binary, a subcommand per file of this folder.
#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "cli/command.h"

int main(int argc, char** argv) {
  using namespace passnet;
  std::signal(SIGPIPE, SIG_DFL);
  CLI::App app{"PassNet reads, checks, runs and rewrites graphs of tensor programs.", "passnet"};
  app.require_subcommand(1);
  app.set_version_flag("--version", PASSNET_VERSION);
  app.footer(
      "stdout is the result (--json for machines), stderr the progress. Exit: 0 ok, 1 the task failed, 2 usage,\n3 "
      "environment, 130 interrupted. Documentation: docs/");
  cli::Outcome outcome;
  cli::add_agent(app, outcome);
  cli::add_author(app, outcome);
  cli::add_bench(app, outcome);
  cli::add_data(app, outcome);
  cli::add_doctor(app, outcome);
  cli::add_eval(app, outcome);
  cli::add_graph(app, outcome);
  cli::add_guard(app, outcome);
  cli::add_match(app, outcome);
  cli::add_mcp(app, outcome);
  cli::add_ops(app, outcome);
  cli::add_pass(app, outcome);
  cli::add_run(app, outcome);
  cli::add_runs(app, outcome);
  cli::add_score(app, outcome);
  cli::add_serve(app, outcome);
  cli::add_tile(app, outcome);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? cli::kOk : cli::kUsage;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "passnet: %s\n", error_text(failure.error).c_str());
    if (failure.error.code == Code::usage) return cli::kUsage;
    return code_kind(failure.error.code) == ErrorKind::environment ? cli::kEnvironment : cli::kFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "passnet: internal error: %s\n", error.what());
    return cli::kFailed;
  }
  return outcome.code;
}

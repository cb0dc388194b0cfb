// passnet: one binary, a subcommand per file of this folder.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>
#include <sstream>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"

namespace passnet::cli {

namespace {

class Help final : public CLI::Formatter {
  // Without the {false} that CLI11 puts behind the flag that takes another back.
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    std::string out = CLI::Formatter::make_option_name(option, positional);
    constexpr std::string_view kFalse = "{false}";
    for (std::size_t at = out.find(kFalse); at != std::string::npos; at = out.find(kFalse))
      out.erase(at, kFalse.size());
    return out;
  }
};

// CLI11 misses a command before it says which word is none, and knows no nearest one.
std::optional<std::string> unknown_word(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands()[0];
  const std::vector<std::string> words = at->remaining();
  if (words.empty()) return std::nullopt;
  const std::string word = words[0].substr(0, words[0].find('='));
  const bool is_option = word.starts_with('-');
  std::vector<std::string> names;
  if (is_option)
    for (const CLI::Option* option : at->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  else
    for (const CLI::App* command : at->get_subcommands({})) names.push_back(command->get_name());
  if (names.empty()) return std::nullopt;
  const auto nearest = text_nearest(word, std::vector<std::string_view>(names.begin(), names.end()), 1);
  return fmt::format("{} has no {} '{}'{}", at->get_name(), is_option ? "option" : "command", word,
                     nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest[0]));
}

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out, err;
  const int code = app.exit(error, out, err);
  fmt::print("{}", out.str());
  if (const auto unknown = code == 0 ? std::nullopt : unknown_word(app))
    err.str(*unknown + "\nRun with --help for more information.\n");
  const std::string said = err.str();
  for (const std::string_view line : text_lines(said)) fmt::print(stderr, "{}\n", text_printable(line));
  return code == 0 ? kOk : kUsage;
}

int failure(const Error& error) {
  fmt::print(stderr, "passnet: {}\n", error_text(error));
  if (error.code == Code::usage) return kUsage;
  return code_kind(error.code) == ErrorKind::environment ? kEnvironment : kFailed;
}

// The footer goes down to every command; those without --json do not speak of it.
void promise_no_json(CLI::App& app) {
  constexpr std::string_view kPromise = " (--json for machines)";
  for (CLI::App* command : app.get_subcommands({})) {
    promise_no_json(*command);
    std::string footer = command->get_footer();
    const std::size_t at = footer.find(kPromise);
    const bool has_json = command->get_option_no_throw("--json") != nullptr || !command->get_subcommands({}).empty();
    if (!has_json && at != std::string::npos) command->footer(footer.erase(at, kPromise.size()));
  }
}

// `unwritten`: why stdout failed, where that ended the command.
int run(int argc, char** argv, std::error_code& unwritten) {
  CLI::App app{"PassNet reads, checks, runs and rewrites graphs of tensor programs.", "passnet"};
  app.require_subcommand(1);
  app.formatter(std::make_shared<Help>());
  app.set_version_flag("--version", PASSNET_VERSION);
  app.footer(
      "stdout is the result (--json for machines), stderr the progress. Exit: 0 ok, 1 the task failed, 2 usage,\n3 "
      "environment, 130 interrupted. Documentation: docs/");
  Outcome outcome;
  add_agent(app, outcome);
  add_author(app, outcome);
  add_bench(app, outcome);
  add_data(app, outcome);
  add_doctor(app, outcome);
  add_eval(app, outcome);
  add_graph(app, outcome);
  add_guard(app, outcome);
  add_match(app, outcome);
  add_mcp(app, outcome);
  add_ops(app, outcome);
  add_pass(app, outcome);
  add_run(app, outcome);
  add_runs(app, outcome);
  add_score(app, outcome);
  add_serve(app, outcome);
  add_tile(app, outcome);
  promise_no_json(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  } catch (const Failure& f) {
    return failure(f.error);
  } catch (const std::exception& error) {
    if (const auto* system = dynamic_cast<const std::system_error*>(&error); std::ferror(stdout) != 0 && system) {
      unwritten = system->code();
      return kEnvironment;
    }
    return failure({Code::internal, {}, error.what(), {}});
  }
  return outcome.code;
}

// What could not be written is no result.
int run_and_write(int argc, char** argv) {
  std::error_code unwritten;
  const int code = run(argc, argv, unwritten);
  if (std::fflush(stdout) != 0 && !unwritten) unwritten = {errno, std::generic_category()};
  if (std::ferror(stdout) == 0) return code;
  return failure({Code::environment,
                  {},
                  "cannot write the output" + (unwritten ? ": " + unwritten.message() : std::string()),
                  {}});
}

// A descriptor that was closed would be given to the next file: a socket would then be taken for stdout. What cannot be
// written to stays so.
void keep_standard_files() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) < 0) ::_exit(kEnvironment);
}

// What is said beside the result is never a reason to end, read or not.
ssize_t say(void* /*cookie*/, const char* text, std::size_t size) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, size);
  return static_cast<ssize_t>(size);
}
void keep_talking() {
  std::FILE* const out = ::fopencookie(nullptr, "w", {nullptr, say, nullptr, nullptr});
  if (out == nullptr) return;
  std::setvbuf(out, nullptr, _IONBF, 0);
  stderr = out;
}

}  // namespace

}  // namespace passnet::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);
  passnet::cli::keep_standard_files();
  passnet::cli::keep_talking();
  return passnet::cli::run_and_write(argc, argv);
}

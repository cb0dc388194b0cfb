#include "cli/time_limit.h"

#include <unistd.h>

#include <csignal>
#include <string>

#include "cli/command.h"

namespace passnet::cli {

namespace {

std::string text;  // made before the signal, whose handler may only write it

extern "C" void end_in_time(int) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(kFailed);
}

}  // namespace

TimeLimit::TimeLimit(int seconds, const Error& error) {
  text = "passnet: " + error_text(error) + "\n";
  std::signal(SIGALRM, end_in_time);
  ::alarm(static_cast<unsigned>(seconds));
}

TimeLimit::~TimeLimit() { ::alarm(0); }

}  // namespace passnet::cli

#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace passnet::cli {

using Clock = std::chrono::steady_clock;

namespace {

// A line can be written over.
bool is_capable() {
  const char* name = std::getenv("TERM");
  return name != nullptr && *name != 0 && std::string_view(name) != "dumb";
}

}  // namespace

Progress::Progress(std::string what, std::size_t total, bool quiet)
    : what_(std::move(what)),
      total_(total),
      quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1 && is_capable()),
      begin_(Clock::now()),
      last_(begin_) {}

Progress::~Progress() {
  if (drawn_ && terminal_) std::fprintf(stderr, "\r\033[K");
}

void Progress::step(std::size_t failed) {
  ++done_;
  failed_ = failed;
  if (quiet_ || total_ < 2) return;
  const auto now = Clock::now();
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000))) return;
  last_ = now;
  draw();
}

void Progress::draw() {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double rate = static_cast<double>(done_) / seconds;
  const double left = static_cast<double>(total_ - done_) / rate;
  const std::string counts = fmt::format("{} {}/{}  {:.1f}/s  {:.0f} s left{}", what_, done_, total_, rate, left,
                                         failed_ > 0 ? fmt::format("  {} failed", failed_) : "");
  if (terminal_) {
    constexpr std::size_t kWidth = 24;
    const std::size_t filled = kWidth * done_ / total_;
    std::fprintf(stderr, "\r\033[K[%s%s] %s", std::string(filled, '#').c_str(),
                 std::string(kWidth - filled, '.').c_str(), counts.c_str());
  } else {
    std::fprintf(stderr, "%s\n", counts.c_str());
  }
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace passnet::cli

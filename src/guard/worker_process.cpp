// A worker, from its fork to its end: session, limits, job.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/process.h"
#include "guard/channel.h"
#include "guard/template_process.h"

namespace passnet::guard {

namespace {

constexpr int kChannelFd = 3;

// Writable private memory that this process has already, in bytes.
std::int64_t data_bytes() {
  std::FILE* file = std::fopen("/proc/self/status", "re");
  if (file == nullptr) return 0;
  char line[256];
  long long kib = 0;
  while (std::fgets(line, sizeof line, file) != nullptr)
    if (std::sscanf(line, "VmData: %lld kB", &kib) == 1) break;  // NOLINT(cert-err34-c): the kernel's number
  std::fclose(file);
  return kib * 1024;
}

std::string limit(decltype(RLIMIT_AS) what, const char* name, std::int64_t value) {
  rlimit r{};
  ::getrlimit(what, &r);
  r.rlim_cur = r.rlim_max = std::min(r.rlim_max, static_cast<rlim_t>(value));
  return ::setrlimit(what, &r) == 0 ? "" : fmt::format("{}: {}", name, std::strerror(errno));
}

// Empty: all set. Memory is limited as RLIMIT_DATA, which counts writable private pages only: libtorch and the arenas
// of its threads reserve far more addresses than they use, so that RLIMIT_AS would need a guess.
std::string set_limits(const Control& c) {
  const double cpu = std::ceil(std::clamp(c.seconds, 0.0, 1e8)) * core_count() + 1;  // all threads together
  for (std::string wrong :
       {limit(RLIMIT_CORE, "RLIMIT_CORE", 0), limit(RLIMIT_DATA, "RLIMIT_DATA", data_bytes() + c.memory_bytes),
        limit(RLIMIT_CPU, "RLIMIT_CPU", static_cast<std::int64_t>(cpu))})
    if (!wrong.empty()) return wrong;
  return "";
}

// Where the machine runs out of memory, a worker is what it should kill.
void first_to_go() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t n = ::write(fd, "1000", 4);
  ::close(fd);
}

void tell(Channel& channel, std::string_view text) {
  ChannelFrames::send(channel, FrameKind::failed, text.substr(0, kMaxText));
}

}  // namespace

void worker_main(int fd, pid_t template_pid, const Control& limits, const Job& job) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != template_pid) ::_exit(0);
  for (int s = 1; s < NSIG; ++s) std::signal(s, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_NAME, "passnet-worker");
  if (fd != kChannelFd) ::dup2(fd, kChannelFd);  // in place of the template's control socket
  ::fcntl(kChannelFd, F_SETFD, FD_CLOEXEC);
#ifdef SYS_close_range
  ::syscall(SYS_close_range, 4U, ~0U, 0U);
#endif
  first_to_go();
  Channel channel(kChannelFd);
  if (const std::string wrong = set_limits(limits); !wrong.empty()) {
    ChannelFrames::send(channel, FrameKind::refused, wrong);
    ::_exit(1);
  }
  ChannelFrames::send(channel, FrameKind::ready, "");
  int code = 0;
  try {
    job(channel);
  } catch (const Failure& failure) {
    tell(channel, error_line(failure.error));
    code = 1;
  } catch (const std::bad_alloc&) {
    tell(channel, "out of memory");
    code = 1;
  } catch (const std::exception& error) {
    tell(channel, error.what());
    code = 1;
  } catch (...) {
    tell(channel, "unknown exception");
    code = 1;
  }
  ::_exit(code);
}

}  // namespace passnet::guard

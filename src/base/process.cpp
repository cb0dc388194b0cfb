#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/text.h"

namespace passnet {

namespace {

using Clock = std::chrono::steady_clock;

void limit(decltype(RLIMIT_AS) what, std::int64_t value) {
  rlimit r{};
  ::getrlimit(what, &r);
  r.rlim_cur = std::min(r.rlim_max, static_cast<rlim_t>(value));
  ::setrlimit(what, &r);
}

// What the child does between vfork and exec: system calls only, since it still shares our memory. Limits cannot be set
// from outside without a race, which is why this is no posix_spawn.
[[noreturn]] void become(char* const* command, char* const* environment, int out, const ProcessLimits& limits,
                         pid_t parent, volatile int& error) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it ends with the thread that waits for it
  if (::getppid() != parent) ::_exit(127);
  for (int s = 1; s < NSIG; ++s) std::signal(s, SIG_DFL);  // our handlers must not run here
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setpgid(0, 0);
  limit(RLIMIT_AS, limits.memory_bytes);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  limit(RLIMIT_CPU, static_cast<std::int64_t>(limits.seconds) + 1);
  limit(RLIMIT_CORE, 0);
  const int in = ::open("/dev/null", O_RDONLY);
  if (in > 0) ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
#ifdef SYS_close_range
  ::syscall(SYS_close_range, 3U, ~0U, 0U);
#endif
  ::execve(command[0], command, environment);
  error = errno;
  ::_exit(127);
}

std::vector<char*> pointers(const std::vector<std::string>& list) {
  std::vector<char*> out;
  for (const std::string& item : list) out.push_back(const_cast<char*>(item.c_str()));
  out.push_back(nullptr);
  return out;
}

int milliseconds_left(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(0, left));
}

// Reads to the end; false where the deadline came first.
bool drain(int fd, Clock::time_point deadline, std::size_t keep, std::string& out) {
  char chunk[4096];
  while (true) {
    pollfd p{fd, POLLIN, 0};
    const int ready = ::poll(&p, 1, milliseconds_left(deadline) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t n = ::read(fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    out.append(chunk, std::min(static_cast<std::size_t>(n), keep - std::min(keep, out.size())));
  }
}

}  // namespace

Result<ProcessResult> process_run(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                                  const ProcessLimits& limits) {
  const auto begin = Clock::now();
  const auto deadline = begin + std::chrono::milliseconds(static_cast<std::int64_t>(limits.seconds * 1e3));
  const std::vector<char*> argv = pointers(command), envp = pointers(environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{Code::environment, {}, fmt::format("cannot make a pipe: {}", std::strerror(errno)), {}};
  volatile int error = 0;
  const pid_t self = ::getpid();
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child =
      ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork): fork copies libtorch's page tables
  if (child == 0) become(argv.data(), envp.data(), ends[1], limits, self, error);
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  ProcessResult out;
  if (child > 0 && error == 0) {
    out.timed_out = !drain(ends[0], deadline, limits.output_bytes, out.output);
    int state = 0;
    pid_t waited = 0;
    while (!out.timed_out && (waited = ::waitpid(child, &state, WNOHANG)) == 0) {
      out.timed_out = Clock::now() > deadline;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (out.timed_out) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &state, 0);
    }
    out.status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
  } else if (child > 0) {
    ::waitpid(child, nullptr, 0);
  }
  ::close(ends[0]);
  if (child < 0 || error != 0)
    return Error{Code::environment,
                 {},
                 fmt::format("cannot start {}: {}", command[0], std::strerror(child < 0 ? fork_error : int{error})),
                 {}};
  out.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return out;
}

std::string signal_text(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("signal {} (SIG{})", signal, name);
}

std::optional<std::string> program_find(const std::string& name) {
  const auto runs = [](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return runs(name) ? std::optional(name) : std::nullopt;
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : text_split(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path, ':'))
    if (std::string full = std::string(folder) + "/" + name; !folder.empty() && runs(full)) return full;
  return std::nullopt;
}

void settle_malloc() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

std::vector<int> allowed_cores() {
  std::vector<int> out;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return out;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) out.push_back(core);
  return out;
}

int core_count() {
  const std::size_t allowed = allowed_cores().size();
  return allowed > 0 ? static_cast<int>(allowed) : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace passnet

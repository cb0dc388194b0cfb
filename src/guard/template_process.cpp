#include "guard/template_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>

namespace passnet::guard {

namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  std::uint64_t id;
  pid_t pid;
  Clock::time_point deadline;
  bool by_deadline = false, by_request = false;
};

class Nursery {
 public:
  Nursery(int control, int signals, const Job& job) : control_(control), signals_(signals), job_(job) {}

  // Until main is gone.
  void serve() {
    while (true) {
      pollfd p[2] = {{control_, POLLIN, 0}, {signals_, POLLIN, 0}};
      const int ready = ::poll(p, 2, next_deadline());
      if (ready < 0 && errno != EINTR) break;
      if (p[1].revents != 0) drain_signals();
      bury_dead();
      kill_late();
      if (ready > 0 && p[0].revents != 0 && !command()) break;
    }
    while (!workers_.empty()) end(workers_.back().id, 0);
    kill_strays();
  }

 private:
  int next_deadline() const {
    auto first = Clock::time_point::max();
    for (const Child& w : workers_) first = std::min(first, w.deadline);
    if (first == Clock::time_point::max()) return -1;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(first - Clock::now()).count() + 1;
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
  }

  void drain_signals() const {
    signalfd_siginfo info{};
    while (::read(signals_, &info, sizeof info) > 0) {
    }
  }

  bool command() {
    Control c;
    int fd = -1;
    if (!control_receive(control_, c, &fd)) return false;
    if (c.kind == ControlKind::fork && fd >= 0) fork_worker(c, fd);
    if (c.kind == ControlKind::kill) end(c.id, c.seconds);
    if (fd >= 0) ::close(fd);
    return true;
  }

  void fork_worker(const Control& c, int fd) {
    Control reply;
    reply.id = c.id;
    const pid_t self = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) worker_main(fd, self, c, job_);
    if (pid > 0) {
      const auto life = std::chrono::duration<double>(std::clamp(c.seconds, 0.0, 1e8));
      workers_.push_back({c.id, pid, Clock::now() + std::chrono::duration_cast<Clock::duration>(life)});
      reply.kind = ControlKind::forked;
      reply.pid = pid;
    } else {
      reply.kind = ControlKind::fork_refused;
      reply.status = errno;
    }
    control_send(control_, reply);
  }

  // Main asks for a worker's end. One that is buried already has been reported. A process closes its files well before
  // it can be waited for, so one that main has found gone gets the time to say what it died of.
  void end(std::uint64_t id, double grace) {
    const auto at = std::find_if(workers_.begin(), workers_.end(), [&](const Child& w) { return w.id == id; });
    if (at == workers_.end()) return;
    const auto until = Clock::now() + std::chrono::duration<double>(std::clamp(grace, 0.0, 10.0));
    while (!dead(at->pid) && Clock::now() < until) ::usleep(200);
    at->by_request = !dead(at->pid);
    bury(static_cast<std::size_t>(at - workers_.begin()));
  }

  static bool dead(pid_t pid) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
  }

  void bury_dead() {
    for (std::size_t i = workers_.size(); i-- > 0;)
      if (dead(workers_[i].pid)) bury(i);
  }

  void kill_late() {
    for (std::size_t i = workers_.size(); i-- > 0;)
      if (workers_[i].deadline <= Clock::now()) {
        workers_[i].by_deadline = true;
        bury(i);
      }
  }

  // Kills a worker and its group, reaps it, kills what it left behind, and tells main. It is not reaped before, so its
  // pid is still its own.
  void bury(std::size_t index) {
    const Child w = workers_[index];
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
    ::kill(-w.pid, SIGKILL);
    ::kill(w.pid, SIGKILL);  // it may not have its own group yet
    Control c;
    c.kind = ControlKind::died;
    c.id = w.id;
    c.by_deadline = w.by_deadline ? 1 : 0;
    c.by_request = w.by_request ? 1 : 0;
    while (::waitpid(w.pid, &c.status, 0) < 0 && errno == EINTR) {
    }
    kill_strays();
    control_send(control_, c);
  }

  // Whatever a dead worker started has become our child, since we are a subreaper; its own children will.
  void kill_strays() {
    for (bool found = true; found;) {
      found = false;
      for (const pid_t pid : children()) {
        if (std::any_of(workers_.begin(), workers_.end(), [&](const Child& w) { return w.pid == pid; })) continue;
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        found = true;
      }
    }
  }

  int control_, signals_;
  const Job& job_;
  std::vector<Child> workers_;
};

void close_from(int first) {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0) return;
#endif
  for (int fd = first; fd < 65536; ++fd) ::close(fd);
}

// Control at 3 and nothing else; no input, and output beside main's results.
int tidy_files(int control) {
  const int null = ::open("/dev/null", O_RDONLY);
  if (null > 0) ::dup2(null, 0);
  ::dup2(2, 1);
  if (control != 3) ::dup2(control, 3);
  ::fcntl(3, F_SETFD, FD_CLOEXEC);
  close_from(4);
  return 3;
}

Control run_load(const std::function<void()>& load) {
  Control out;
  out.kind = ControlKind::not_loaded;
  std::string text = "unknown exception";
  try {
    if (load) load();
    out.kind = ControlKind::loaded;
  } catch (const Failure& failure) {
    text = failure.error.message;
    out.environment = code_kind(failure.error.code) == ErrorKind::environment ? 1 : 0;
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
  }
  std::memcpy(out.text, text.data(), std::min(text.size(), sizeof out.text - 1));
  return out;
}

}  // namespace

void template_main(int control, pid_t main, const std::function<void()>& load, const Job& job) {
  ::setsid();  // an interrupt at the terminal is for main
  for (int s = 1; s < NSIG; ++s) std::signal(s, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // while loading; there are no workers yet
  if (::getppid() != main) ::_exit(0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, "passnet-templ");
  control = tidy_files(control);
  const Control loaded = run_load(load);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &set, nullptr);
  const int signals = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  // From now on workers have to be killed first: main's end is the end of the control socket.
  ::prctl(PR_SET_PDEATHSIG, 0);
  if (::getppid() != main || signals < 0) ::_exit(1);
  if (!control_send(control, loaded) || loaded.kind != ControlKind::loaded) ::_exit(0);
  Nursery(control, signals, job).serve();
  ::_exit(0);
}

}  // namespace passnet::guard

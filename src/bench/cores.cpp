#include "bench/cores.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "base/process.h"

namespace passnet {

namespace {

// While there is one, the thread that made it sleeps a little now and then. Who waits for a thread that was just
// started spins, and where the system put both on one core, that is until its time slice ends: 4 ms, and 4 more for the
// other.
class Naps {
 public:
  Naps() {
    struct sigaction action {};
    action.sa_handler = [](int) {
      const int error = errno;
      const timespec nap{0, kNap};
      ::nanosleep(&nap, nullptr);
      errno = error;
    };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGALRM, &action, &before_);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event._sigev_un._tid = ::gettid();
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) return;  // then without
    made_ = true;
    const itimerspec each{{0, kEvery}, {0, kEvery}};
    ::timer_settime(timer_, 0, &each, nullptr);
  }
  ~Naps() {
    if (made_) ::timer_delete(timer_);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  Naps(const Naps&) = delete;
  Naps& operator=(const Naps&) = delete;

 private:
  static constexpr long kEvery = 200'000, kNap = 50'000;  // nanoseconds
  struct sigaction before_ {};
  timer_t timer_{};
  bool made_ = false;
};

}  // namespace

void pin(std::span<const int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

void pin_threads(Engine& engine) {
  std::vector<int> cores = allowed_cores();
  const auto count = static_cast<std::size_t>(engine.threads());
  if (cores.size() < count) return;
  cores.erase(cores.begin(), cores.end() - static_cast<std::ptrdiff_t>(count));
  const auto pin_one = [](void* context, std::int64_t begin, std::int64_t end) {
    const std::span all = *static_cast<std::vector<int>*>(context);
    if (end - begin == 1) pin(all.subspan(static_cast<std::size_t>(begin), 1));
  };
  const Naps naps;
  engine.parallel(static_cast<std::int64_t>(count), 1, pin_one, &cores);
  if (count > 2) pin(cores);
}

}  // namespace passnet

#include "bench/turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace passnet {

namespace {

constexpr std::chrono::milliseconds kPoll(2);
constexpr std::chrono::seconds kLong(3);

int open_shared(const char* path) {
  int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) file = ::open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);  // another user's
  if (file >= 0) ::fchmod(file, 0666);                                   // for others, whatever our umask
  return file;
}
void leave(int file) {
  if (file >= 0) ::flock(file, LOCK_UN);
}
int open_lock() { return open_shared("/tmp/passnet-timing.lock"); }
int open_gate() { return open_shared("/tmp/passnet-timing.gate"); }

}  // namespace

// One lock is held by each opening of a file.
Turn::Turn(int verifications_at_once, Waiting waiting)
    : at_once_(verifications_at_once),
      waiting_(std::move(waiting)),
      lock_(open_lock()),
      gate_to_time_(open_gate()),
      gate_to_verify_(open_gate()) {}
Turn::~Turn() {
  for (const int file : {lock_, gate_to_time_, gate_to_verify_})
    if (file >= 0) ::close(file);
}

void Turn::wait_for(int file, int how) {
  using Clock = std::chrono::steady_clock;
  if (file < 0) return;  // a machine where the file cannot be made: alone among our own threads at least
  const auto begin = Clock::now();
  while (::flock(file, how | LOCK_NB) != 0 && (errno == EINTR || errno == EWOULDBLOCK) && !waiting_.given_up()) {
    if (Clock::now() - begin > kLong && !said_.exchange(true)) waiting_.say();
    std::this_thread::sleep_for(kPoll);
  }
}

void Turn::begin_verify() {
  wait_for(gate_to_verify_, LOCK_SH);  // also where others of ours have the lock already
  leave(gate_to_verify_);
  std::unique_lock hold(mutex_);
  const std::uint64_t ticket = verify_given_++;
  changed_.wait(hold, [&] {
    const bool before_timing = time_given_ == time_served_ || ticket < verify_before_;
    return !timing_ && verifying_ < at_once_ && ticket == verify_served_ && before_timing;
  });
  ++verify_served_;
  if (verifying_++ == 0) wait_for(lock_, LOCK_SH);
  changed_.notify_all();
}
void Turn::end_verify() {
  const std::lock_guard hold(mutex_);
  if (--verifying_ == 0) leave(lock_);
  changed_.notify_all();
}
void Turn::begin_time() {
  std::unique_lock hold(mutex_);
  const std::uint64_t ticket = time_given_++;
  changed_.wait(
      hold, [&] { return !timing_ && verifying_ == 0 && ticket == time_served_ && verify_served_ >= verify_before_; });
  ++time_served_;
  timing_ = true;
  hold.unlock();
  wait_for(gate_to_time_, LOCK_EX);
  wait_for(lock_, LOCK_EX);
  leave(gate_to_time_);
}
void Turn::end_time() {
  const std::lock_guard hold(mutex_);
  leave(lock_);
  timing_ = false;
  verify_before_ = verify_given_;
  changed_.notify_all();
}

}  // namespace passnet

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
constexpr const char* kLockFile = "/tmp/passnet-timing.lock";
constexpr std::chrono::milliseconds kPoll(2);
constexpr std::chrono::seconds kLong(3);
}  // namespace

Turn::Turn(int verifications_at_once, Waiting waiting)
    : at_once_(verifications_at_once),
      waiting_(std::move(waiting)),
      lock_(::open(kLockFile, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
  if (lock_ < 0) lock_ = ::open(kLockFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);  // another user's
}
Turn::~Turn() {
  if (lock_ >= 0) ::close(lock_);
}

void Turn::lock(int how) {
  using Clock = std::chrono::steady_clock;
  if (lock_ < 0) return;  // a machine where the file cannot be made: alone among our own threads at least
  const auto begin = Clock::now();
  while (::flock(lock_, how | LOCK_NB) != 0 && (errno == EINTR || errno == EWOULDBLOCK) && !waiting_.given_up()) {
    if (Clock::now() - begin > kLong && !said_.exchange(true)) waiting_.say();
    std::this_thread::sleep_for(kPoll);
  }
}

void Turn::begin_verify() {
  std::unique_lock hold(mutex_);
  const std::uint64_t ticket = verify_given_++;
  changed_.wait(hold, [&] {
    const bool before_timing = time_given_ == time_served_ || ticket < verify_before_;
    return !timing_ && verifying_ < at_once_ && ticket == verify_served_ && before_timing;
  });
  ++verify_served_;
  if (verifying_++ == 0) lock(LOCK_SH);
  changed_.notify_all();
}
void Turn::end_verify() {
  const std::lock_guard hold(mutex_);
  if (--verifying_ == 0) lock(LOCK_UN);
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
  lock(LOCK_EX);
}
void Turn::end_time() {
  const std::lock_guard hold(mutex_);
  lock(LOCK_UN);
  timing_ = false;
  verify_before_ = verify_given_;
  changed_.notify_all();
}

}  // namespace passnet

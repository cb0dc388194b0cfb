#include "bench/turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace passnet {

namespace {
constexpr const char* kLockFile = "/tmp/passnet-timing.lock";

void lock(int fd, int how) {
  if (fd < 0) return;  // a machine where the file cannot be made: alone among our own threads at least
  while (::flock(fd, how) != 0 && errno == EINTR) {
  }
}
}  // namespace

Turn::Turn() : lock_(::open(kLockFile, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
  if (lock_ < 0) lock_ = ::open(kLockFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);  // another user's
}
Turn::~Turn() {
  if (lock_ >= 0) ::close(lock_);
}

void Turn::begin_verify() {
  std::unique_lock hold(mutex_);
  changed_.wait(hold, [&] { return !timing_ && wanting_ == 0; });
  if (verifying_++ == 0) lock(lock_, LOCK_SH);
}
void Turn::end_verify() {
  const std::lock_guard hold(mutex_);
  if (--verifying_ == 0) lock(lock_, LOCK_UN);
  changed_.notify_all();
}
void Turn::begin_time() {
  std::unique_lock hold(mutex_);
  ++wanting_;
  changed_.wait(hold, [&] { return !timing_ && verifying_ == 0; });
  --wanting_;
  timing_ = true;
  hold.unlock();
  lock(lock_, LOCK_EX);
}
void Turn::end_time() {
  const std::lock_guard hold(mutex_);
  lock(lock_, LOCK_UN);
  timing_ = false;
  changed_.notify_all();
}

}  // namespace passnet

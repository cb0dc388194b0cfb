#include "serve/timed_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace passnet::serve {

TimedSocket::~TimedSocket() { ::close(fd_); }

void TimedSocket::within(double seconds) {
  using Clock = std::chrono::steady_clock;
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

bool TimedSocket::wait(short what) const {
  while (std::chrono::steady_clock::now() < deadline_ && !stop_()) {
    pollfd p{fd_, what, 0};
    const int n = ::poll(&p, 1, kSliceMs);
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return false;
  }
  errno = ETIMEDOUT;
  return false;
}

std::size_t TimedSocket::read(char* data, std::size_t size) {
  if (!wait(POLLIN)) return 0;
  const ssize_t n = ::recv(fd_, data, size, 0);
  if (n == 0) errno = 0;
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

std::size_t TimedSocket::write(const char* data, std::size_t size) {
  if (!wait(POLLOUT)) return 0;
  const ssize_t n = ::send(fd_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return write(data, size);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

bool TimedSocket::write_all(std::string_view data) {
  while (!data.empty()) {
    const std::size_t n = write(data.data(), data.size());
    if (n == 0) return false;
    data.remove_prefix(n);
  }
  return true;
}

bool TimedSocket::gone() const {
  char byte = 0;
  const ssize_t n = ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return stop_() || n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace passnet::serve

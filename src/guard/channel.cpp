#include "guard/channel.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

namespace passnet::guard {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kChunk = std::size_t{64} << 10;

Error gone() { return {Code::io, {}, "the other side of the channel is gone", {}}; }

int milliseconds_left(Clock::time_point deadline) {
  const double left = std::chrono::duration<double, std::milli>(deadline - Clock::now()).count();
  return static_cast<int>(std::ceil(std::clamp(left, 0.0, 1e9)));
}
Error late() { return {Code::limit, {}, "nothing came over the channel in time", {}}; }

// All of `size` bytes; no signal where the other side is gone.
bool write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::send(fd, data, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// Adds what has come to `buffer`, waiting for something. Memory is taken as bytes arrive, not as a header promises.
void read_some(int fd, std::string& buffer, Clock::time_point deadline) {
  while (true) {
    const std::size_t before = buffer.size();
    buffer.resize(before + kChunk);
    const ssize_t n = ::recv(fd, buffer.data() + before, kChunk, MSG_DONTWAIT);
    const int error = errno;
    buffer.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n > 0) return;
    if (n < 0 && error == EINTR) continue;
    if (n == 0 || (error != EAGAIN && error != EWOULDBLOCK)) fail(gone());
    const int left = milliseconds_left(deadline);
    if (left == 0) fail(late());
    pollfd p{fd, POLLIN, 0};
    ::poll(&p, 1, left);
  }
}

// What came before the deadline of a frame that is not whole stays in `buffer` for the next try.
Frame read_frame(int fd, std::string& buffer, Clock::time_point deadline) {
  FrameHeader header;
  const auto read_until = [&](std::size_t size) {  // who never stops sending is late, too
    for (bool again = false; buffer.size() < size; again = true) {
      if (again && Clock::now() >= deadline) fail(late());
      read_some(fd, buffer, deadline);
    }
  };
  read_until(sizeof header);
  std::memcpy(&header, buffer.data(), sizeof header);
  if (const std::string_view wrong = frame_valid(header); !wrong.empty())
    fail(Code::integrity, fmt::format("{} on the channel", wrong));
  const std::size_t whole = sizeof header + header.length;
  read_until(whole);
  Frame out{header.kind, buffer.substr(sizeof header, header.length)};
  buffer.erase(0, whole);
  return out;
}

}  // namespace

Channel::~Channel() {
  if (fd_ >= 0) ::close(fd_);
}

bool ChannelFrames::send(Channel& channel, FrameKind kind, std::string_view body) {
  FrameHeader header;
  header.kind = kind;
  header.length = body.size();
  if (!frame_valid(header).empty()) return false;
  char bytes[sizeof header];
  std::memcpy(bytes, &header, sizeof header);
  return write_all(channel.fd_, bytes, sizeof bytes) && write_all(channel.fd_, body.data(), body.size());
}

Result<Frame> ChannelFrames::receive(Channel& channel, double seconds) {
  const auto wait = std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e9));
  auto out = guarded([&] {
    return read_frame(channel.fd_, channel.partial_, Clock::now() + std::chrono::duration_cast<Clock::duration>(wait));
  });
  channel.gone_ |= !out && out.error().code == Code::io;
  return out;
}

bool Channel::send(std::string_view message) { return ChannelFrames::send(*this, FrameKind::message, message); }

void Channel::stage(std::string_view name) { ChannelFrames::send(*this, FrameKind::stage, name.substr(0, kMaxText)); }

Result<std::string> Channel::receive(double seconds) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e9));
  for (bool again = false;; again = true) {
    const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
    if (again && left <= 0) return late();
    Result<Frame> frame = ChannelFrames::receive(*this, left);
    if (!frame) return std::move(frame.error());
    switch (frame->kind) {
      case FrameKind::message: return std::move(frame->body);
      case FrameKind::stage: stage_ = std::move(frame->body); break;
      case FrameKind::failed: return Error{Code::internal, {}, std::move(frame->body), {}};
      case FrameKind::ready:
      case FrameKind::refused: return Error{Code::integrity, {}, "a frame out of its turn on the channel", {}};
    }
  }
}

}  // namespace passnet::guard

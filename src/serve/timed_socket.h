// A connected socket whose every read and write ends at a deadline, or when asked to.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>

namespace passnet::serve {

inline constexpr int kSliceMs = 200;  // how soon a wait notices that it is to end

class TimedSocket {
 public:
  TimedSocket(int fd, const std::function<bool()>& stop) : fd_(fd), stop_(stop) {}
  ~TimedSocket();
  TimedSocket(const TimedSocket&) = delete;
  TimedSocket& operator=(const TimedSocket&) = delete;

  void within(double seconds);  // from now: the deadline of what follows
  // How many bytes; 0: the peer has closed, the deadline is over, or the connection is broken. `errno` says which: 0,
  // ETIMEDOUT, another.
  std::size_t read(char* data, std::size_t size);
  std::size_t write(const char* data, std::size_t size);
  bool write_all(std::string_view data);

  // Looked up without taking anything from the line.
  bool gone() const;
  bool stopping() const { return stop_(); }
  int descriptor() const { return fd_; }

 private:
  bool wait(short what) const;

  const int fd_;
  const std::function<bool()>& stop_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now();
};

}  // namespace passnet::serve

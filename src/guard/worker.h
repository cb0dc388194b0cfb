// An opaque job in a process of its own: bytes in, bytes out, limits. It knows nothing of what the job does.
//
// A template process loads what jobs need (libtorch: 0.4 s) and forks a worker for each job in milliseconds. It never
// runs anything in parallel itself, since a fork after OpenMP has started threads hangs. The template ends with this
// process, workers end with the template, and what a worker started ends with it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "guard/seal.h"  // IWYU pragma: export

namespace passnet::guard {

struct Limits {
  std::int64_t memory_bytes = std::int64_t{16} << 30;  // writable memory beyond what the template has
  double seconds = 600;                                // of the whole life of a worker, as a last resort
};

// Framed messages over a socket; guard/protocol.h has the format. Not for two threads at once.
class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  // False: the other side is gone, or the message is over kMaxMessage.
  bool send(std::string_view message);
  // An error with code `limit`: nothing came in time; with code `io`: the other side is gone; with code `integrity`:
  // what came is no message; with code `internal`: the job threw, the message says what.
  Result<std::string> receive(double seconds);

  // In a worker: what it does now. On the other side: the last that was said, once a receive came past it.
  void stage(std::string_view name);
  const std::string& last_stage() const { return stage_; }
  // A receive has found the other side gone.
  bool gone() const { return gone_; }

 private:
  friend struct ChannelFrames;
  int fd_;
  std::string stage_;
  std::string partial_;  // of a frame that is not whole yet
  bool gone_ = false;
};

// How a worker ended, in words for people: "killed by signal 11 (SIGSEGV)".
struct Death {
  int signal = 0, exit_code = 0;
  bool by_us = false;        // it lived until kill() was called, or until Limits::seconds were over
  bool environment = false;  // the template was gone: not the job's doing
  std::string text;
};

// A worker with its job; killed with all its children when it goes out of scope.
class Worker {
 public:
  virtual ~Worker() = default;
  virtual Channel& channel() = 0;
  virtual int pid() const = 0;
  virtual Death kill() = 0;  // and what it died of, where it was dead before; any number of times
};

// What runs in a worker. Returning ends the process.
using Job = std::function<void(Channel&)>;

// Workers must not outlive their template. Several threads may use one template, each its own workers.
class Template {
 public:
  virtual ~Template() = default;
  // Returns when the worker runs with its limits set. A template that died is started again first.
  virtual Result<std::unique_ptr<Worker>> fork(const Limits& limits) = 0;
  virtual int pid() const = 0;
  virtual int restarts() const = 0;
};
// Forks the template process, which calls `load` once: call it before this process has threads or libtorch. A Failure
// thrown by `load` is the result.
Result<std::unique_ptr<Template>> template_start(std::function<void()> load, Job job);

}  // namespace passnet::guard

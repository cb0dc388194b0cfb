// An opaque job in a process of its own: bytes in, bytes out, limits. It knows nothing of what the job does.
//
// A template process loads what jobs need (libtorch: 0.4 s) and forks a worker for each job in milliseconds. It never
// runs anything in parallel itself, since a fork after OpenMP has started threads hangs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace passnet::guard {

struct Limits {
  std::int64_t memory_bytes = std::int64_t{16} << 30;  // writable memory beyond what the template has
  double seconds = 600;                                // of the whole life of a worker, as a last resort
};

// Framed messages over a socket; guard/protocol.h has the format.
class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  // False: the other side is gone.
  bool send(std::string_view message);
  // An error with code `limit`: nothing came in time; with code `io`: the other side is gone.
  Result<std::string> receive(double seconds);

 private:
  int fd_;
};

// How a worker ended, in words for people: "killed by signal 11 (SIGSEGV)".
struct Death {
  int signal = 0, exit_code = 0;
  std::string text;
};

// A worker with its job; killed with all its children when it goes out of scope.
class Worker {
 public:
  virtual ~Worker() = default;
  virtual Channel& channel() = 0;
  virtual int pid() const = 0;
  virtual Death kill() = 0;  // and what it died of, where it was dead before
};

// What runs in a worker. Returning ends the process.
using Job = std::function<void(Channel&)>;

class Template {
 public:
  virtual ~Template() = default;
  virtual Result<std::unique_ptr<Worker>> fork(const Limits& limits) = 0;
};
// Forks the template process, which calls `load` once: call it before this process has threads or libtorch.
Result<std::unique_ptr<Template>> template_start(std::function<void()> load, Job job);

// In a worker, once all that needs files and programs is done: from here on neither files, nor processes, nor the
// network. What the kernel of this machine cannot forbid is named, one item each.
struct SealOptions {
  std::vector<std::string> readable;  // files and folders that may still be read
};
std::vector<std::string> seal(const SealOptions& options);
// The same names, without sealing anything.
std::vector<std::string> missing_features();

}  // namespace passnet::guard

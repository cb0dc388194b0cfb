// Who may use the machine: many verify at once, one times alone. Holds between the threads of this process and, by a
// lock on a file, between all benches on the machine.
#pragma once

#include <condition_variable>
#include <mutex>

namespace passnet {

class Turn {
 public:
  Turn();
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void begin_verify();  // waits while someone times or wants to
  void end_verify();
  void begin_time();
  void end_time();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int verifying_ = 0, wanting_ = 0;
  bool timing_ = false;
  int lock_ = -1;
};

}  // namespace passnet

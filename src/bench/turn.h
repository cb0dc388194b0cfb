// Who may use the machine: many verify at once, one times alone. Holds between the threads of this process and, by
// locks on two files, between all benches on the machine. One says who verifies and who times; the other is a gate that
// everybody passes on the way there: who waits to time keeps it shut, so that no more verifications begin meanwhile.
//
// Both kinds are served in the order in which they came, and they take turns: whoever waits to verify when a timing
// ends goes before the next timing, so a verification waits for one timing at most and no timing waits for ever.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>

namespace passnet {

// For the machine, while another bench has it.
struct Waiting {
  std::function<bool()> given_up = [] { return false; };  // polled; then the turn comes at once, for nothing
  std::function<void()> say = [] {};  // told once, when another bench has had the machine for a while
};

class Turn {
 public:
  explicit Turn(int verifications_at_once = std::numeric_limits<int>::max(), Waiting waiting = {});
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void begin_verify();
  void end_verify();
  void begin_time();
  void end_time();

 private:
  void wait_for(int file, int how);

  std::mutex mutex_;
  std::condition_variable changed_;
  const int at_once_;
  const Waiting waiting_;
  std::atomic<bool> said_ = false;
  int verifying_ = 0;
  bool timing_ = false;
  // Tickets: the next to be given, and the next to be served.
  std::uint64_t verify_given_ = 0, verify_served_ = 0, time_given_ = 0, time_served_ = 0;
  std::uint64_t verify_before_ = 0;  // verifications up to this one go before the next timing
  int lock_, gate_to_time_, gate_to_verify_;
};

// Held for a block.
class VerifyTurn {
 public:
  explicit VerifyTurn(Turn& turn) : turn_(turn) { turn_.begin_verify(); }
  ~VerifyTurn() { turn_.end_verify(); }
  VerifyTurn(const VerifyTurn&) = delete;
  VerifyTurn& operator=(const VerifyTurn&) = delete;

 private:
  Turn& turn_;
};
class TimeTurn {
 public:
  explicit TimeTurn(Turn& turn) : turn_(turn) { turn_.begin_time(); }
  ~TimeTurn() { turn_.end_time(); }
  TimeTurn(const TimeTurn&) = delete;
  TimeTurn& operator=(const TimeTurn&) = delete;

 private:
  Turn& turn_;
};

}  // namespace passnet

#include "tile_cpu/launch.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace passnet::tile_cpu {

namespace {

// Waking torch's threads and waiting for them takes 5 to 10 µs, so less work than this stays on one.
constexpr double kSerialBelow = 20'000;  // nanoseconds
constexpr double kShareCost = 10'000;    // nanoseconds: a thread gets at least this much
constexpr double kTurnCost = 5'000;      // nanoseconds: and takes at least this much at a time

struct Scratch {
  char* memory = nullptr;
  std::int64_t size = 0;
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(memory); }
};

// Turns are taken from a share of them by the thread whose share it is, from the front, and by threads that are done
// with theirs, from the back: so the programs of a thread follow one another, and find what the last one left.
class alignas(64) Share {
 public:
  void set(std::int64_t begin, std::int64_t end) { rest_ = pack(begin, end); }
  // The turn's number; -1: none is left.
  std::int64_t take(bool front) {
    std::uint64_t rest = rest_.load(std::memory_order_relaxed);
    while (true) {
      const auto begin = static_cast<std::int64_t>(rest >> 32), end = static_cast<std::int64_t>(rest & 0xffff'ffff);
      if (begin >= end) return -1;
      if (rest_.compare_exchange_weak(rest, front ? pack(begin + 1, end) : pack(begin, end - 1),
                                      std::memory_order_relaxed))
        return front ? begin : end - 1;
    }
  }

 private:
  static std::uint64_t pack(std::int64_t begin, std::int64_t end) {
    return static_cast<std::uint64_t>(begin) << 32 | static_cast<std::uint64_t>(end);
  }
  std::atomic<std::uint64_t> rest_ = 0;
};

constexpr std::int64_t kTurns = 16;  // of a share, at most

class Turns {
 public:
  Turns(const Grid& grid, const Argument* arguments, std::int64_t threads)
      : grid_(grid), arguments_(arguments), shares_(static_cast<std::size_t>(threads)) {
    const auto least = static_cast<std::int64_t>(std::ceil(kTurnCost / std::max(grid.program_cost, 1e-3)));
    programs_ = std::max({grid.programs / (kTurns * threads), least, std::int64_t{1}});
    const std::int64_t turns = (grid.programs + programs_ - 1) / programs_;
    for (std::int64_t i = 0; i < threads; ++i)
      shares_[static_cast<std::size_t>(i)].set(turns * i / threads, turns * (i + 1) / threads);
  }
  void take(std::size_t own) {
    char* const scratch = thread_scratch(grid_.scratch_bytes);
    for (std::size_t k = 0; k < shares_.size(); ++k)
      for (std::int64_t turn; (turn = shares_[(own + k) % shares_.size()].take(k == 0)) >= 0;)
        grid_.kernel(arguments_, turn * programs_, std::min((turn + 1) * programs_, grid_.programs), scratch);
  }

 private:
  const Grid& grid_;
  const Argument* arguments_;
  std::int64_t programs_ = 0;  // of a turn
  std::vector<Share> shares_;
};

void take_turns(void* turns, std::int64_t begin, std::int64_t end) {
  for (; begin < end; ++begin) static_cast<Turns*>(turns)->take(static_cast<std::size_t>(begin));
}

}  // namespace

char* thread_scratch(std::int64_t bytes) {
  thread_local Scratch scratch;
  if (bytes > scratch.size) {
    std::free(scratch.memory);
    scratch.size = (bytes + 4095) / 4096 * 4096;
    scratch.memory = static_cast<char*>(std::aligned_alloc(64, static_cast<std::size_t>(scratch.size)));
    if (scratch.memory == nullptr) std::abort();  // bounded where the kernel was built
  }
  if (bytes > 0) std::memset(scratch.memory, 0, static_cast<std::size_t>(std::min(bytes, kKeptBytes)));
  return scratch.memory;
}

void launch(Engine& engine, const Grid& grid, const Argument* arguments) {
  if (grid.programs == 0) return;
  const double cost = grid.program_cost * static_cast<double>(grid.programs);
  const std::int64_t threads =
      grid.one_thread || cost < kSerialBelow
          ? 1
          : std::min({std::int64_t{engine.threads()}, grid.programs, static_cast<std::int64_t>(cost / kShareCost)});
  if (threads == 1) return grid.kernel(arguments, 0, grid.programs, thread_scratch(grid.scratch_bytes));
  Turns turns(grid, arguments, threads);
  engine.parallel(threads, 1, take_turns, &turns);
}

}  // namespace passnet::tile_cpu

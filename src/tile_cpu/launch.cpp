#include "tile_cpu/launch.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>

namespace passnet::tile_cpu {

namespace {

// Waking torch's threads and waiting for them takes 5 to 10 µs, so less work than this stays on one.
constexpr double kSerialBelow = 20'000;  // nanoseconds
constexpr double kRangeCost = 10'000;    // nanoseconds: a thread gets at least this much

struct Scratch {
  char* memory = nullptr;
  std::int64_t size = 0;
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(memory); }
};

struct Context {
  const Grid& grid;
  const Argument* arguments;
};

void run_range(void* context, std::int64_t begin, std::int64_t end) {
  const Context& c = *static_cast<const Context*>(context);
  c.grid.kernel(c.arguments, begin, end, thread_scratch(c.grid.scratch_bytes));
}

// Programs that differ go, some at a time, to whichever thread has nothing to do.
constexpr std::int64_t kTurns = 16;  // of each thread

struct Turns {
  Context& context;
  std::int64_t programs = 0;  // of a turn
  std::atomic<std::int64_t> next = 0;
};

void take_turns(void* turns, std::int64_t, std::int64_t) {
  Turns& t = *static_cast<Turns*>(turns);
  const std::int64_t all = t.context.grid.programs;
  for (std::int64_t begin; (begin = t.next.fetch_add(t.programs, std::memory_order_relaxed)) < all;)
    run_range(&t.context, begin, std::min(begin + t.programs, all));
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
  return scratch.memory;
}

void launch(Engine& engine, const Grid& grid, const Argument* arguments) {
  if (grid.programs == 0) return;
  Context context{grid, arguments};
  if (grid.one_thread || grid.program_cost * static_cast<double>(grid.programs) < kSerialBelow) {
    run_range(&context, 0, grid.programs);
    return;
  }
  const auto grain = static_cast<std::int64_t>(std::ceil(kRangeCost / std::max(grid.program_cost, 1e-3)));
  if (!grid.uneven) return engine.parallel(grid.programs, grain, run_range, &context);
  const std::int64_t threads = engine.threads();
  Turns turns{context, std::max(grid.programs / (kTurns * threads), std::int64_t{1})};
  engine.parallel(std::min(threads, (grid.programs + grain - 1) / grain), 1, take_turns, &turns);
}

}  // namespace passnet::tile_cpu

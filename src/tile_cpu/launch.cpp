#include "tile_cpu/launch.h"

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
  engine.parallel(grid.programs, grain, run_range, &context);
}

}  // namespace passnet::tile_cpu

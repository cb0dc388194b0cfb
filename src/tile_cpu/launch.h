// Running a loaded kernel over its grid, on one thread or on torch's.
#pragma once

#include "exec/engine.h"
#include "tile_cpu/abi.h"

namespace passnet::tile_cpu {

struct Grid {
  Kernel kernel = nullptr;
  std::int64_t programs = 0;
  std::int64_t scratch_bytes = 0;
  double program_cost = 0;  // nanoseconds, estimated
  bool one_thread = false;
};

// All programs; returns when they are done.
void launch(Engine& engine, const Grid& grid, const Argument* arguments);

// Memory of this thread for a kernel's tiles, as the first range of a launch wants it; otherwise with what the last
// kernel left in it.
char* thread_scratch(std::int64_t bytes);

}  // namespace passnet::tile_cpu

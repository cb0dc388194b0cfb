// Which variant of an autotuned launch is the fastest: each is run a few times on copies of the memory that it writes.
#pragma once

#include <span>

#include "exec/engine.h"
#include "pass/kernel_build.h"
#include "tile_cpu/launch.h"

namespace passnet {

struct LaunchCandidate {
  std::size_t variant = 0;  // of the launch
  KernelSource source;
  tile_cpu::Grid grid;
};

// The number of the fastest. Measured once: the answer is kept on disk for the same sources on this machine.
std::size_t fastest(Engine& engine, std::span<LaunchCandidate> candidates, void* const* addresses);

}  // namespace passnet

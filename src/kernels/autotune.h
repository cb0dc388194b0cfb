// Which variant of an autotuned launch is the fastest: each is run a few times on copies of the memory that it writes.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "exec/engine.h"
#include "kernels/build.h"
#include "tile_cpu/launch.h"

namespace passnet {

// The memory that a kernel writes, by its number (LaunchFacts): from the first byte that a pointer reaches to the last.
struct Extent {
  char *low = nullptr, *high = nullptr;
  std::size_t bytes() const { return static_cast<std::size_t>(high - low); }
};
std::map<std::int32_t, Extent> written_extents(const KernelSource& source, void* const* addresses);

// The quickest of `count`: as it is kept on disk under `name`.choice, else as `measure` has it, which is then kept.
std::size_t quickest(std::size_t count, const std::string& name, const std::function<double(std::size_t)>& measure);

struct LaunchCandidate {
  std::size_t variant = 0;  // of the launch
  KernelSource source;
  tile_cpu::Grid grid;
};

// The number of the fastest. Measured once: the answer is kept on disk for the same sources on this machine.
std::size_t fastest(Engine& engine, std::span<LaunchCandidate> candidates, void* const* addresses);

}  // namespace passnet

// What is known of a launch before it runs. Kernels are compiled for exactly this.
#pragma once

#include <optional>
#include <vector>

#include "tile/ir.h"

namespace passnet::tile {

struct ParameterFacts {
  std::optional<std::int64_t> integer;  // an integer or bool argument's exact value; of a u64 its bits
  std::int32_t memory = -1;             // pointers: arguments of equal number may overlap in memory, others never do
  std::int64_t elements = 0;            // pointers: how many elements may be touched, counted from the pointer
  std::int64_t alignment = 1;           // pointers: a power of two that divides the address
};

struct LaunchFacts {
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::vector<ParameterFacts> parameters;  // as Function::parameters

  std::int64_t programs() const { return grid[0] * grid[1] * grid[2]; }
};

}  // namespace passnet::tile

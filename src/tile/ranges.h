// What integers can be: an interval for every integer value of a function, from the launch's facts.
#pragma once

#include <vector>

#include "tile/ir.h"
#include "tile/launch_facts.h"

namespace passnet::tile {

struct Range {
  std::int64_t lo = INT64_MIN, hi = INT64_MAX;  // both included; u64 beyond int64 counts as any
  bool may_wrap = true;                         // computed with a possible overflow of its type
};

// By value; floats and pointers have no meaning here.
std::vector<Range> ranges(const Function& function, const LaunchFacts& facts);

}  // namespace passnet::tile

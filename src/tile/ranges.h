// Interval analysis: what every integer value can be in a launch.
#pragma once

#include "tile/ir.h"
#include "tile/launch_facts.h"

namespace passnet::tile {

// Every element of the value lies in lo..hi, both included. Floats, pointers and u64 values that may pass the largest
// i64 have all of i64: nothing is known.
struct Range {
  std::int64_t lo = INT64_MIN;
  std::int64_t hi = INT64_MAX;
  bool may_wrap = false;  // the op's own result may have left its type and come back

  bool operator==(const Range&) const = default;
};

// All numbers of the type.
Range type_range(const Type& type);

// By value. The function is verified.
std::vector<Range> ranges(const Function& function, const LaunchFacts& facts);

}  // namespace passnet::tile

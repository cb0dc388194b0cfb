// What `passnet tile --args` gives: a kernel's arguments by name, in the user's spelling or in a launch plan's.
#pragma once

#include <set>

#include "host/launch_plan.h"
#include "host/value.h"

namespace passnet::cli {

// What a buffer holds before the kernel runs: random, arange, zeros, ones, full, empty; the last three by `value`.
struct BufferFill {
  std::string how = "random";
  HostValue value = HostValue::of(std::int64_t{0});
};

struct TileArguments {
  std::vector<LaunchArgument> arguments;  // a tuple's items behind it
  std::vector<Buffer> buffers;
  std::vector<std::string> names;  // by buffer: the kernel's parameter
  std::vector<BufferFill> fills;   // by buffer
  std::set<std::string> bare;      // arguments that are a word without quotes: a device function, or a string
};

// Throws Failure.
TileArguments read_tile_arguments(const std::string& text);

// A host value as a launch has it.
Scalar scalar_of(const HostValue& value);

}  // namespace passnet::cli

// The way of a kernel from lowered tile IR to C++, every stage in order, verified and shown.
#pragma once

#include <functional>

#include "tile_cpu/emit.h"

namespace passnet::tile_cpu {

// Called after each stage with its name (lowered, specialised, simplified, cpp or checked_cpp) and its text.
using StageDump = std::function<void(std::string_view stage, const std::string& text)>;

// `function` is what the front-end made or a text gave; it ends up simplified.
Result<Emitted> run_stages(tile::Function& function, const tile::LaunchFacts& facts, bool checked,
                           const StageDump& dump = {});

}  // namespace passnet::tile_cpu

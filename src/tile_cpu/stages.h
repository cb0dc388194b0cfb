// The way of a kernel from lowered tile IR to C++, every stage in order, verified and shown.
#pragma once

#include "tile/pipeline.h"
#include "tile_cpu/emit.h"

namespace passnet::tile_cpu {

using tile::StageDump;

// `function` is what the front-end made or a text gave; it ends up simplified. Stages as tile::prepare, then cpp,
// checked_cpp or followed_cpp.
Result<Emitted> run_stages(tile::Function& function, const tile::LaunchFacts& facts, Build build,
                           const StageDump& dump = {});

}  // namespace passnet::tile_cpu

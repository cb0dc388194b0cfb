// The way of a kernel from lowered tile IR to CUDA C++, every stage in order, verified and shown.
#pragma once

#include "tile/pipeline.h"
#include "tile_cuda/emit.h"

namespace passnet::tile_cuda {

// `function` is what the front-end made or a text gave; it ends up simplified. Stages as tile::prepare, then cu or
// checked_cu.
Result<Emitted> run_stages(tile::Function& function, const tile::LaunchFacts& facts, const Target& target,
                           const tile::StageDump& dump = {}, bool checked = false);

}  // namespace passnet::tile_cuda

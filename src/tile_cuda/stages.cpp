#include "tile_cuda/stages.h"

namespace passnet::tile_cuda {

Result<Emitted> run_stages(tile::Function& function, const tile::LaunchFacts& facts, const Target& target,
                           const tile::StageDump& dump) {
  if (auto right = tile::prepare(function, facts, dump); !right) return std::move(right.error());
  auto out = emit(function, facts, target);
  if (out && dump) dump("cu", out->source);
  return out;
}

}  // namespace passnet::tile_cuda

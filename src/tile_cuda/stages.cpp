#include "tile_cuda/stages.h"

namespace passnet::tile_cuda {

Result<Emitted> run_stages(tile::Function& function, const tile::LaunchFacts& facts, const Target& target,
                           const tile::StageDump& dump, bool checked) {
  if (auto right = tile::prepare(function, facts, dump); !right) return std::move(right.error());
  auto out = emit(function, facts, target, checked);
  if (out && dump) dump(checked ? "checked_cu" : "cu", out->source);
  return out;
}

}  // namespace passnet::tile_cuda

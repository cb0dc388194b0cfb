#include "tile_cpu/stages.h"

namespace passnet::tile_cpu {

Result<Emitted> run_stages(tile::Function& function, const tile::LaunchFacts& facts, bool checked,
                           const StageDump& dump) {
  if (auto right = tile::prepare(function, facts, dump); !right) return std::move(right.error());
  auto out = emit(function, facts, checked);
  if (out && dump) dump(checked ? "checked_cpp" : "cpp", out->source);
  return out;
}

}  // namespace passnet::tile_cpu

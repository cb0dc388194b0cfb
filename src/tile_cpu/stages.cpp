#include "tile_cpu/stages.h"

namespace passnet::tile_cpu {

constexpr std::string_view kStages[] = {"cpp", "checked_cpp", "followed_cpp"};  // by Build

Result<Emitted> run_stages(tile::Function& function, const tile::LaunchFacts& facts, Build build,
                           const StageDump& dump) {
  if (auto right = tile::prepare(function, facts, dump); !right) return std::move(right.error());
  auto out = emit(function, facts, build);
  if (out && dump) dump(kStages[static_cast<std::size_t>(build)], out->source);
  return out;
}

}  // namespace passnet::tile_cpu

#include "tile_cpu/stages.h"

#include <algorithm>

#include "tile/parts.h"

namespace passnet::tile_cpu {

namespace {

constexpr std::string_view kStages[] = {"cpp", "checked_cpp", "followed_cpp"};  // by Build

constexpr std::int64_t kEnough = 64;     // programs, for any number of threads
constexpr double kWorthwhile = 60'000;   // nanoseconds of all programs
constexpr double kLeastPart = 10'000;    // nanoseconds of a part
constexpr std::int32_t kNarrowest = 32;  // columns, or rows: a part of fewer does too little with what it loads
constexpr double kTwice = 1.1;           // what may be done by more than one part: a tenth

bool multiplies(const tile::Block& block) {
  return std::any_of(block.ops.begin(), block.ops.end(), [](const tile::Op& op) {
    return op.code == tile::Code::dot || std::any_of(op.blocks.begin(), op.blocks.end(), multiplies);
  });
}

// Few programs that multiply large tiles, as a GPU wants them, are more programs with parts of these tiles: as many as
// there are threads have something to do, and the same. How many does not depend on the threads that there are.
Result<Emitted> emit_fast(const tile::Function& function, const tile::LaunchFacts& facts) {
  auto whole = emit(function, facts);
  const std::int64_t programs = facts.programs();
  if (!whole || !multiplies(function.body)) return whole;
  const double all = whole->program_cost * static_cast<double>(programs);
  if (all < kWorthwhile) return whole;
  std::int32_t most = 1;
  while (programs * most * 2 <= kEnough && whole->program_cost >= kLeastPart * most * 2) most *= 2;
  for (std::int32_t count = most; count > 1; count /= 2)
    for (const auto of : {tile::PartsOf::columns, tile::PartsOf::rows}) {
      const auto part = tile::in_parts(function, facts, {count, of, kNarrowest});
      if (!part) continue;
      tile::LaunchFacts more = facts;
      more.grid[tile::kPartAxis] = count;
      auto out = emit(*part, more);
      if (!out || out->program_cost * static_cast<double>(out->programs) <= kTwice * all) return out;
    }
  return whole;
}

}  // namespace

Result<Emitted> run_stages(tile::Function& function, const tile::LaunchFacts& facts, Build build,
                           const StageDump& dump) {
  if (auto right = tile::prepare(function, facts, dump); !right) return std::move(right.error());
  auto out = build == Build::fast ? emit_fast(function, facts) : emit(function, facts, build);
  if (out && dump) dump(kStages[static_cast<std::size_t>(build)], out->source);
  return out;
}

}  // namespace passnet::tile_cpu

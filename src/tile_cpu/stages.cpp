#include "tile_cpu/stages.h"

#include <fmt/format.h>

#include "tile/stages.h"

namespace passnet::tile_cpu {

namespace {

// What is wrong after a stage of ours is our bug; before the first one it is the text's.
Result<std::monostate> verified(const tile::Function& function, std::string_view stage) {
  auto result = tile::verify(function);
  if (!result && !stage.empty()) {
    Error& e = result.error();
    e.code = Code::internal;
    e.message = fmt::format("{} broke the kernel's IR: {}", stage, e.message);
  }
  return result;
}

}  // namespace

Result<Emitted> run_stages(tile::Function& function, const tile::LaunchFacts& facts, bool checked,
                           const StageDump& dump) {
  const auto show = [&](std::string_view stage) {
    if (dump) dump(stage, tile::print(function));
  };
  show("lowered");
  if (auto right = verified(function, ""); !right) return std::move(right.error());
  tile::specialise(function, facts);
  show("specialised");
  if (auto right = verified(function, "specialise"); !right) return std::move(right.error());
  tile::simplify(function);
  tile::simplify_ranges(function, facts);
  show("simplified");
  if (auto right = verified(function, "simplify"); !right) return std::move(right.error());
  auto out = emit(function, facts, checked);
  if (out && dump) dump(checked ? "checked_cpp" : "cpp", out->source);
  return out;
}

}  // namespace passnet::tile_cpu

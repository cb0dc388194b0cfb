#include "tile_cpu/prelude.h"

#include "tile/prelude.h"

namespace passnet::tile_cpu {

namespace {

constexpr tile::PreludeText kTexts[] = {
#include "tile_cpu_prelude.inc"
};

// In this order; later ones use earlier ones.
constexpr tile::PreludePart kParts[] = {
    {"lanes.h", ""},  {"core.h", ""}, {"half.h", ""},    {"math.h", ""},         {"erf.h", "erf_("},
    {"memory.h", ""}, {"turn.h", ""}, {"dot.h", "dot<"}, {"checked.h", "hooks"}, {"atomic.h", "atomic_"},
};

}  // namespace

std::string prelude(std::string_view code, bool checked) {
  if (!checked) return tile::join_prelude(kTexts, kParts, code);
  return "#define HOOKED\n" + tile::join_prelude(kTexts, kParts, code, "checked.h");  // its types are in the signature
}

}  // namespace passnet::tile_cpu

#include "tile_cuda/prelude.h"

#include "tile/prelude.h"

namespace passnet::tile_cuda {

namespace {

constexpr tile::PreludeText kTexts[] = {
#include "tile_cuda_prelude.inc"
};

// In this order; later ones use earlier ones.
constexpr tile::PreludePart kParts[] = {
    {"core.cuh", ""},          {"math.cuh", ""},         {"pairs.cuh", "_pair"},
    {"memory.cuh", ""},        {"lanes.cuh", ""},        {"product.cuh", "product_"},
    {"atomic.cuh", "atomic_"}, {"checked.cuh", "check"},
};

}  // namespace

std::string prelude(std::string_view code) { return tile::join_prelude(kTexts, kParts, code); }

}  // namespace passnet::tile_cuda

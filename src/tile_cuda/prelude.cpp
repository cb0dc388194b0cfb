#include "tile_cuda/prelude.h"

namespace passnet::tile_cuda {

namespace {

struct Text {
  std::string_view name;
  std::string_view text;
};

constexpr Text kTexts[] = {
#include "tile_cuda_prelude.inc"
};

struct Part {
  std::string_view file;
  std::string_view word;  // in the code asks for it; none: always
};

// In this order; later ones use earlier ones.
constexpr Part kParts[] = {
    {"core.cuh", ""},          {"math.cuh", ""}, {"memory.cuh", ""}, {"lanes.cuh", ""}, {"product.cuh", "product_"},
    {"atomic.cuh", "atomic_"},
};

}  // namespace

std::string prelude(std::string_view code) {
  std::string out;
  for (const Part& part : kParts) {
    if (!part.word.empty() && code.find(part.word) == std::string_view::npos) continue;
    for (const Text& text : kTexts)
      if (text.name == part.file) out += text.text;
  }
  return out;
}

}  // namespace passnet::tile_cuda

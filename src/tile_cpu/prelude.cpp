#include "tile_cpu/prelude.h"

namespace passnet::tile_cpu {

namespace {

struct Text {
  std::string_view name;
  std::string_view text;
};

constexpr Text kTexts[] = {
#include "tile_cpu_prelude.inc"
};

struct Part {
  std::string_view file;
  std::string_view word;  // in the code asks for it; none: always
};

// In this order; later ones use earlier ones.
constexpr Part kParts[] = {
    {"core.h", ""},    {"half.h", ""},      {"math.h", ""},         {"memory.h", ""},
    {"dot.h", "dot<"}, {"turn.h", "turn<"}, {"checked.h", "hooks"}, {"atomic.h", "atomic_"},
};

}  // namespace

std::string prelude(std::string_view code, bool checked) {
  std::string out = checked ? "#define HOOKED\n" : "";
  for (const Part& part : kParts) {
    const bool needed = part.word.empty() || code.find(part.word) != std::string_view::npos;
    if (!needed && !(checked && part.file == "checked.h")) continue;  // its types are in the kernel's signature
    for (const Text& text : kTexts)
      if (text.name == part.file) out += text.text;
  }
  return out;
}

}  // namespace passnet::tile_cpu

// The text in front of a kernel that a back-end emits, put together from embedded files.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace passnet::tile {

struct PreludeText {  // a row of what passnet_embed makes
  std::string_view name;
  std::string_view text;
};

struct PreludePart {
  std::string_view file;
  std::string_view word;  // in the code asks for it; none: always
};

// The parts that `code` asks for, and `also`, in the order of the parts.
inline std::string join_prelude(std::span<const PreludeText> texts, std::span<const PreludePart> parts,
                                std::string_view code, std::string_view also = {}) {
  std::string out;
  for (const PreludePart& part : parts) {
    if (!part.word.empty() && part.file != also && code.find(part.word) == std::string_view::npos) continue;
    for (const PreludeText& text : texts)
      if (text.name == part.file) out += text.text;
  }
  return out;
}

}  // namespace passnet::tile

// The bytes of a source file before lexing: Python's line ends, and UTF-8 checked once so that nobody has to again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace passnet::py {

inline constexpr std::uint32_t kNotUtf8 = 0xffffffff;

// The code point at `at`, which moves past it; kNotUtf8 (and one byte of progress) where there is none.
inline std::uint32_t decode_utf8(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(at);
  const std::size_t begin = at++;
  if (lead < 0x80) return lead;
  const std::size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  if (lead < 0xc2 || lead > 0xf4 || begin + more >= text.size()) return kNotUtf8;
  std::uint32_t code = lead & (0x3fU >> more);
  for (std::size_t i = 1; i <= more; ++i) {
    if ((byte(begin + i) & 0xc0) != 0x80) return kNotUtf8;
    code = code << 6 | (byte(begin + i) & 0x3f);
  }
  constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};  // a longer spelling than needed is invalid
  if (code < kLeast[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return kNotUtf8;
  at = begin + more + 1;
  return code;
}

// The first byte that is NUL or not UTF-8, or the size.
inline std::size_t find_bad_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t eight = 0;
    if (at + sizeof eight <= text.size()) {
      std::memcpy(&eight, text.data() + at, sizeof eight);
      constexpr std::uint64_t kHigh = 0x8080808080808080, kOne = 0x0101010101010101;
      if (((eight | (eight - kOne)) & kHigh) == 0) {  // eight ASCII characters, none of them NUL
        at += sizeof eight;
        continue;
      }
    }
    const std::size_t begin = at;
    const std::uint32_t code = decode_utf8(text, at);
    if (code == 0 || code == kNotUtf8) return begin;
  }
  return text.size();
}

// Without a byte-order mark, and with every line end as '\n', inside strings too (as Python reads it).
inline std::string plain_source(std::string source) {
  if (source.starts_with("\xef\xbb\xbf")) source.erase(0, 3);
  std::size_t out = source.find('\r');
  if (out == std::string::npos) return source;
  for (std::size_t at = out; at < source.size(); ++at) {
    const bool pair = source[at] == '\r' && at + 1 < source.size() && source[at + 1] == '\n';
    source[out++] = source[at] == '\r' ? '\n' : source[at];
    at += pair ? 1 : 0;
  }
  source.resize(out);
  return source;
}

}  // namespace passnet::py

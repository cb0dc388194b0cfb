// Source text -> tokens, with Python's indentation, bracket and line-joining rules.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "py/ast.h"

namespace passnet::py {

enum class TokenKind : std::uint8_t { end, newline, indent, dedent, name, keyword, integer, real, imaginary, string, op };

struct Token {
  TokenKind kind = TokenKind::end;
  Place place;
  std::string_view text;  // as written; a string token includes prefix and quotes
};

inline constexpr std::size_t kLineLimit = std::size_t{8} << 20;  // bytes of one physical line
inline constexpr std::size_t kIndentLimit = 100;                 // nested blocks
inline constexpr std::size_t kBracketLimit = 200;                // nested brackets

// Throws Failure with the place of the first bad character. `begin` is where the text starts in its file (an f-string's
// field is lexed on its own, as one joined line).
std::vector<Token> lex(const Module& module, std::string_view text, Place begin, bool joined);

}  // namespace passnet::py

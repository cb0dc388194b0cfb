// Source text -> tokens, with Python's indentation, bracket and line-joining rules.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "py/ast.h"

namespace passnet::py {

enum class TokenKind : std::uint8_t {
  end,
  newline,
  indent,
  dedent,
  name,
  keyword,
  integer,
  real,
  imaginary,
  string,
  op
};

// Operators, longest first so that the first that fits is the token; then the keywords, sorted.
inline constexpr std::string_view kSymbols[] = {
    "**=",    "//=",   ">>=",      "<<=",   "...",  "!=",     "%=",       "&=",     "**",      "*=",    "+=",
    "-=",     "->",    "//",       "/=",    ":=",   "<<",     "<=",       "==",     ">=",      ">>",    "@=",
    "^=",     "|=",    "%",        "&",     "(",    ")",      "*",        "+",      ",",       "-",     ".",
    "/",      ":",     ";",        "<",     "=",    ">",      "@",        "[",      "]",       "^",     "{",
    "|",      "}",     "~",        "False", "None", "True",   "and",      "as",     "assert",  "async", "await",
    "break",  "class", "continue", "def",   "del",  "elif",   "else",     "except", "finally", "for",   "from",
    "global", "if",    "import",   "in",    "is",   "lambda", "nonlocal", "not",    "or",      "pass",  "raise",
    "return", "try",   "while",    "with",  "yield"};
inline constexpr std::size_t kKeywordBegin = 47;
static_assert(kSymbols[kKeywordBegin] == "False");

// An operator or keyword by number: written as text, compared as a byte. `Symbol("(")` is resolved by the compiler, and
// a text that is no symbol does not compile.
struct Symbol {
  std::uint8_t id = 0;  // 0 is no symbol

  constexpr Symbol() = default;
  consteval Symbol(const char* symbol) {  // NOLINT(google-explicit-constructor)
    while (kSymbols[id] != symbol) ++id;
    ++id;
  }
  static constexpr Symbol at(std::size_t index) {
    Symbol s;
    s.id = static_cast<std::uint8_t>(index + 1);
    return s;
  }
  std::string_view text() const { return id == 0 ? std::string_view() : kSymbols[id - 1]; }
  bool operator==(const Symbol&) const = default;
};
inline constexpr std::size_t kSymbolCount = std::size(kSymbols) + 1;

struct Token {
  TokenKind kind = TokenKind::end;
  Symbol symbol;  // of an operator or a keyword
  Place place;
  std::string_view text;  // as written; a string token includes prefix and quotes
};

inline constexpr std::size_t kLineLimit = std::size_t{8} << 20;  // bytes of one physical line
inline constexpr std::size_t kIndentLimit = 100;                 // nested blocks
inline constexpr std::size_t kBracketLimit = 200;                // nested brackets

// Throws Failure with the place of the first bad character. The text is valid UTF-8 with '\n' line ends (see
// Module::prepare). `begin` is where it starts in its file; an f-string's field is lexed on its own, as one joined
// line.
std::vector<Token> lex(const Module& module, std::string_view text, Place begin, bool joined);

}  // namespace passnet::py

#include "py/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "py/identifier_table.h"
#include "py/source_text.h"

namespace passnet::py {

namespace {

enum : std::uint8_t { kLetter = 1, kDigit = 2, kHex = 4, kBlank = 8 };
constexpr std::array<std::uint8_t, 256> kClass = [] {
  std::array<std::uint8_t, 256> t{};
  for (int c = 'a'; c <= 'z'; ++c) t[c] = t[c - 32] = kLetter;
  for (int c = 128; c < 256; ++c) t[c] = kLetter;  // checked by code point once the word is complete
  t['_'] = kLetter;
  for (int c = '0'; c <= '9'; ++c) t[c] = kDigit | kHex;
  for (int c = 'a'; c <= 'f'; ++c) t[c] = t[c - 32] = kLetter | kHex;
  t[' '] = t['\t'] = t['\f'] = kBlank;
  return t;
}();
bool is(char c, std::uint8_t what) { return (kClass[static_cast<unsigned char>(c)] & what) != 0; }

// The first symbol that begins with a character, and how many do: operators are few per character, keywords too.
struct SymbolRange {
  std::uint8_t begin = 0, end = 0;
};
constexpr std::array<SymbolRange, 128> kKeywordRange = [] {
  std::array<SymbolRange, 128> t{};
  for (std::size_t i = kKeywordBegin; i < std::size(kSymbols); ++i) {
    SymbolRange& r = t[static_cast<unsigned char>(kSymbols[i][0])];
    if (r.end == 0) r.begin = static_cast<std::uint8_t>(i);
    r.end = static_cast<std::uint8_t>(i + 1);
  }
  return t;
}();

Symbol keyword(std::string_view word) {
  const auto first = static_cast<unsigned char>(word[0]);
  if (first >= 128) return {};
  const SymbolRange range = kKeywordRange[first];
  for (std::size_t i = range.begin; i < range.end; ++i)
    if (kSymbols[i] == word) return Symbol::at(i);
  return {};
}

// Operators of one character that begin no longer one: most of the tokens of a file.
constexpr std::array<Symbol, 128> kSingle = [] {
  std::array<Symbol, 128> t{};
  for (const char c : {'(', ')', '[', ']', '{', '}', ',', ';', '~'})
    for (std::size_t i = 0; i < kKeywordBegin; ++i)
      if (kSymbols[i].size() == 1 && kSymbols[i][0] == c) t[static_cast<unsigned char>(c)] = Symbol::at(i);
  return t;
}();

bool is_prefix(std::string_view word) {  // of a string literal
  if (word.size() > 2) return false;
  const auto lower = [&](std::size_t i) { return i < word.size() ? static_cast<char>(word[i] | 0x20) : '\0'; };
  const char a = lower(0), b = lower(1);
  if (b == '\0') return a == 'r' || a == 'b' || a == 'u' || a == 'f';
  return (a == 'r' && (b == 'b' || b == 'f')) || (b == 'r' && (a == 'b' || a == 'f'));
}

bool in_names(std::uint32_t code) {
  const auto* end = std::end(kIdentifierRanges);
  const auto* range = std::lower_bound(std::begin(kIdentifierRanges), end, code,
                                       [](const auto& r, std::uint32_t c) { return r.second < c; });
  return range != end && range->first <= code;
}

class Lexer {
 public:
  Lexer(const Module& module, std::string_view text, Place begin, bool joined)
      : module_(module), text_(text), line_(begin.line), column_shift_(begin.column), joined_(joined) {
    tokens_.reserve(text.size() / 4 + 8);
  }

  std::vector<Token> run() {
    check_line();
    if (!joined_) indentation();
    while (at_ < text_.size()) step();
    if (!open_.empty()) error(open_.back().place, fmt::format("'{}' was never closed", open_.back().symbol));
    if (!joined_) {
      if (!tokens_.empty() && tokens_.back().kind != TokenKind::newline) push(TokenKind::newline, at_, 0);
      for (; !indents_.empty(); indents_.pop_back()) push(TokenKind::dedent, at_, 0);
    }
    push(TokenKind::end, at_, 0);
    return std::move(tokens_);
  }

 private:
  struct Indent {
    std::size_t width = 0;   // a tab goes to the next multiple of 8
    std::size_t narrow = 0;  // a tab is one: both have to agree, as in Python
  };
  struct Open {
    char symbol;
    Place place;
  };

  Place place(std::size_t at) const { return {line_, static_cast<std::uint32_t>(at - line_begin_) + column_shift_}; }

  [[noreturn]] void error(Place where, std::string message, Code code = Code::syntax,
                          std::vector<std::string> notes = {}) const {
    fail({code, module_.where(where), std::move(message), std::move(notes)});
  }

  void push(TokenKind kind, std::size_t begin, std::size_t size, Symbol symbol = {}) {
    tokens_.push_back({kind, symbol, place(begin), text_.substr(begin, size)});
  }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void new_line() {  // at_ is just past the '\n'
    ++line_;
    line_begin_ = at_;
    column_shift_ = 1;
    check_line();
  }
  void check_line() const {
    if (text_.size() - at_ <= kLineLimit) return;
    if (std::min(text_.find('\n', at_), text_.size()) - at_ > kLineLimit)
      error({line_, 1}, fmt::format("line longer than {} bytes; break it inside brackets", kLineLimit), Code::limit);
  }
  bool joins_line() const { return text_[at_] == '\\' && peek(1) == '\n'; }
  void join_line() {
    at_ += 2;
    new_line();
    if (at_ >= text_.size()) error({line_ - 1, 1}, "the file ends after a line-joining '\\'");
  }
  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  // At the start of a logical line: skips blank and comment lines, then compares the indentation.
  void indentation() {
    while (at_ < text_.size()) {
      Indent indent;
      while (is(peek(), kBlank) || (peek() == '\\' && joins_line())) {
        if (text_[at_] == '\\') {  // the first line alone says how far the statement is indented
          join_line();
          while (is(peek(), kBlank)) ++at_;
          continue;
        }
        if (text_[at_] == '\f')
          indent = {};
        else if (text_[at_] == '\t')
          indent = {(indent.width / 8 + 1) * 8, indent.narrow + 1};
        else
          ++indent.width, ++indent.narrow;
        ++at_;
      }
      if (peek() == '#') skip_comment();
      if (at_ >= text_.size()) return;
      if (text_[at_] == '\n') {
        ++at_;
        new_line();
        continue;
      }
      compare_indent(indent);
      return;
    }
  }

  void compare_indent(Indent indent) {
    const Indent current = indents_.empty() ? Indent{} : indents_.back();
    if (indent.width > current.width) {
      if (indents_.size() == kIndentLimit)
        error(place(at_), "blocks nested too deeply", Code::limit, {"move the inner blocks into a function"});
      if (indent.narrow <= current.narrow) mixed_tabs();
      indents_.push_back(indent);
      push(TokenKind::indent, at_, 0);
      return;
    }
    while (!indents_.empty() && indent.width < indents_.back().width) {
      indents_.pop_back();
      push(TokenKind::dedent, at_, 0);
    }
    const Indent outer = indents_.empty() ? Indent{} : indents_.back();
    if (indent.width != outer.width) error(place(at_), "this indentation matches no outer block");
    if (indent.narrow != outer.narrow) mixed_tabs();
  }
  [[noreturn]] void mixed_tabs() const {
    error(place(at_), "tabs and spaces are mixed in the indentation", Code::syntax, {"indent with spaces only"});
  }

  void step() {
    while (is(peek(), kBlank)) ++at_;
    if (at_ >= text_.size()) return;
    const char c = text_[at_];
    if (is(c, kLetter)) return word();
    if (is(c, kDigit) || (c == '.' && is(peek(1), kDigit))) return number();
    switch (c) {
      case '\n': return line_end();
      case '#': return skip_comment();
      case '"':
      case '\'': return string(at_);
      case '\\': return joins_line() ? join_line() : bad_character();
      default: return op();
    }
  }

  void line_end() {
    const std::size_t begin = at_++;
    if (joined_ || !open_.empty()) return new_line();
    push(TokenKind::newline, begin, 0);
    new_line();
    indentation();
  }

  void word() {
    const std::size_t begin = at_;
    bool ascii = true;
    for (; at_ < text_.size() && is(text_[at_], kLetter | kDigit); ++at_)
      ascii &= static_cast<signed char>(text_[at_]) >= 0;
    const std::string_view text = text_.substr(begin, at_ - begin);
    if ((peek() == '"' || peek() == '\'') && is_prefix(text)) return string(begin);
    if (!ascii) check_name(begin, at_);
    const Symbol symbol = keyword(text);
    push(symbol.id != 0 ? TokenKind::keyword : TokenKind::name, begin, text.size(), symbol);
  }
  void check_name(std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end;) {
      const std::size_t here = at;
      const std::uint32_t code = decode_utf8(text_, at);
      if (code < 0x80 || in_names(code)) continue;
      at_ = here;
      bad_character();
    }
  }

  void digits(std::uint8_t what) {
    while (is(peek(), what) || (peek() == '_' && is(peek(1), what))) ++at_;
  }

  void number() {
    const std::size_t begin = at_;
    TokenKind kind = TokenKind::integer;
    const char base = static_cast<char>(peek(1) | 0x20);
    if (text_[at_] == '0' && (base == 'x' || base == 'o' || base == 'b')) {
      at_ += 2;
      digits(base == 'x' ? kHex : kDigit);
      if (at_ - begin == 2) error(place(begin), "a number is missing its digits");
    } else {
      digits(kDigit);
      if (peek() == '.') {
        ++at_;
        if (is(peek(), kDigit)) digits(kDigit);
        kind = TokenKind::real;
      }
      if ((peek() | 0x20) == 'e' &&
          (is(peek(1), kDigit) || ((peek(1) == '+' || peek(1) == '-') && is(peek(2), kDigit)))) {
        at_ += 2;
        digits(kDigit);
        kind = TokenKind::real;
      }
      if ((peek() | 0x20) == 'j') {
        ++at_;
        kind = TokenKind::imaginary;
      }
    }
    if (is(peek(), kLetter | kDigit)) check_after_number(begin);
    push(kind, begin, at_ - begin);
  }
  // `1if x` is Python, `1abc` is not.
  void check_after_number(std::size_t begin) const {
    std::size_t end = at_;
    while (end < text_.size() && is(text_[end], kLetter | kDigit)) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    for (const std::string_view allowed : {"and", "else", "for", "if", "in", "is", "not", "or"})
      if (word == allowed) return;
    error(place(begin), "a letter directly after a number");
  }

  void string(std::size_t begin) {
    const Place where = place(begin);
    const char quote = text_[at_];
    const bool triple = peek(1) == quote && peek(2) == quote;
    at_ += triple ? 3 : 1;
    while (true) {
      if (at_ >= text_.size())
        error(where, triple ? "triple-quoted string was never closed" : "string was never closed");
      const char c = text_[at_];
      if (c == '\\') {
        at_ += 2;
        if (at_ <= text_.size() && text_[at_ - 1] == '\n') new_line();
      } else if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
        at_ += triple ? 3 : 1;
        break;
      } else if (c == '\n') {
        if (!triple) error(where, "string was never closed on its line");
        ++at_;
        new_line();
      } else {
        ++at_;
      }
    }
    tokens_.push_back({TokenKind::string, {}, where, text_.substr(begin, at_ - begin)});
  }

  void op() {
    const char c = text_[at_];
    if (const Symbol single = kSingle[static_cast<unsigned char>(c)]; single.id != 0) {
      push(TokenKind::op, at_, 1, single);
      bracket(c);
      ++at_;
      return;
    }
    const std::string_view rest = text_.substr(at_, 3);
    for (std::size_t i = 0; i < kKeywordBegin; ++i) {
      if (kSymbols[i][0] != c || !rest.starts_with(kSymbols[i])) continue;
      push(TokenKind::op, at_, kSymbols[i].size(), Symbol::at(i));
      at_ += kSymbols[i].size();
      return;
    }
    bad_character();
  }

  [[noreturn]] void bad_character() const {
    std::size_t end = at_;
    const std::uint32_t code = decode_utf8(text_, end);
    if (code == '\\') error(place(at_), "only a line end may follow a line-joining '\\'");
    if (code < 0x20 || code == 0x7f)
      error(place(at_), fmt::format("unexpected byte 0x{:02x}; is this a text file?", code));
    if (code == '!') error(place(at_), "unexpected character '!'", Code::syntax, {"write 'not x' or 'a != b'"});
    if (code == '`')
      error(place(at_), "unexpected character '`'", Code::syntax, {"leave out the lines of ``` around the code"});
    if (code < 0x80) error(place(at_), fmt::format("unexpected character '{}'", text_[at_]));
    error(place(at_), fmt::format("unexpected character '{}' (U+{:04X})", text_.substr(at_, end - at_), code),
          Code::syntax, {"names are letters, digits and '_'; quotes, dashes and spaces have to be the ASCII ones"});
  }

  void bracket(char c) {
    if (c == '(' || c == '[' || c == '{') {
      if (open_.size() == kBracketLimit)
        error(place(at_), "brackets nested too deeply", Code::limit,
              {"give an inner part a name, and use the name here"});
      open_.push_back({c, place(at_)});
    } else if (c == ')' || c == ']' || c == '}') {
      const char want = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open_.empty()) error(place(at_), fmt::format("unmatched '{}'", c));
      if (open_.back().symbol != want)
        error(place(at_),
              fmt::format("'{}' does not close the '{}' of line {}", c, open_.back().symbol, open_.back().place.line));
      open_.pop_back();
    }
  }

  const Module& module_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_;
  std::size_t line_begin_ = 0;
  std::uint32_t column_shift_;
  bool joined_;
  std::vector<Indent> indents_;
  std::vector<Open> open_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(const Module& module, std::string_view text, Place begin, bool joined) {
  return Lexer(module, text, begin, joined).run();
}

}  // namespace passnet::py

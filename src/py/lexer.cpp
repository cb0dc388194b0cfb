#include "py/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace passnet::py {

namespace {

constexpr std::array<std::string_view, 35> kKeywords = {
    "False", "None",   "True",   "and",    "as",    "assert", "async",  "await",    "break", "class",  "continue", "def",
    "del",   "elif",   "else",   "except", "finally", "for",  "from",   "global",   "if",    "import", "in",       "is",
    "lambda", "nonlocal", "not", "or",     "pass",  "raise",  "return", "try",      "while", "with",   "yield"};

bool is_keyword(std::string_view word) {
  return word.size() <= 8 && std::binary_search(kKeywords.begin(), kKeywords.end(), word);
}

// Longest first, so that the first that fits is the token.
constexpr std::string_view kOperators[] = {"**=", "//=", ">>=", "<<=", "...", "!=", "%=", "&=", "**", "*=", "+=", "-=",
                                           "->",  "//",  "/=",  ":=",  "<<",  "<=", "==", ">=", ">>", "@=", "^=", "|=",
                                           "%",   "&",   "(",   ")",   "*",   "+",  ",",  "-",  ".",  "/",  ":",  ";",
                                           "<",   "=",   ">",   "@",   "[",   "]",  "^",  "{",  "|",  "}",  "~"};

enum : std::uint8_t { kLetter = 1, kDigit = 2, kHex = 4 };
constexpr std::array<std::uint8_t, 256> kClass = [] {
  std::array<std::uint8_t, 256> t{};
  for (int c = 'a'; c <= 'z'; ++c) t[c] = t[c - 32] = kLetter;
  for (int c = 128; c < 256; ++c) t[c] = kLetter;  // identifiers in other scripts: taken as they are
  t['_'] = kLetter;
  for (int c = '0'; c <= '9'; ++c) t[c] = kDigit | kHex;
  for (int c = 'a'; c <= 'f'; ++c) t[c] = t[c - 32] = kLetter | kHex;
  return t;
}();
bool is(char c, std::uint8_t what) { return (kClass[static_cast<unsigned char>(c)] & what) != 0; }

class Lexer {
 public:
  Lexer(const Module& module, std::string_view text, Place begin, bool joined)
      : module_(module), text_(text), line_(begin.line), column_shift_(begin.column), depth_(joined ? 1 : 0), joined_(joined) {
    tokens_.reserve(text.size() / 3 + 8);
  }

  std::vector<Token> run() {
    check_line();
    if (!joined_) {
      if (text_.starts_with("\xef\xbb\xbf")) at_ = line_begin_ = 3;  // byte-order mark
      indentation();
    }
    while (at_ < text_.size()) step();
    if (depth_ > (joined_ ? 1U : 0U)) error(open_.back(), fmt::format("'{}' was never closed", text_of(open_.back())));
    if (!joined_) {
      if (!tokens_.empty() && tokens_.back().kind != TokenKind::newline) push(TokenKind::newline, at_, 0);
      for (; !indents_.empty(); indents_.pop_back()) push(TokenKind::dedent, at_, 0);
    }
    push(TokenKind::end, at_, 0);
    return std::move(tokens_);
  }

 private:
  Place place(std::size_t at) const { return {line_, static_cast<std::uint32_t>(at - line_begin_ + column_shift_)}; }

  [[noreturn]] void error(Place where, std::string message, Code code = Code::syntax) const {
    fail({code, module_.where(where), std::move(message), {}});
  }

  std::string_view text_of(Place where) const {
    for (const Token& t : tokens_)
      if (t.place.line == where.line && t.place.column == where.column) return t.text;
    return "(";
  }

  void push(TokenKind kind, std::size_t begin, std::size_t size) {
    tokens_.push_back({kind, place(begin), text_.substr(begin, size)});
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

  // At the start of a logical line: skips blank and comment lines, then compares the indentation.
  void indentation() {
    while (at_ < text_.size()) {
      std::size_t width = 0;
      for (; at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\f'); ++at_)
        width = text_[at_] == '\t' ? (width / 8 + 1) * 8 : text_[at_] == '\f' ? 0 : width + 1;
      if (peek() == '\r' && peek(1) == '\n') ++at_;
      if (peek() == '#')
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      if (at_ >= text_.size()) return;
      if (text_[at_] == '\n') {
        ++at_;
        new_line();
        continue;
      }
      compare_indent(width);
      return;
    }
  }

  void compare_indent(std::size_t width) {
    const std::size_t current = indents_.empty() ? 0 : indents_.back();
    if (width > current) {
      if (indents_.size() == kIndentLimit) error(place(at_), "blocks nested too deeply", Code::limit);
      indents_.push_back(width);
      push(TokenKind::indent, at_, 0);
      return;
    }
    while (!indents_.empty() && width < indents_.back()) {
      indents_.pop_back();
      push(TokenKind::dedent, at_, 0);
    }
    if (width != (indents_.empty() ? 0 : indents_.back()))
      error(place(at_), "this indentation matches no outer block");
  }

  void step() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\f') { ++at_; return; }
    if (c == '\n' || (c == '\r' && peek(1) == '\n')) {
      const std::size_t begin = at_;
      at_ += c == '\r' ? 2 : 1;
      if (depth_ == 0) {
        push(TokenKind::newline, begin, 0);
        new_line();
        indentation();
      } else {
        new_line();
      }
      return;
    }
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      return;
    }
    if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\n' ? 2 : 3;
      new_line();
      return;
    }
    if (is(c, kLetter)) return word();
    if (is(c, kDigit) || (c == '.' && is(peek(1), kDigit))) return number();
    if (c == '"' || c == '\'') return string(at_);
    op();
  }

  void word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is(text_[at_], kLetter | kDigit)) ++at_;
    const std::string_view text = text_.substr(begin, at_ - begin);
    if (text.size() <= 2 && (peek() == '"' || peek() == '\'') && text.find_first_not_of("rRbBuUfF") == std::string_view::npos)
      return string(begin);
    push(is_keyword(text) ? TokenKind::keyword : TokenKind::name, begin, text.size());
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
      digits(kHex);
      if (at_ - begin == 2) error(place(begin), "a number is missing its digits");
    } else {
      digits(kDigit);
      if (peek() == '.') {
        ++at_;
        digits(kDigit);
        kind = TokenKind::real;
      }
      if ((peek() | 0x20) == 'e' && (is(peek(1), kDigit) || ((peek(1) == '+' || peek(1) == '-') && is(peek(2), kDigit)))) {
        at_ += 2;
        digits(kDigit);
        kind = TokenKind::real;
      }
      if ((peek() | 0x20) == 'j') {
        ++at_;
        kind = TokenKind::imaginary;
      }
    }
    // `1if x` is Python, `1abc` is not.
    if (is(peek(), kLetter | kDigit)) {
      std::size_t end = at_;
      while (end < text_.size() && is(text_[end], kLetter | kDigit)) ++end;
      if (!is_keyword(text_.substr(at_, end - at_))) error(place(begin), "a letter directly after a number");
    }
    push(kind, begin, at_ - begin);
  }

  void string(std::size_t begin) {
    const Place where = place(begin);
    const char quote = text_[at_];
    const bool triple = peek(1) == quote && peek(2) == quote;
    at_ += triple ? 3 : 1;
    while (true) {
      if (at_ >= text_.size()) error(where, triple ? "triple-quoted string was never closed" : "string was never closed");
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
    tokens_.push_back({TokenKind::string, where, text_.substr(begin, at_ - begin)});
  }

  void op() {
    const char c = text_[at_];
    if (c == '(' || c == ')' || c == ',' || c == '[' || c == ']' || (c == '=' && peek(1) != '=')) {  // most tokens
      push(TokenKind::op, at_, 1);
      bracket(c);
      ++at_;
      return;
    }
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view candidate : kOperators) {
      if (!rest.starts_with(candidate)) continue;
      push(TokenKind::op, at_, candidate.size());
      if (candidate.size() == 1) bracket(candidate[0]);
      at_ += candidate.size();
      return;
    }
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte < 0x20 || byte == 0x7f) error(place(at_), fmt::format("unexpected byte 0x{:02x}; is this a text file?", byte));
    error(place(at_), fmt::format("unexpected character '{}'", text_[at_]));
  }

  void bracket(char c) {
    if (c == '(' || c == '[' || c == '{') {
      if (open_.size() == kBracketLimit) error(place(at_), "brackets nested too deeply", Code::limit);
      open_.push_back(place(at_));
      kinds_.push_back(c);
      ++depth_;
    } else if (c == ')' || c == ']' || c == '}') {
      const char want = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open_.empty()) error(place(at_), fmt::format("unmatched '{}'", c));
      if (kinds_.back() != want)
        error(place(at_), fmt::format("'{}' does not close the '{}' of line {}", c, kinds_.back(), open_.back().line));
      open_.pop_back();
      kinds_.pop_back();
      --depth_;
    }
  }

  const Module& module_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_;
  std::size_t line_begin_ = 0;
  std::uint32_t column_shift_;
  std::size_t depth_;
  bool joined_;
  std::vector<std::size_t> indents_;
  std::vector<Place> open_;
  std::vector<char> kinds_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(const Module& module, std::string_view text, Place begin, bool joined) {
  return Lexer(module, text, begin, joined).run();
}

}  // namespace passnet::py

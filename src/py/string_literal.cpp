#include "py/string_literal.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "py/arithmetic.h"
#include "py/expression_parser.h"

namespace passnet::py {

StringLiteral split_string(std::string_view token) {
  StringLiteral out;
  std::size_t at = 0;
  for (; token[at] != '"' && token[at] != '\''; ++at) {
    const char c = static_cast<char>(token[at] | 0x20);
    out.raw |= c == 'r';
    out.bytes |= c == 'b';
    out.formatted |= c == 'f';
  }
  const char quote = token[at];
  const std::size_t width = token.size() >= at + 6 && token[at + 1] == quote && token[at + 2] == quote ? 3 : 1;
  out.content = token.substr(at + width, token.size() - at - 2 * width);
  return out;
}

namespace {

void append_utf8(std::uint32_t c, std::string& out) {
  const auto byte = [&](std::uint32_t b) { out += static_cast<char>(b); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) return byte(0xc0 | c >> 6), byte(0x80 | (c & 0x3f));
  if (c < 0x10000) return byte(0xe0 | c >> 12), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f));
  byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 0x3f)), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

void append_string(const StringLiteral& literal, std::string_view piece, const BadString& bad, std::string& out) {
  if (literal.raw || piece.find('\\') == std::string_view::npos) {
    out += piece;
    return;
  }
  for (std::size_t at = 0; at < piece.size(); ++at) {
    if (piece[at] != '\\' || at + 1 == piece.size()) {
      out += piece[at];
      continue;
    }
    const char c = piece[++at];
    const auto hex = [&](int digits) {
      std::uint32_t code = 0;
      for (int i = 0; i < digits; ++i) {
        const int d = at + 1 < piece.size() ? hex_digit(piece[at + 1]) : -1;
        if (d < 0) bad(Code::syntax, "a \\x, \\u or \\U escape is too short", "write \\xhh, \\uhhhh or \\Uhhhhhhhh");
        code = code << 4 | static_cast<std::uint32_t>(d);
        ++at;
      }
      if (code > 0x10ffff) bad(Code::syntax, "a \\U escape is out of range", "the largest is \\U0010ffff");
      if (code >= 0xd800 && code < 0xe000)
        bad(Code::unsupported, "half a surrogate pair is not supported", "write the character, or \\U and its number");
      append_utf8(code, out);
    };
    switch (c) {
      case '\n': break;  // a joined line
      case '\\':
      case '\'':
      case '"': out += c; break;
      case 'a': out += '\a'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'v': out += '\v'; break;
      case 'x': hex(2); break;
      case 'u': hex(4); break;
      case 'U': hex(8); break;
      case 'N':
        bad(Code::unsupported, "a named character (\\N{...}) is not supported", "write the character or \\u");
        break;
      default:
        if (c >= '0' && c <= '7') {
          std::uint32_t code = static_cast<std::uint32_t>(c - '0');
          for (int i = 0; i < 2 && at + 1 < piece.size() && piece[at + 1] >= '0' && piece[at + 1] <= '7'; ++i)
            code = code * 8 + static_cast<std::uint32_t>(piece[++at] - '0');
          append_utf8(code, out);
        } else {
          out += {'\\', c};  // unknown escapes stay as written
        }
    }
  }
}

std::size_t field_end(std::string_view content, std::size_t at, const BadString& bad) {
  const auto char_at = [&](std::size_t i) { return i < content.size() ? content[i] : '\0'; };
  std::vector<std::size_t> open;  // brackets
  std::size_t quotes = 0;         // 1 or 3 inside a string
  char quote = 0;
  for (; at < content.size(); ++at) {
    const char c = content[at];
    if (c == '\\')
      bad(Code::unsupported, "a backslash inside a field is not supported", "give the text a name before the f-string");
    if (c == quote && quotes != 0) {
      if (quotes == 3 && (char_at(at + 1) != c || char_at(at + 2) != c)) continue;
      at += quotes - 1;
      quotes = 0;
    } else if (quotes != 0) {
      continue;
    } else if (c == '\'' || c == '"') {
      quote = c;
      quotes = char_at(at + 1) == c && char_at(at + 2) == c ? 3 : 1;
      at += quotes - 1;
    } else if (c == '#') {
      bad(Code::syntax, "a field cannot hold a '#'", "");
    } else if (c == '(' || c == '[' || c == '{') {
      open.push_back(at);
    } else if (!open.empty()) {
      if (c == ')' || c == ']' || c == '}') open.pop_back();  // whether it is the right one, the parser says
    } else if ((c == '!' || c == '=' || c == '<' || c == '>') && char_at(at + 1) == '=') {
      ++at;  // a comparison
    } else if (c == '}' || c == ':' || c == '!' || c == '=') {
      return at;
    } else if (c == ')' || c == ']') {
      bad(Code::syntax, std::string("unmatched '") + c + "'", "");
    }
  }
  if (quotes != 0)
    bad(Code::syntax, "a string inside a field was never closed", "inside a field use the other kind of quotes");
  if (!open.empty()) bad(Code::syntax, std::string("'") + content[open.back()] + "' was never closed", "");
  bad(Code::syntax, "'{' was never closed", "inside a field use the other kind of quotes; a plain brace is '{{'");
  return at;
}

// ---- the parser's literals

std::string_view ExpressionParser::without_underscores(std::string_view text) {
  if (text.find('_') == std::string_view::npos) return text;
  std::string out;
  for (const char c : text)
    if (c != '_') out += c;
  return keep_text(out);
}

const Expr* ExpressionParser::integer(const Token& t, bool negative) {
  const std::string_view text = without_underscores(t.text);
  const int base = literal_base(text);
  const std::string_view digits = text.substr(base == 10 ? 0 : 2);
  if (base == 10 && digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of('0') != std::string_view::npos)
    error(t.place, "an integer does not start with 0; octal is 0o...");
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (code == std::errc::invalid_argument || end != digits.data() + digits.size())
    error(t.place, fmt::format("not a number: '{}'", shortened(t.text)));
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const bool big = code == std::errc::result_out_of_range || value > kLargest + (negative ? 1 : 0);
  Expr* e = expr(big ? ExprKind::big_integer : ExprKind::integer, t.place);
  e->text = big ? text : t.text;
  if (!big) e->integer = static_cast<std::int64_t>(negative ? 0 - value : value);
  return e;
}

const Expr* ExpressionParser::real(const Token& t, ExprKind kind) {
  std::string_view text = without_underscores(t.text);
  if (kind == ExprKind::imaginary) text.remove_suffix(1);
  Expr* e = expr(kind, t.place);
  e->text = t.text;
  e->real = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), e->real);
  if (code == std::errc::result_out_of_range)
    e->real = std::strtod(std::string(text).c_str(), nullptr);  // inf or 0, as Python
  else if (code != std::errc() || end != text.data() + text.size())
    error(t.place, fmt::format("not a number: '{}'", shortened(t.text)));
  return e;
}

// The pieces of a string under construction: plain text gathers until a field or the end.
struct ExpressionParser::Pieces {
  std::vector<const Expr*> parts;
  std::string plain;
};

// An f-string token being taken apart, and the place in the file of the last character looked at.
struct ExpressionParser::Formatted {
  const StringLiteral& literal;
  const BadString& bad;
  const char* seen;
  Place place;

  Place place_of(const char* at) {  // moves forward only, so that a token is read once
    for (; seen < at; ++seen) {
      if (*seen == '\n')
        place = {place.line + 1, 1};
      else
        ++place.column;
    }
    return place;
  }
};

void ExpressionParser::flush(Pieces& pieces, Place place) {
  if (pieces.plain.empty()) return;
  Expr* e = expr(ExprKind::string, place);
  e->text = keep_text(pieces.plain);
  pieces.parts.push_back(e);
  pieces.plain.clear();
}

const Expr* ExpressionParser::strings() {
  const Place place = now().place;
  Pieces pieces;
  bool formatted = false;
  std::string_view as_written;  // one plain literal: the source has its text already
  while (now().kind == TokenKind::string) {
    const Token& t = next();
    const StringLiteral literal = split_string(t.text);
    if (literal.bytes) unsupported(t.place, "a bytes literal", "write a plain string");
    if (!literal.formatted && !literal.raw && literal.content.find('\\') != std::string_view::npos) {
      const BadString bad = [&](Code code, std::string message, std::string note) {
        error(t.place, std::move(message), code,
              note.empty() ? std::vector<std::string>() : std::vector{std::move(note)});
      };
      append_string(literal, literal.content, bad, pieces.plain);
    } else if (!literal.formatted) {
      if (pieces.plain.empty() && !formatted && now().kind != TokenKind::string)
        as_written = literal.content;
      else
        pieces.plain += literal.content;
    } else {
      formatted = true;
      Formatted* reading = nullptr;
      const BadString bad = [&](Code code, std::string message, std::string note) {
        error(reading->place, "f-string: " + std::move(message), code,
              note.empty() ? std::vector<std::string>() : std::vector{std::move(note)});
      };
      Formatted f{literal, bad, t.text.data(), t.place};
      reading = &f;
      format_parts(f, 0, pieces, 0);
    }
  }
  if (formatted) {
    flush(pieces, place);
    return expr_of(ExprKind::fstring, place, pieces.parts);
  }
  Expr* e = expr(ExprKind::string, place);
  e->text = as_written.data() != nullptr ? as_written : keep_text(pieces.plain);
  return e;
}

// Reads up to the content's end or, in a format (level > 0), up to its '}'; gives where it stopped.
std::size_t ExpressionParser::format_parts(Formatted& f, std::size_t at, Pieces& pieces, int level) {
  const std::string_view content = f.literal.content;
  while (at < content.size()) {
    const char c = content[at];
    if (c == '{' || c == '}') f.place_of(content.data() + at);
    if (level == 0 && (c == '{' || c == '}') && at + 1 < content.size() && content[at + 1] == c) {
      pieces.plain += c;
      at += 2;
    } else if (c == '}') {
      if (level > 0) return at;
      f.bad(Code::syntax, "a single '}' is not allowed; write '}}'", "");
    } else if (c == '{') {
      at = format_field(f, at + 1, pieces, level);
    } else {
      const std::size_t end = std::min(content.find_first_of("{}", at), content.size());
      append_string(f.literal, content.substr(at, end - at), f.bad, pieces.plain);
      at = end;
    }
  }
  if (level > 0) f.bad(Code::syntax, "'{' was never closed", "");
  return at;
}

std::size_t ExpressionParser::format_field(Formatted& f, std::size_t at, Pieces& pieces, int level) {
  if (level >= 2) f.bad(Code::syntax, "fields nested too deeply", "a format may hold fields, whose formats may not");
  const std::string_view content = f.literal.content;
  const std::size_t begin = at;
  at = field_end(content, at, f.bad);
  const std::string_view text = content.substr(begin, at - begin);
  if (text.find_first_not_of(" \t\n\f") == std::string_view::npos) f.bad(Code::syntax, "an empty field", "");
  const Place place = f.place_of(text.data());
  const Expr* value = ExpressionParser(module_, text, place, true, depth_ + 1).run_field();
  const bool shows_source = content[at] == '=';
  if (shows_source) {  // f"{x = }" is f"x = {x!r}"
    do ++at;
    while (at < content.size() && std::string_view(" \t\n\f").find(content[at]) != std::string_view::npos);
    pieces.plain += content.substr(begin, at - begin);
  }
  flush(pieces, place);
  std::string_view conversion;
  if (at < content.size() && content[at] == '!') {
    conversion = content.substr(at + 1, 1);
    if (conversion != "r" && conversion != "s" && conversion != "a")
      f.bad(Code::syntax, "a conversion is !r, !s or !a", "");
    at += 2;
  }
  Expr* e = nullptr;
  if (at < content.size() && content[at] == ':') {
    Pieces format;
    at = format_parts(f, at + 1, format, level + 1);
    flush(format, place);
    e = expr_of(ExprKind::field, place, value, expr_of(ExprKind::fstring, place, format.parts));
  } else {
    e = expr_of(ExprKind::field, place, value);
    if (shows_source && conversion.empty()) conversion = "r";
  }
  e->text = conversion;
  if (at >= content.size()) f.bad(Code::syntax, "'{' was never closed", "");
  if (content[at] != '}') f.bad(Code::syntax, "expected '}' at the end of a field", "");
  pieces.parts.push_back(e);
  return at + 1;
}

}  // namespace passnet::py

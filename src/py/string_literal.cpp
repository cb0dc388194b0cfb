#include "py/string_literal.h"

#include <cstdint>

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
        if (d < 0) bad("a \\x, \\u or \\U escape is too short");
        code = code << 4 | static_cast<std::uint32_t>(d);
        ++at;
      }
      if (code > 0x10ffff) bad("a \\U escape is out of range");
      append_utf8(code, out);
    };
    switch (c) {
      case '\n': break;  // a joined line
      case '\\': case '\'': case '"': out += c; break;
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
      case 'N': bad("named characters (\\N{...}) are not supported; write the character or \\u");  break;
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

FieldSplit split_field(std::string_view text, const BadString& bad) {
  FieldSplit out;
  std::size_t at = 1, depth = 0, expression_end = 0;
  char quote = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (depth > 0 && (c == ')' || c == ']' || c == '}')) {
      --depth;
    } else if (depth == 0 && (c == '}' || c == ':' || (c == '!' && at + 1 < text.size() && text[at + 1] != '='))) {
      break;
    } else if (c == '!' || ((c == '=' || c == '<' || c == '>') && at + 1 < text.size() && text[at + 1] == '=')) {
      ++at;  // a comparison, not the end of the expression
    }
  }
  if (at >= text.size()) bad("'{' was never closed");
  expression_end = at;
  out.expression = text.substr(1, expression_end - 1);
  const std::size_t last = out.expression.find_last_not_of(" \t");
  if (last == std::string_view::npos) bad("an empty field");
  if (out.expression[last] == '=' && (last == 0 || std::string_view("=!<>").find(out.expression[last - 1]) == std::string_view::npos)) {
    out.shows_source = true;
    out.source_label = out.expression;
    out.expression = out.expression.substr(0, last);
  }
  if (text[at] == '!') {
    out.conversion = text.substr(at + 1, 1);
    if (out.conversion != "r" && out.conversion != "s" && out.conversion != "a") bad("a conversion is !r, !s or !a");
    at += 2;
    if (at >= text.size() || (text[at] != ':' && text[at] != '}')) bad("expected ':' or '}' after the conversion");
  }
  if (text[at] == ':') {
    const std::size_t begin = ++at;
    for (depth = 0; at < text.size() && (depth > 0 || text[at] != '}'); ++at) {
      if (text[at] == '{') ++depth;
      else if (text[at] == '}') --depth;
    }
    if (at >= text.size()) bad("'{' was never closed");
    out.has_format = true;
    out.format = text.substr(begin, at - begin);
  }
  out.size = at + 1;
  return out;
}

}  // namespace passnet::py

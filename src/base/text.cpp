#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace passnet {

std::string_view text_trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const auto begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::vector<std::string_view> text_split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const auto at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> text_lines(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return {};
  return text_split(text, '\n');
}

std::string text_join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string text_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string python_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  // Python shows an exponent where the decimal point would be more than 16 places right or 4 left of the first digit.
  const double magnitude = std::fabs(value);
  const bool plain = value == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr;
  std::string out(buffer, end);
  if (plain && out.find('.') == std::string::npos) out += ".0";
  return out;
}

namespace {

// Decodes one UTF-8 sequence at `at`; advances past it. Invalid bytes give U+FFFD and one byte of progress.
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const int more = lead < 0x80             ? 0
                   : (lead & 0xe0) == 0xc0 ? 1
                   : (lead & 0xf0) == 0xe0 ? 2
                   : (lead & 0xf8) == 0xf0 ? 3
                                           : -1;
  std::uint32_t code = more == 0 ? lead : more < 0 ? 0 : lead & (0x3f >> more);
  bool valid = more >= 0 && at + static_cast<std::size_t>(more) < text.size();
  for (int i = 1; valid && i <= more; ++i) {
    valid = (byte(at + i) & 0xc0) == 0x80;
    code = code << 6 | (byte(at + i) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};  // shorter forms exist below
  valid = valid && code >= kLeast[more] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  at += valid ? static_cast<std::size_t>(more) + 1 : 1;
  return valid ? code : 0xfffd;
}

}  // namespace

std::size_t text_character_size(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  next_code_point(text, at);
  return at - begin;
}

bool text_acts(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte >= 0x80 && text_character_size(text, at) == 1) return true;
  const std::uint32_t c = next_code_point(text, at);
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

std::string text_printable(std::string_view text, char instead) {
  std::string out;
  for (std::size_t i = 0, size = 0; i < text.size(); i += size) {
    size = text_character_size(text, i);
    out += text_acts(text, i) ? std::string_view(&instead, 1) : text.substr(i, size);
  }
  return out;
}

std::string python_string(std::string_view text) {
  const char quote = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == quote || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (u < 0x20 || u == 0x7f)
      out += fmt::format("\\x{:02x}", u);
    else
      out += c;
  }
  return out + quote;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t c = next_code_point(text, at);
    if (c == '"' || c == '\\')
      out += {'\\', static_cast<char>(c)};
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\b')
      out += "\\b";
    else if (c == '\f')
      out += "\\f";
    else if (c >= 0x20 && c < 0x7f)
      out += static_cast<char>(c);
    else if (c < 0x10000)
      out += fmt::format("\\u{:04x}", c);
    else
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
  }
  return out + '"';
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t up = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = up;
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> text_nearest(std::string_view name, std::span<const std::string_view> known,
                                      std::size_t count) {
  constexpr std::size_t kLongest = 120;
  if (name.size() < 2 || name.size() > kLongest) return {};
  const std::size_t bound = std::max<std::size_t>(1, name.size() / 3);
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const std::string_view candidate : known) {
    const std::size_t gap =
        candidate.size() > name.size() ? candidate.size() - name.size() : name.size() - candidate.size();
    if (gap > bound) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance <= bound) found.emplace_back(distance, candidate);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<std::string> out;
  for (const auto& [distance, candidate] : found) {
    if (out.size() == count) break;
    out.emplace_back(candidate);
  }
  return out;
}

}  // namespace passnet

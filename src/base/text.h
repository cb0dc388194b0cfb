// Small text tools: splitting, Python's spelling of literals, and nearest names for error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace passnet {

std::string_view text_trim(std::string_view text);
std::vector<std::string_view> text_lines(std::string_view text);
std::vector<std::string_view> text_split(std::string_view text, char separator);
std::string text_join(std::span<const std::string> parts, std::string_view separator);
std::string text_lower(std::string_view text);  // of ASCII's letters

// The bytes of the UTF-8 character at `at`; 1 where the bytes are no character.
std::size_t text_character_size(std::string_view text, std::size_t at);

// Whether a terminal, or whoever splits a text into lines, would act on the character at `at`, or cannot show it:
// control characters, separators of lines, marks of direction, bytes that are no UTF-8.
bool text_acts(std::string_view text, std::size_t at);
// For a terminal or a table: such characters are dots, so that text of others cannot act on the screen.
std::string text_printable(std::string_view text, char instead = '.');

// repr() of a float: the shortest digits that read back, always with '.', 'e', 'inf' or 'nan' in it.
std::string python_float(double value);
// repr() of a str.
std::string python_string(std::string_view text);
// json.dumps() of a str (ASCII only; invalid UTF-8 becomes U+FFFD).
std::string json_string(std::string_view text);

// The best of `known` within a third of the name's length, nearest first, at most `count`.
std::vector<std::string> text_nearest(std::string_view name, std::span<const std::string_view> known,
                                      std::size_t count = 3);

}  // namespace passnet

// The inside of a string token: prefix and quotes off, escapes decoded, the end of an f-string's field found.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace passnet::py {

struct StringLiteral {
  std::string_view content;
  bool raw = false;
  bool bytes = false;
  bool formatted = false;
};
StringLiteral split_string(std::string_view token);

using BadString = std::function<void(Code code, std::string message, std::string note)>;  // throws

// Appends `piece` of the literal with its escapes decoded.
void append_string(const StringLiteral& literal, std::string_view piece, const BadString& bad, std::string& out);

// Where the expression of a field that begins at `at` ends: the index of its '=', '!', ':' or '}'.
std::size_t field_end(std::string_view content, std::size_t at, const BadString& bad);

}  // namespace passnet::py

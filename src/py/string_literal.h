// The inside of a string token: prefix and quotes off, escapes decoded, an f-string's field taken apart.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace passnet::py {

struct StringLiteral {
  std::string_view content;
  bool raw = false;
  bool bytes = false;
  bool formatted = false;
};
StringLiteral split_string(std::string_view token);

using BadString = std::function<void(std::string)>;  // throws

// Appends `piece` of the literal with its escapes decoded.
void append_string(const StringLiteral& literal, std::string_view piece, const BadString& bad, std::string& out);

struct FieldSplit {  // {expression [=] [!conversion] [:format]}
  std::string_view expression;
  std::string_view source_label;  // "x=" where the field shows its source
  std::string_view conversion;
  std::string_view format;
  bool has_format = false;
  bool shows_source = false;
  std::size_t size = 0;  // bytes from '{' to past '}'
};
FieldSplit split_field(std::string_view text, const BadString& bad);

}  // namespace passnet::py

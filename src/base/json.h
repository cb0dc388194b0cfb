// JSON from outside: whatever it is, it becomes a value of bounded depth or none. Values are copied, compared and
// printed recursively, so a depth without bound would be a way to end this process.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace passnet {

using Json = nlohmann::ordered_json;

inline constexpr int kJsonDepth = 64;

// is_discarded(): not JSON, or nested deeper than kJsonDepth. Kind: Json, or nlohmann::json, whose keys are sorted.
template <class Kind = Json>
Kind json_read(std::string_view text);
// On one line; bytes that are no UTF-8 are replaced.
std::string json_text(const Json& json);

}  // namespace passnet

#include "base/json.h"

namespace passnet {

namespace {

// Of brackets outside strings; of what is no JSON whatever comes out.
bool is_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if ((c == '[' || c == '{') && ++depth > kJsonDepth) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

}  // namespace

template <class Kind>
Kind json_read(std::string_view text) {
  if (is_deep(text)) return Kind(Kind::value_t::discarded);
  return Kind::parse(text, nullptr, /*allow_exceptions=*/false);
}
template Json json_read(std::string_view text);
template nlohmann::json json_read(std::string_view text);

std::string json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace passnet

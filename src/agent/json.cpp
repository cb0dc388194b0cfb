#include "agent/json.h"

namespace passnet::agent {

Json json_read(std::string_view text) {
  bool deep = false;
  Json out = Json::parse(
      text,
      [&](int depth, Json::parse_event_t, Json&) {
        deep = deep || depth > kJsonDepth;
        return depth <= kJsonDepth;
      },
      /*allow_exceptions=*/false);
  return deep ? Json(Json::value_t::discarded) : out;
}

std::string json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace passnet::agent

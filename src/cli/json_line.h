// JSON as every command prints it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace passnet::cli {

// On one line. Names of files may be any bytes: those that are no UTF-8 are replaced.
template <class Json>
std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace passnet::cli

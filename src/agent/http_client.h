// One POST to an HTTP endpoint: bounded in time and size, given up when asked to.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace passnet::agent {

struct HttpRequest {
  std::string url, body;
  std::vector<std::string> headers;  // "Name: value"
  double seconds = 600;
  std::function<bool()> cancelled = [] { return false; };
};

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  bool whole = true;  // false: the connection ended inside the body
};

inline constexpr std::size_t kAnswerLimit = std::size_t{64} << 20;

// An error: no answer at all, or one that is too large. Proxies are as the environment says (http_proxy, no_proxy).
Result<HttpAnswer> http_post(const HttpRequest& request);

}  // namespace passnet::agent

#include "agent/retry.h"

#include <curl/curl.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace passnet::agent {

namespace {

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double out = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(out)) return std::nullopt;
  return out;
}

}  // namespace

bool retry_worth(int status, const Headers& headers) {
  if (const auto at = headers.find("x-should-retry"); at != headers.end()) {
    if (at->second == "true") return true;
    if (at->second == "false") return false;
  }
  return status == 408 || status == 409 || status == 429 || status >= 500;
}

std::optional<double> retry_asked(const Headers& headers, std::time_t now) {
  if (const auto at = headers.find("retry-after-ms"); at != headers.end())
    if (const auto ms = number(at->second)) return *ms / 1000;
  const auto at = headers.find("retry-after");
  if (at == headers.end()) return std::nullopt;
  if (const auto seconds = number(at->second)) return *seconds;
  const std::time_t date = curl_getdate(at->second.c_str(), nullptr);
  if (date == -1) return std::nullopt;
  return std::difftime(date, now);
}

double retry_delay(int tries, const Headers& headers, std::time_t now, double random) {
  const auto asked = retry_asked(headers, now);
  if (asked && *asked > 0 && *asked <= kRetryAskedMost) return *asked;
  const double base = std::min(kRetryMost, kRetryFirst * std::pow(2.0, std::clamp(tries - 1, 0, 30)));
  return base * (1 - 0.25 * random);
}

}  // namespace passnet::agent

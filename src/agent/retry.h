// When a failed call is tried again, and how long to wait before: as the official clients do it.
#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>

namespace passnet::agent {

using Headers = std::map<std::string, std::string>;  // names in lower case

// 408, 409, 429 and 500 up are worth another try; `x-should-retry` overrides.
bool retry_worth(int status, const Headers& headers);

// What the server asks for, in seconds: `retry-after-ms`, `retry-after` as a number or as an HTTP date. None: nothing,
// or nothing sensible.
std::optional<double> retry_asked(const Headers& headers, std::time_t now);

inline constexpr double kRetryFirst = 0.5, kRetryMost = 8;  // seconds, doubled each time
inline constexpr double kRetryAskedMost = 60;               // what a server may ask for; more is not waited for
// `tries`: how many were made. `random` in 0..1 takes up to a quarter off, so that clients do not come back together.
double retry_delay(int tries, const Headers& headers, std::time_t now, double random);

}  // namespace passnet::agent

// What numbers on the command line may be.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <string>

namespace passnet::cli {

// CLI11's own takes NaN for a number that is positive.
inline const CLI::Validator kPositive(
    [](std::string& text) {
      double value = 0;
      return CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value > 0
                 ? std::string()
                 : "a number above 0 is wanted, not " + text;
    },
    "POSITIVE");
// Not below 0; a minus in front of what has no sign would be a large number.
inline const CLI::Validator kNatural(
    [](std::string& text) {
      std::uint64_t value = 0;
      const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
      return code == std::errc() && end == text.data() + text.size()
                 ? std::string()
                 : "a whole number from 0 to 18446744073709551615 is wanted, not " + text;
    },
    "NATURAL");
// Of real numbers; CLI11's own takes NaN for one of them.
inline CLI::Validator between(double low, double high) {
  return {[=](std::string& text) {
            double value = 0;
            return CLI::detail::lexical_cast(text, value) && value >= low && value <= high
                       ? std::string()
                       : fmt::format("a number from {} to {} is wanted, not {}", low, high, text);
          },
          fmt::format("FLOAT in [{} - {}]", low, high)};
}

}  // namespace passnet::cli

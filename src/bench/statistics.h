// What a set of timings says: the middle, the spread, and how sure one can be of both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace passnet {

struct Summary {
  std::size_t count = 0;
  double median = 0, iqr = 0, mean = 0, std = 0, min = 0, max = 0;
  double low = 0, high = 0;  // 95 % confidence interval of the median, by bootstrap

  double noise() const { return median > 0 ? iqr / median : 0; }
};
Summary summarise(std::span<const double> samples);

// A quotient of medians with its 95 % confidence interval.
struct Ratio {
  double value = 0, low = 0, high = 0;
  bool within_noise() const { return low <= 1 && 1 <= high; }
};
// How many times faster `compiled` is. Samples are pairs: the i-th of both were taken one after the other, so what
// disturbs the machine disturbs both; pairs are drawn together.
Ratio speedup(std::span<const double> eager, std::span<const double> compiled);

// The q-quantile with linear interpolation, as numpy's default.
double quantile(std::span<const double> sorted, double q);

}  // namespace passnet

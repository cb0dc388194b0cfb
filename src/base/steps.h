// Elements in memory, some steps apart along each of several dimensions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace passnet {

using Dimensions = std::vector<std::pair<std::int64_t, std::int64_t>>;  // steps and sizes; a size of 1 takes no step

// With steps of no sign, the shortest first.
inline Dimensions sorted_steps(Dimensions dimensions) {
  for (auto& [step, size] : dimensions) step = step < 0 ? -step : step;
  std::sort(dimensions.begin(), dimensions.end());
  return dimensions;
}

// Whether no two of them lie in one place, for sure: a step along a dimension leads past all that lies inside it.
inline bool steps_apart(Dimensions dimensions) {
  dimensions = sorted_steps(std::move(dimensions));
  std::int64_t furthest = 0;
  for (const auto& [step, size] : dimensions) {
    if (size <= 1) continue;
    if (step <= furthest) return false;
    furthest += step * (size - 1);
  }
  return true;
}

// Whether some element may lie `distance` from another: where it is the sum of fewer steps along each dimension than
// its size, or that would take long to find out. Of sorted steps.
inline bool steps_reach(std::span<const std::pair<std::int64_t, std::int64_t>> dimensions, std::int64_t distance,
                        int& left) {
  if (dimensions.empty()) return distance == 0;
  if (--left < 0) return true;
  const auto [step, size] = dimensions.back();
  const auto inner = dimensions.first(dimensions.size() - 1);
  if (step == 0 || size <= 1) return steps_reach(inner, distance, left);
  std::int64_t rest = 0;
  for (const auto& [s, n] : inner) rest += s * (n - 1);
  const std::int64_t first = std::max(-(size - 1), (distance - rest) / step - 1);
  for (std::int64_t k = first; k < size && step * k <= distance + rest; ++k)
    if (steps_reach(inner, distance - step * k, left)) return true;
  return false;
}

}  // namespace passnet

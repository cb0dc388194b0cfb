// Elements in memory, some steps apart along each of several dimensions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace passnet {

// Whether no two of them lie in one place, for sure: a step along a dimension leads past all that lies inside it. Pairs
// of a step and a size; a size of 1 takes no step.
inline bool steps_apart(std::vector<std::pair<std::int64_t, std::int64_t>> dimensions) {
  for (auto& [step, size] : dimensions) step = step < 0 ? -step : step;
  std::sort(dimensions.begin(), dimensions.end());
  std::int64_t furthest = 0;
  for (const auto& [step, size] : dimensions) {
    if (size <= 1) continue;
    if (step <= furthest) return false;
    furthest += step * (size - 1);
  }
  return true;
}

}  // namespace passnet

#include "bench/draws.h"

#include <cmath>

namespace passnet {

namespace {
constexpr double kSpreads[] = {1, 4};
constexpr double kReplayFactor = 0.2;  // replay scales the standard deviation by it (docs/graphs.md)
}  // namespace

std::vector<Draw> check_draws(std::uint64_t seed, int extra, std::uint64_t candidate) {
  std::vector<Draw> out = {{seed, 1, true}};
  for (int i = 0; i < extra; ++i)
    out.push_back(
        {seed + candidate + 1 + static_cast<std::uint64_t>(i), kSpreads[static_cast<std::size_t>(i) % 2], false});
  return out;
}

std::vector<TensorMeta> spread_metas(const std::vector<TensorMeta>& metas, double spread) {
  std::vector<TensorMeta> out = metas;
  for (TensorMeta& meta : out) {
    if (meta.data || !dtype_row(meta.dtype).floating) continue;
    const double mean = meta.mean.value_or(0), std = meta.std.value_or(0.1);
    if (std == 0) {
      meta.std = (mean == 0 ? 1 : std::fabs(mean)) * 0.1 / kReplayFactor;
      if (meta.min_val && meta.max_val && meta.min_val->real == meta.max_val->real) meta.min_val = meta.max_val = {};
    } else {
      meta.std = std * spread;
    }
  }
  return out;
}

}  // namespace passnet

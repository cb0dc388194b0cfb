// The inputs on which a candidate is checked: as recorded, and drawn again with other seeds and spreads.
#pragma once

#include <cstdint>
#include <vector>

#include "fx/meta.h"

namespace passnet {

struct Draw {
  std::uint64_t seed;
  double spread;  // times the recorded standard deviation
  bool recorded;  // exactly as the metas say
};
// The recorded one first. A spread above the recorded one asks for more than the same error on the same numbers. The
// seeds of the others come from `seed` and the candidate's own text, so that no candidate can hold their answers.
std::vector<Draw> check_draws(std::uint64_t seed, int extra, std::uint64_t candidate);

// Metas whose replay is spread `spread` times as far. A constant tensor (std 0) gets a tenth of its value as spread, so
// that an answer that does not depend on it is found out.
std::vector<TensorMeta> spread_metas(const std::vector<TensorMeta>& metas, double spread);

}  // namespace passnet

#include "exec/aten/fill.h"

#include <cmath>
#include <numbers>

#include "exec/aten/fill_loops.h"

namespace passnet {

namespace {

void normal(float* x, std::int64_t count) {
  constexpr std::int64_t kHalf = 8;
  for (std::int64_t i = 0; i < count; i += 2 * kHalf)
    for (float *one = x + i, *end = one + kHalf; one < end; ++one) {
      const float radius = std::sqrt(-2 * std::log(1 - *one));
      const auto angle = static_cast<float>(2 * std::numbers::pi * one[kHalf]);
      one[0] = radius * std::cos(angle) + 0.0F;
      one[kHalf] = radius * std::sin(angle) + 0.0F;
    }
}

}  // namespace

const FillLoops kPlainLoops = {twist, uniform, normal, finish, quick};

const FillLoops& fill_loops() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kAvx2Loops;
#endif
  return kPlainLoops;
}

}  // namespace passnet

// The loops of fill.h, for the file that includes this to build with its own flags.
#pragma once

#include "exec/aten/fill.h"

namespace passnet {

namespace {

constexpr std::int64_t kState = 624, kMiddle = 397;  // of an mt19937

inline std::uint32_t twisted(std::uint32_t u, std::uint32_t v) {
  return (((u & 0x80000000U) | (v & 0x7fffffffU)) >> 1) ^ ((v & 1U) != 0 ? 0x9908b0dfU : 0U);
}

void twist(std::uint32_t* state) {
  for (std::int64_t i = 0; i < kState - kMiddle; ++i) state[i] = state[i + kMiddle] ^ twisted(state[i], state[i + 1]);
  for (std::int64_t i = kState - kMiddle; i < kState - 1; ++i)
    state[i] = state[i + kMiddle - kState] ^ twisted(state[i], state[i + 1]);
  state[kState - 1] = state[kMiddle - 1] ^ twisted(state[kState - 1], state[0]);
}

void uniform(const std::uint32_t* state, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t y = state[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    y ^= y >> 18;
    to[i] = static_cast<float>(static_cast<std::int32_t>(y & 0xffffffU)) * 0x1p-24F;
  }
}

void finish(float* x, std::int64_t count, const Finish& f) {
  const Finish own = f;
  for (std::int64_t i = 0; i < count; ++i)
    x[i] = limited(limited(x[i] * own.a * own.b + own.c, own.low, own.high), own.least, own.most);
}

void quick(float* to, std::int64_t begin, std::int64_t end, const QuickNormals& q) {
  const QuickNormals own = q;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::uint32_t a = mixed(static_cast<std::uint32_t>(i) + own.one),
                        b = mixed(static_cast<std::uint32_t>(i) ^ own.other);
    const auto sum = static_cast<std::int32_t>((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16));
    to[i] = limited(static_cast<float>(sum - 2 * 0xffff) * own.scale + own.shift, own.low, own.high);
  }
}

}  // namespace

}  // namespace passnet

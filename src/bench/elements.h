// Tensors' elements as numbers, a whole tensor at a time: types, blocks for threads, the order in memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "exec/engine.h"

namespace passnet {

// Element types as they lie in memory, and how torch rounds what it computes in them. Nothing here branches on an
// element's value, so that loops over elements become vectors (files that have such are compiled without traps for
// that). Bits are compared as signed numbers: vectors have no other comparison.
using FloatBits = std::int32_t;
inline constexpr FloatBits kSignBit = std::numeric_limits<FloatBits>::min(), kInfinityBits = 0x7f800000;

struct Half {
  std::uint16_t bits;
  using Compute = float;
  float value() const {
    const FloatBits b = bits, sign = (b & 0x8000) << 16, rest = (b & 0x7fff) << 13;
    const FloatBits finite = std::bit_cast<FloatBits>(std::bit_cast<float>(rest) * 0x1p112F);
    return std::bit_cast<float>(sign | (rest >= 0xf800000 ? kInfinityBits | rest : finite));
  }
  static float round(float f) {
    const FloatBits b = std::bit_cast<FloatBits>(f), sign = b & kSignBit, rest = b & ~kSignBit;
    // the unit of 0.75 is that of a half's smallest numbers
    const FloatBits small = std::bit_cast<FloatBits>((f + 0.75F) - 0.75F);
    const FloatBits large = (rest + 0xfff + (rest >> 13 & 1)) & ~0x1fff;
    const FloatBits normal = sign | (large > 0x477fe000 ? kInfinityBits : large);  // over 65504
    const FloatBits number = rest < 0x38800000 ? small : normal;                   // under 2^-14
    return std::bit_cast<float>(rest > kInfinityBits ? b : number);
  }
};
struct Brain {
  std::uint16_t bits;
  using Compute = float;
  float value() const { return std::bit_cast<float>(static_cast<FloatBits>(bits) << 16); }
  static float round(float f) {
    const FloatBits b = std::bit_cast<FloatBits>(f), rest = b & ~kSignBit;
    const FloatBits number = (b & kSignBit) | ((rest + 0x7fff + (rest >> 16 & 1)) & ~0xffff);
    return std::bit_cast<float>(rest > kInfinityBits ? b : number);
  }
};
template <class T>
struct Plain {
  T number;
  using Compute = T;
  T value() const { return number; }
  static T round(T v) { return v; }
};

// Calls `of` with an element of the dtype's kind; false where there is none: complex, float8.
template <class F>
bool with_element(Dtype dtype, F of) {
  switch (dtype) {
    case Dtype::float32: return of(Plain<float>{}), true;
    case Dtype::float64: return of(Plain<double>{}), true;
    case Dtype::float16: return of(Half{}), true;
    case Dtype::bfloat16: return of(Brain{}), true;
    case Dtype::int64: return of(Plain<std::int64_t>{}), true;
    case Dtype::int32: return of(Plain<std::int32_t>{}), true;
    case Dtype::int16: return of(Plain<std::int16_t>{}), true;
    case Dtype::int8: return of(Plain<std::int8_t>{}), true;
    case Dtype::uint8:
    case Dtype::boolean: return of(Plain<std::uint8_t>{}), true;
    case Dtype::uint16: return of(Plain<std::uint16_t>{}), true;
    case Dtype::uint32: return of(Plain<std::uint32_t>{}), true;
    case Dtype::uint64: return of(Plain<std::uint64_t>{}), true;
    default: return false;
  }
}

inline constexpr std::int64_t kElementBlock = std::int64_t{1} << 16;  // elements that one thread looks at

// What `find` says of each block of elements, looked at by the engine's threads if there is an engine. Put together in
// this order it does not depend on their number.
template <class T, class F>
std::vector<T> by_blocks(std::int64_t n, Engine* engine, F find) {
  std::vector<T> out(static_cast<std::size_t>((n + kElementBlock - 1) / kElementBlock));
  auto look = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t block = first; block < last; ++block)
      find(out[static_cast<std::size_t>(block)], block * kElementBlock, std::min(n, (block + 1) * kElementBlock));
  };
  const auto count = static_cast<std::int64_t>(out.size());
  if (engine == nullptr || count < 2) {
    look(0, count);
  } else {
    const Engine::Range range = [](void* context, std::int64_t first, std::int64_t last) {
      (*static_cast<decltype(look)*>(context))(first, last);
    };
    engine->parallel(count, 1, range, &look);
  }
  return out;
}

// A tensor's dimensions in the order in which `like`, of the same shape, has them in memory: dense but permuted tensors
// (channels last) are then read as they lie, without a copy.
class MemoryOrder {
 public:
  explicit MemoryOrder(const TensorRef& like);
  Result<TensorRef> flat(const TensorRef& t, Engine& engine) const;
  // The number of an element in the tensor's own order.
  std::int64_t own_number(std::int64_t number, const TensorRef& t) const;

 private:
  std::vector<std::size_t> dims_;
};

}  // namespace passnet

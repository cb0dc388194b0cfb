// Loops that make many numbers. They are built more than once, for processors with other vectors, and give the same
// bits on each.
#pragma once

#include <cstdint>

namespace passnet {

constexpr std::int64_t kFillGrain = 1 << 15;  // numbers that are worth a thread

// Static, since the linker would take one file's code for all.
static inline std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  return x ^ x >> 16;
}
// NaN stays.
static inline float limited(float x, float low, float high) {
  const float raised = x < low ? low : x;
  return raised > high ? high : raised;
}

// Nearly normal numbers, each from its place alone: four uniform ones of 16 bits added.
struct QuickNormals {
  std::uint32_t one, other;  // decide the numbers
  float scale, shift;
  float low, high;
};

// x * a * b + c, within both pairs of bounds.
struct Finish {
  float a, b, c;
  float low, high, least, most;
};

struct FillLoops {
  // The next 624 numbers of an mt19937, in place of the last ones.
  void (*twist)(std::uint32_t* state);
  // Uniform numbers in [0, 1) of a generator's numbers, as torch makes them.
  void (*uniform)(const std::uint32_t* state, float* to, std::int64_t count);
  // Normal ones of uniform ones, 16 of 16 at a time, by the steps that torch takes on this processor.
  void (*normal)(float* x, std::int64_t count);
  void (*finish)(float* x, std::int64_t count, const Finish& f);
  void (*quick)(float* to, std::int64_t begin, std::int64_t end, const QuickNormals& q);
};

extern const FillLoops kPlainLoops;
#ifdef __x86_64__
extern const FillLoops kAvx2Loops;
void normal_avx2(float* x, std::int64_t count);
#endif
const FillLoops& fill_loops();  // for this processor

}  // namespace passnet

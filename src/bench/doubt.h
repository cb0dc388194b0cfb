// Beyond tolerances: what eager's own answer leaves open, and answers that nobody computed.
#pragma once

#include <optional>
#include <vector>

#include "bench/correctness.h"

namespace passnet {

// How much of an answer's difference is explained by how eager's own answer moves when its inputs do, by as much as a
// step of arithmetic may round: a sum that cancels moves far, an index of the largest jumps.
struct Doubt {
  std::int64_t elements = 0;
  std::int64_t unexplained = 0;  // that differ by more than a tolerance and some times what such elements moved by
  std::int64_t usual = 0;        // eager's own, by another move: there is no more to ask of anyone
  std::int64_t broken = 0;       // no finite numbers, where eager's are whatever moves
  bool explains() const;
  // So much is in doubt that a wrong answer may be among it.
  bool is_broad() const;
};
// `moved`: eager's answers to inputs that were moved, three times. Nothing where they have other shapes.
Result<std::optional<Doubt>> doubt_of(const RunValue& expected, const RunValue& got,
                                      const std::vector<const RunValue*>& moved, Tolerance tolerance, Engine& engine);

// How far an answer is from the exact one, in float64, beside what eager's own is off by: there, or at most elements
// beside it.
struct Exactness {
  std::int64_t elements = 0;
  std::int64_t further = 0;         // that are further off than eager's, and a tolerance
  std::int64_t outliers = 0;        // than several times that
  std::int64_t lost = 0;            // than many times that: no order of summation does it
  double eager = 0, candidate = 0;  // sums of the distances
  // Where all elements together are no further off than eager's, single ones may be several times that.
  bool is_as_exact() const { return further == 0 || (outliers == 0 && candidate <= eager); }
  // What was computed is another, simpler function: some single elements may be on another side of a jump.
  bool is_sloppy() const;
};
// Where the exact answer has another dtype or shape, nothing is as exact, and nothing sloppy.
Result<Exactness> exactness_of(const RunValue& exact, const TensorRef& expected, const TensorRef& got,
                               Tolerance tolerance, Engine& engine);

// The numbers of a tensor on the whole.
struct Typical {
  double mean = 0, size = 0, deviation = 0;  // size: the mean of |x|, deviation: of |x - mean|
};
Result<Typical> typical_of(const TensorRef& tensor, Engine& engine);
// Whether one number everywhere, zero or the mean, would be about as near to what is expected: so many elements are off
// by such a part of what that would be, and by more than some roundings.
struct AsConstant {
  int one_of = 4;
  double part = 0.5;
};
inline constexpr AsConstant kNearlyConstant = {64, 0.125};
Result<bool> is_as_constant(const TensorRef& expected, const Typical& typical, const TensorRef& got,
                            const AsConstant& limits, Engine& engine);

}  // namespace passnet

// How near a graph's outputs are to eager's: the sweep over tolerances t = -10..5 and the differences.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "exec/engine.h"

namespace passnet {

inline constexpr int kTightest = -10;
inline constexpr int kLoosest = 5;
inline constexpr int kNever = kLoosest + 1;  // right at no t

struct Tolerance {
  double rtol, atol;
};
// Floating dtypes have a law, how tolerances grow with t; outputs of any other dtype must be equal.
inline constexpr std::size_t kLaws = 4;
inline constexpr std::array<Dtype, kLaws> kLawDtypes = {Dtype::float16, Dtype::bfloat16, Dtype::float32,
                                                        Dtype::float64};
std::optional<std::size_t> law_of(Dtype dtype);
Tolerance tolerance(std::size_t law, int t);  // rounded to three digits

// One output. Right at t means torch.allclose(got, expected, rtol, atol), computed as torch does, in the outputs' own
// dtype; so a NaN is never right, not even where eager has one.
struct OutputComparison {
  std::string name;    // for people: "output 0"
  std::string inputs;  // for people: on which it was computed; empty: the recorded ones
  std::vector<std::int64_t> shape;
  Dtype dtype = Dtype::float32;  // eager's
  int tightest_t = kTightest;    // right at this t and all looser ones by its dtype's law; kNever: at none
  std::array<int, kLaws> by_law = {kTightest, kTightest, kTightest, kTightest};  // the same by every law
  bool equal = true;                                                             // every element
  double max_diff = 0;  // of elements that are not equal; NaN where one of them is
  double mean_diff = 0;
  std::int64_t wrong = 0;  // elements that are not right at t = -5
  std::int64_t worst =
      0;  // the furthest beyond its tolerance where some are wrong, else of the largest difference; row-major
  double worst_expected = 0, worst_got = 0;
  std::int64_t elements = 0;
  bool constant = false;  // some number, everywhere, would be as near: right at no t
};

// What an output is, on both sides; a dtype's name, or that of a Python type.
struct OutputTypes {
  std::string expected_dtype, got_dtype;
  std::vector<std::int64_t> expected_shape, got_shape;
};

struct Comparison {
  enum class Outcome : std::uint8_t { compared, shape_mismatch, type_mismatch } outcome = Outcome::compared;
  std::string why;                 // of a mismatch
  std::vector<OutputTypes> types;  // one each, as many as the side with more has
  std::vector<OutputComparison> outputs;

  int tightest_t() const;  // the loosest of the outputs'
  double max_diff() const;
  bool right_at(int t) const { return outcome == Outcome::compared && tightest_t() <= t; }
};

// `atol_scale`: how many times larger than recorded the inputs were, and so may be the absolute error.
Result<Comparison> compare(const RunValue& expected, const RunValue& got, Engine& engine, double atol_scale = 1);

// How much of an answer's difference is explained by how eager's own answer moves when its inputs do, by as much as a
// step of arithmetic may round: a sum that cancels moves far, an index of the largest jumps.
struct Doubt {
  std::int64_t elements = 0;
  std::int64_t unexplained = 0;  // that differ by more than a tolerance and some times what such elements moved by
  std::int64_t usual = 0;        // eager's own, by another move: there is no more to ask of anyone
  bool explains() const;
  // So much is in doubt that a wrong answer may be among it.
  bool is_broad() const;
};
// `moved`: eager's answers to inputs that were moved, three times. Nothing where they have other shapes.
Result<std::optional<Doubt>> doubt_of(const RunValue& expected, const RunValue& got,
                                      const std::vector<const RunValue*>& moved, Tolerance tolerance, Engine& engine);

// The numbers of a tensor on the whole.
struct Typical {
  double mean = 0, size = 0, deviation = 0;  // size: the mean of |x|, deviation: of |x - mean|
};
Result<Typical> typical_of(const TensorRef& tensor, Engine& engine);
// Whether one number everywhere, zero or the mean, would be about as near to what is expected: a quarter of all
// elements is off by half of what that would be, and by more than some roundings.
Result<bool> is_as_constant(const TensorRef& expected, const Typical& typical, const TensorRef& got, Engine& engine);

// What is wrong with an output, in words.
std::string wrong_text(const OutputComparison& o);

// The values that a result holds, lists opened, in order.
std::vector<const RunValue*> leaves(const RunValue& value);
// Whether no number in it is a NaN or infinite.
Result<bool> all_finite(const RunValue& value, Engine& engine);

// Whether two tensors have one shape and the same bits.
Result<bool> equal_bytes(const TensorRef& a, const TensorRef& b, Engine& engine);

// `count` elements of one dtype, side by side; by the engine's threads, if one is given.
OutputComparison compare(Dtype dtype, const void* expected, const void* got, std::int64_t count, double atol_scale = 1,
                         Engine* engine = nullptr);
// Two tensors of one shape and dtype.
Result<OutputComparison> compare(const TensorRef& expected, const TensorRef& got, Engine& engine,
                                 double atol_scale = 1);

}  // namespace passnet

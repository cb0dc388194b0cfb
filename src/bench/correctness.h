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
  // The furthest beyond its tolerance where some are wrong, else of the largest difference; row-major.
  std::int64_t worst = 0;
  double worst_expected = 0, worst_got = 0;
  std::int64_t elements = 0;
  bool constant = false;  // some number, everywhere, would be as near: right at no t
  bool sloppy = false;    // many times as far from the answer in float64 as eager's
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

// The worse of both, output by output.
void merge(Comparison& into, const Comparison& from);

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

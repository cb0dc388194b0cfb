// What counts of an answer to inputs that nobody recorded. Tolerances alone do not do there: far out errors are larger
// than they allow for, and where outputs are small they allow for no answer at all.
#pragma once

#include <vector>

#include "bench/cases.h"

namespace passnet {

class CaseJudge {
 public:
  // `at`: what is called correct is right at this t.
  CaseJudge(CaseSource& source, Engine& engine, int at) : source_(source), engine_(engine), at_(at) {}

  // Other draws are there to find answers that do not compute; what a last bit decides there is not held against
  // anyone. But where the recorded inputs are flat, they are all there is to say how exact an answer is; and what is
  // wrong at the t that is asked for by no last bits, but by what is left out far from the recorded numbers, stays so.
  void loosen(Case& c, Comparison& comparison, const RunValue& got, const std::vector<TensorRef>& got_inputs);
  // Where eager is crude, it may be further from the answer than a candidate is. What is wrong beside eager's and no
  // further from the answer in float64 becomes right at the t that is asked for. True: there is such an output.
  bool excuse(Case& c, Comparison& comparison, const RunValue& got, const std::vector<TensorRef>& got_inputs);
  // Whether a comparison is held against the candidate; an output that is as near as a constant becomes right at no t.
  // Far out, what is asked is whether clamps and the like are there at all.
  bool counts(Case& c, Comparison& comparison, const RunValue& got, const std::vector<TensorRef>& got_inputs);

 private:
  // How far an output is from the answer in float64, beyond what is tolerated; nothing: there is no such answer.
  std::optional<Exactness> exactness(Case& c, std::size_t i, const std::vector<RunValue>& expected, const RunValue& got,
                                     Dtype dtype, bool tolerated = true);
  std::optional<bool> is_exact(Case& c, std::size_t i, const std::vector<RunValue>& expected, const RunValue& got,
                               Dtype dtype, bool tolerated = true);
  // Nobody who computes is so far off.
  bool is_constant(Case& c, const OutputComparison& o, std::size_t i, const std::vector<RunValue>& expected,
                   const RunValue& got);
  // Where eager's own answer hangs on last bits, a candidate's may hang on others.
  bool is_explained(Case& c, std::size_t i, const RunValue& expected, const RunValue& got, const Tolerance& tolerance);

  CaseSource& source_;
  Engine& engine_;
  const int at_;
};

}  // namespace passnet

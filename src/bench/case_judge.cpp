#include "bench/case_judge.h"

#include <algorithm>

namespace passnet {

namespace {

constexpr int kSlackBeyond = 1;
constexpr int kFarAt = -5;  // what lies far out must be right at this t
constexpr std::int64_t kFew = 16;
constexpr double kRoundingOfOne = 0x1p-22;  // by some steps of float32

int looser(int t) { return t == kNever ? t : std::max(kTightest, t - kSlackBeyond); }

// The values that are compared, as in a comparison's outputs: the answer's, then inputs that eager changes.
std::vector<RunValue> compared(const Case& c, const RunValue& answer, const std::vector<TensorRef>& inputs) {
  std::vector<RunValue> out;
  for (const RunValue* v : leaves(answer)) out.push_back(*v);
  for (std::size_t i = 0; i < c.changed.size(); ++i) {
    if (!c.changed[i]) continue;
    RunValue& v = out.emplace_back();
    v.kind = RunValue::Kind::tensor;
    v.tensor = inputs[i];
  }
  return out;
}

}  // namespace

void CaseJudge::loosen(Case& c, Comparison& comparison, const RunValue& got, const std::vector<TensorRef>& got_inputs) {
  if (c.draw.recorded() || (source_.is_flat() && !c.draw.hard())) return;
  const auto gains = [&](const OutputComparison& o) { return o.tightest_t > at_ && looser(o.tightest_t) <= at_; };
  std::vector<RunValue> expected, have;
  if (std::any_of(comparison.outputs.begin(), comparison.outputs.end(), gains)) {
    expected = compared(c, c.expected_on_cpu, c.eager_inputs);
    have = compared(c, got, got_inputs);
  }
  for (std::size_t i = 0; i < comparison.outputs.size(); ++i) {
    OutputComparison& o = comparison.outputs[i];
    if (!law_of(o.dtype)) continue;
    if (gains(o) && source_.is_sharp(o.dtype)) {
      const std::optional<Exactness> exact = exactness(c, i, expected, have[i], o.dtype);
      o.sloppy = exact && exact->is_sloppy();
      if (o.sloppy) continue;
    }
    o.tightest_t = looser(o.tightest_t);
    for (int& t : o.by_law) t = looser(t);
    o.equal = o.equal || o.tightest_t == kTightest;
  }
}

bool CaseJudge::excuse(Case& c, Comparison& comparison, const RunValue& got, const std::vector<TensorRef>& got_inputs) {
  const std::vector<RunValue> expected = compared(c, c.expected_on_cpu, c.eager_inputs),
                              have = compared(c, got, got_inputs);
  bool out = false;
  for (std::size_t i = 0; i < comparison.outputs.size(); ++i) {
    OutputComparison& o = comparison.outputs[i];
    if (!source_.is_crude(o.dtype) || o.tightest_t <= at_ || have[i].kind != RunValue::Kind::tensor) continue;
    if (!is_exact(c, i, expected, have[i], o.dtype).value_or(false)) continue;
    o.tightest_t = at_;
    for (int& t : o.by_law) t = std::min(t, at_);
    o.wrong = 0;
    out = true;
  }
  return out;
}

bool CaseJudge::counts(Case& c, Comparison& comparison, const RunValue& got, const std::vector<TensorRef>& got_inputs) {
  if (c.draw.recorded() || comparison.outcome != Comparison::Outcome::compared) return true;
  const int at = std::max(at_, kFarAt);
  const std::vector<RunValue> expected = compared(c, c.expected_on_cpu, c.eager_inputs),
                              have = compared(c, got, got_inputs);
  bool wrong = false;
  for (std::size_t i = 0; i < comparison.outputs.size(); ++i) {
    OutputComparison& o = comparison.outputs[i];
    const auto law = law_of(o.dtype);
    wrong = wrong || (o.sloppy && o.tightest_t > at);
    const bool far = c.draw.hard() && !o.sloppy && o.tightest_t > at;
    // A crude eager may itself be as far off as a constant.
    const bool constant =
        is_constant(c, o, i, expected, have[i]) &&
        !(source_.is_crude(o.dtype) && is_exact(c, i, expected, have[i], o.dtype, false).value_or(false));
    const bool crude = source_.is_flat() && !c.draw.hard() && law && o.tightest_t > at_;
    if (!far && !constant && !crude) continue;
    if (crude && !constant) {  // how far eager's answer moves says less than how far it is off
      const std::optional<bool> exact = is_exact(c, i, expected, have[i], o.dtype);
      if (exact)
        o.tightest_t = *exact ? at_ : o.tightest_t;
      else
        o.tightest_t = looser(o.tightest_t);
      continue;
    }
    Tolerance tolerance = far && law ? passnet::tolerance(*law, at + kSlackBeyond) : Tolerance{0, 0};
    tolerance.atol *= c.draw.spread;
    if (is_explained(c, i, expected[i], have[i], tolerance)) continue;
    wrong = true;
    if (!constant) continue;
    o.constant = true;
    o.tightest_t = kNever;
    o.by_law.fill(kNever);
  }
  return wrong || !c.draw.hard();
}

std::optional<Exactness> CaseJudge::exactness(Case& c, std::size_t i, const std::vector<RunValue>& expected,
                                              const RunValue& got, Dtype dtype, bool tolerated) {
  const Case::Answer* answer = got.kind == RunValue::Kind::tensor ? source_.exact(c) : nullptr;
  if (answer == nullptr) return std::nullopt;
  const std::vector<RunValue> exact = compared(c, answer->value, answer->inputs);
  if (exact.size() != expected.size()) return std::nullopt;
  Tolerance allowed = tolerated ? tolerance(*law_of(dtype), at_) : Tolerance{0, 0};
  allowed.atol *= c.draw.spread;
  return exactness_of(exact[i], expected[i].tensor, got.tensor, allowed, engine_).take();
}

std::optional<bool> CaseJudge::is_exact(Case& c, std::size_t i, const std::vector<RunValue>& expected,
                                        const RunValue& got, Dtype dtype, bool tolerated) {
  const std::optional<Exactness> exact = exactness(c, i, expected, got, dtype, tolerated);
  return exact ? std::optional(exact->is_as_exact()) : std::nullopt;
}

bool CaseJudge::is_constant(Case& c, const OutputComparison& o, std::size_t i, const std::vector<RunValue>& expected,
                            const RunValue& got) {
  if (!law_of(o.dtype) || o.equal || got.kind != RunValue::Kind::tensor) return false;
  // Far out, single numbers may be as small as what rounds to one: sigmoid(-16).
  if (c.draw.hard() && o.elements <= kFew && o.max_diff <= kRoundingOfOne) return false;
  for (std::size_t k = c.typical.size(); k <= i; ++k) {
    const bool is_tensor = expected[k].kind == RunValue::Kind::tensor;
    c.typical.push_back(is_tensor ? typical_of(expected[k].tensor, engine_).take() : Typical{});
  }
  const Typical& typical = c.typical[i];
  if (typical.size == 0) return false;  // zero everywhere is the answer
  // What the tolerance calls right, since all is small, has to be nearer.
  const AsConstant limits = o.sloppy || o.tightest_t <= at_ ? kNearlyConstant : AsConstant{};
  if (o.max_diff < std::min(typical.size, typical.deviation) * limits.part) return false;  // most are
  return is_as_constant(expected[i].tensor, typical, got.tensor, limits, engine_).take();
}

bool CaseJudge::is_explained(Case& c, std::size_t i, const RunValue& expected, const RunValue& got,
                             const Tolerance& tolerance) {
  if (!source_.move(c)) return false;
  std::vector<RunValue> values;
  for (const Case::Answer& m : c.moved) {
    std::vector<RunValue> all = compared(c, m.value, m.inputs);
    if (i >= all.size()) return false;
    values.push_back(std::move(all[i]));
  }
  std::vector<const RunValue*> moved;
  for (const RunValue& v : values) moved.push_back(&v);
  const auto doubt = doubt_of(expected, got, moved, tolerance, engine_).take();
  if (!doubt) return false;
  c.firm = c.firm && !(c.draw.hard() && doubt->is_broad());
  return doubt->explains();
}

}  // namespace passnet

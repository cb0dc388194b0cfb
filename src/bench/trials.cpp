#include "bench/trials.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/verdict.h"

namespace passnet {

namespace {

// Timed results that are compared: the first ones, and some more.
constexpr int kAlwaysChecked = 2;
constexpr std::uint64_t kCheckedOneOf = 16;

}  // namespace

// Some trials say whether it may be; if so, all of them, which count then.
bool Trials::is_slower_on(std::size_t other, const TimingOptions& options, Timing& timing) {
  constexpr int kLook = 10;
  constexpr double kMuch = 1.1;
  const double known = timing.speedup.value;
  TimingOptions few = options;
  few.warmup = few.warmed = 2;
  few.trials = std::min(few.trials, kLook);
  few.fewest = std::min(few.fewest, few.trials);
  few.budget_s /= kLook;
  few.repeats = 0;
  Timing seen = time(other, few);
  double seconds = timing.trial_seconds + seen.trial_seconds;
  bool slower = seen.speedup.value * kMuch < known;
  if (slower) {
    seen = time(other, options);
    seconds += seen.trial_seconds;
    slower = seen.speedup.high < timing.speedup.low && seen.speedup.value * kMuch < known;
  }
  if (slower) timing = std::move(seen);
  timing.trial_seconds = seconds;
  return slower;
}

Timing Trials::time(std::size_t usual, const TimingOptions& options) {
  const std::vector<std::size_t>& changing = answers_.changing();
  Subject::Timed eager{cases_[usual].inputs, {}, changing, {}, {}, {}};
  Subject::Timed compiled = eager;
  if (changing.empty()) {
    eager.place = cases_[usual].inputs;
    compiled.place = source_.given(cases_[usual]);
  }
  std::size_t shown = usual, checked = 0;  // the case whose inputs lie there; trials so far
  bool is_checked = false;
  // Some trials are compared, on one case's inputs and the other's in turn: what repeats an old answer is found out.
  // None can tell which.
  compiled.refresh = [&](int trial, std::vector<TensorRef>& inputs) {
    is_checked = trial >= 0 && (trial < kAlwaysChecked || random_() % kCheckedOneOf == 0);
    const std::size_t next = is_checked ? checked++ % cases_.size() : usual;
    if (next == shown && (next == usual || changing.empty())) return;
    for (std::size_t i = 0; i < inputs.size(); ++i) engine_.copy(inputs[i], cases_[next].inputs[i]).take();
    shown = next;
  };
  compiled.look = [&](int, const RunValue& result, const std::vector<TensorRef>& inputs) {
    if (is_checked) check(cases_[shown], result, inputs);
  };
  compiled.forget = sides_.forget;
  const auto eager_side = sides_.eager.side(std::move(eager));
  const auto compiled_side = sides_.candidate.side(std::move(compiled));
  return time_sides(*eager_side, *compiled_side, options);
}

// What was timed must be what was checked. Sums over more threads have other last bits, so where that seems to matter
// eager is asked once more, on the threads that are timed.
void Trials::check(Case& c, const RunValue& result, const std::vector<TensorRef>& inputs) {
  const auto wrong = [&](Comparison& comparison) {
    if (comparison.outcome != Comparison::Outcome::compared) return true;
    return answers_.counts(c, comparison, result, inputs) &&
           comparison.tightest_t() > std::max(out_.comparison.tightest_t(), at_);
  };
  Comparison comparison = answers_.compare(c, result, inputs);
  if (wrong(comparison) && !c.by_timed_threads) {
    source_.again(c).take();
    comparison = answers_.compare(c, result, inputs);
  }
  if (wrong(comparison))
    stop(Status::integrity, {Code::integrity,
                             {},
                             "a timed call gave another answer than the checked one",
                             {comparison.outcome == Comparison::Outcome::compared
                                  ? fmt::format("largest difference {}", comparison.max_diff())
                                  : comparison.why}});
  if (!c.draw.hard()) merge(out_.comparison, comparison);
}

}  // namespace passnet

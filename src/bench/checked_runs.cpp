#include "bench/checked_runs.h"

#include "bench/verdict.h"
#include "kernels/checked_backend.h"

namespace passnet {

namespace {

constexpr int kOrderSlack = 2;  // sums by atomics round otherwise in another order

}  // namespace

void CheckedRuns::run(Case& recorded, const std::vector<Draw>& draws, bool shapes_by_contents, Evaluation& out) {
  threads_ = engine_.threads();
  for (std::size_t v = 0; v < variants_; ++v) {
    CheckedBackend backend(options_.device, {.variant = v, .prebuild = v == 0 && options_.seal});
    const Comparison forwards = run_one(backend, recorded, draws, shapes_by_contents);
    variants_ = std::max(variants_, backend.variants());
    tuned_ = std::max(tuned_, backend.tuned());
    for (const std::string& fact : backend.facts()) out.note(fact);
    comparisons_.push_back(forwards);
    // Last bits are other ones in the checked build, and may decide: what the fast build accesses is looked at too.
    by_contents_ |= backend.by_contents();
    if (backend.by_contents() && options_.device == DeviceType::cpu) {
      CheckedBackend fast(options_.device, {.variant = v, .followed = true});
      (void)run_one(fast, recorded, draws, shapes_by_contents);
    }
    if (!backend.ordered() || forwards.outcome != Comparison::Outcome::compared) continue;
    CheckedBackend reversed(options_.device, {.variant = v, .backwards = true});
    const Comparison backwards = run_one(reversed, recorded, draws, shapes_by_contents);
    if (backwards.tightest_t() > std::max(forwards.tightest_t(), options_.at) + kOrderSlack)
      stop(Status::integrity, {Code::integrity,
                               {},
                               "the answer depends on the order in which programs run",
                               {"what an atomic gives back may not decide what is computed"}});
  }
}

Comparison CheckedRuns::run_one(CheckedBackend& backend, Case& recorded, const std::vector<Draw>& draws,
                                bool shapes_by_contents) {
  CandidateGraph::Steps steps;
  const auto subject = candidate_.with_kernels(backend, steps);
  std::vector<TensorRef>& inputs = source_.given(recorded);
  const RunValue got = call(*subject, backend, inputs);
  Comparison out = compare(recorded.expected_on_cpu, got, engine_).take();
  if (out.outcome == Comparison::Outcome::compared) judge_.excuse(recorded, out, got, inputs);
  if (!backend.by_contents() && !shapes_by_contents) return out;
  for (std::size_t i = 1; i < draws.size(); ++i)
    if (auto c = source_.beyond(draws[i])) {
      call(*subject, backend, source_.given(*c));
      source_.keep(std::move(*c));
    }
  return out;
}

RunValue CheckedRuns::call(Subject& subject, CheckedBackend& backend, std::vector<TensorRef>& inputs) {
  auto result = subject.run(inputs);
  if (result) return std::move(*result);
  std::vector<Error> errors = backend.errors();
  if (errors.empty()) errors = {result.error()};
  stop(backend.failed() ? Status::compile_fail : Status::runtime_fail, std::move(errors));
}

void CheckedRuns::follow(const std::vector<Case>& cases) {
  if (!by_contents_ || options_.device != DeviceType::cpu || engine_.threads() == threads_ ||
      !candidate_.has_operators())
    return;
  for (std::size_t v = 0; v < variants_; ++v) {
    CheckedBackend backend(options_.device, {.variant = v, .followed = true});
    CandidateGraph::Steps steps;
    const auto subject = candidate_.with_kernels(backend, steps);
    for (const Case& c : cases) call(*subject, backend, source_.given(c));
  }
}

}  // namespace passnet

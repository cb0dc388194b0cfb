#include "author/measure.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/process.h"
#include "bench/answer_check.h"
#include "bench/device.h"
#include "bench/verdict.h"
#include "kernels/backend.h"
#include "match/rewrite.h"
#include "ops/lower.h"
#include "pass/manage.h"
#include "pass/wrapper_step.h"

namespace passnet::author {

namespace {

constexpr std::uint64_t kSeed = 1024;
constexpr int kDraws = 1;  // on which answers are compared, beside the recorded one

// The bench's protocol in short: many candidates are asked about, and a wrong answer costs some percent.
TimingOptions protocol() {
  TimingOptions out;
  out.warmup = 10;
  out.fewest = 1;
  out.budget_s = 0.1;
  out.noise_limit = 0.25;
  out.repeats = 0;
  return out;
}
constexpr double kRepeatSeconds = 0.6;  // where it was noisy: as often as fits,
constexpr int kRepeats = 8;             // at most

struct Wrappers {
  std::unique_ptr<KernelBackend> backend;
  std::vector<std::unique_ptr<WrapperStep>> steps;
};

}  // namespace

EngineMeasure::EngineMeasure(Engine& engine, DeviceType device) : engine_(engine), device_(device) { settle_malloc(); }

std::unique_ptr<Subject> EngineMeasure::subject(const GraphFolder& graph, const PassFolder* passes) {
  if (passes == nullptr)
    return local_subject(engine_, device_,
                         engine_.prepare(lower_graph(graph.graph).take(), graph.graph, device_).take());
  const Applied applied = apply_passes(graph.graph, *passes, MatchMode::normal).take();
  if (!applied.changed()) fail(Code::pass, "no pass changed the graph");
  const auto wrappers = std::make_shared<Wrappers>();
  wrappers->backend = make_backend(engine_, device_);
  std::vector<ExternalStep*> externals;
  for (const Pass* p : applied.wrappers) {
    wrappers->steps.push_back(std::make_unique<WrapperStep>(*p, engine_, *wrappers->backend));
    externals.push_back(wrappers->steps.back().get());
  }
  auto executable =
      engine_.prepare(lower_graph(applied.graph, applied.externals).take(), applied.graph, device_, externals).take();
  return local_subject(engine_, device_, std::move(executable), wrappers);
}

Case EngineMeasure::compare(const GraphFolder& graph, Subject& eager, Subject& candidate) {
  const int at = EvaluateOptions{}.at;
  CaseSource source(graph, eager, engine_, device_);
  CaseJudge judge(source, engine_, at);
  Evaluation facts;
  AnswerCheck answers(graph, judge, engine_, false, facts);
  const auto check = [&](Case& c) {
    std::vector<TensorRef>& inputs = source.given(c);
    const RunValue got = candidate.run(inputs).take();
    Comparison comparison = answers.compare(c, got, inputs);
    if (comparison.outcome != Comparison::Outcome::compared) fail(Code::answer, comparison.why);
    if (!answers.counts(c, comparison, got, inputs)) return;
    for (const OutputComparison& o : comparison.outputs)
      if (o.tightest_t > at) fail(Code::answer, fmt::format("{}: {}", o.name, wrong_text(o)));
  };
  try {
    Case recorded = source.recorded(kSeed).take();
    check(recorded);
    for (const Draw& draw : check_draws(kSeed, kDraws, {}, 0))
      if (!draw.recorded())
        if (auto other = source.beyond(draw)) check(*other);  // none: eager itself fails on others
    return recorded;
  } catch (Verdict& verdict) {
    fail(Code::answer, std::move(verdict.errors[0].message));
  }
}

Result<Timing> EngineMeasure::time(const GraphFolder& graph, const PassFolder& passes, const PassFolder* others) {
  return guarded([&] {
    const auto eager = subject(graph, nullptr), compiled = subject(graph, &passes);
    const Case recorded = compare(graph, *eager, *compiled);
    Subject::Timed timed;
    timed.inputs = recorded.inputs;
    for (std::size_t i = 0; i < timed.inputs.size(); ++i)
      if (recorded.changed[i]) timed.changing.push_back(i);
    const auto other = others != nullptr ? subject(graph, others) : nullptr;
    if (others != nullptr)  // as the bench will run them; eager has no graphs there
      for (Subject* s : {other.get(), compiled.get()}) s->use_graphs();
    Subject& base = others != nullptr ? *other : *eager;
    const auto base_side = base.side(timed), compiled_side = compiled->side(timed);
    TimingOptions options = protocol();
    Timing out = time_sides(*base_side, *compiled_side, options);
    if (const int repeats = static_cast<int>(kRepeatSeconds / out.trial_seconds); !out.stable && repeats > 0) {
      options.repeats = std::min(kRepeats, repeats);
      out = time_sides(*base_side, *compiled_side, options);
    }
    return out;
  });
}

std::string EngineMeasure::place() const { return device_ == DeviceType::cuda ? device_name(device_) : ""; }

}  // namespace passnet::author

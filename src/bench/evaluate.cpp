#include "bench/evaluate.h"

#include <fmt/format.h>

#include <chrono>

#include "bench/answer_check.h"
#include "bench/audit.h"
#include "bench/candidate_graph.h"
#include "bench/checked_runs.h"
#include "bench/dry_backend.h"
#include "bench/peer.h"
#include "bench/trials.h"
#include "bench/verdict.h"
#include "exec/walk.h"
#include "match/rewrite.h"
#include "ops/lower.h"

namespace passnet {

namespace {

constexpr std::size_t kKeptBytes = std::size_t{256} << 20;   // a second draw is kept for timing up to this size
constexpr std::size_t kPreciseBytes = std::size_t{4} << 20;  // larger inputs are not run in float64

bool gives_halves(const RunValue& value) {
  const auto outputs = leaves(value);
  return std::any_of(outputs.begin(), outputs.end(), [](const RunValue* v) {
    const DtypeRow& row = dtype_row(v->tensor.dtype);
    return v->kind == RunValue::Kind::tensor && row.floating && row.size < sizeof(float);
  });
}

// Nodes whose answer one element of many may decide.
bool has_lone_elements(const Graph& graph) {
  constexpr std::string_view kNames[] = {"any",
                                         "all",
                                         "equal",
                                         "allclose",
                                         "max",
                                         "min",
                                         "amax",
                                         "amin",
                                         "argmax",
                                         "argmin",
                                         "aminmax",
                                         "kthvalue",
                                         "topk",
                                         "sort",
                                         "argsort",
                                         "msort",
                                         "median",
                                         "nanmedian",
                                         "cummax",
                                         "cummin",
                                         "adaptive_max_pool1d",
                                         "adaptive_max_pool2d",
                                         "adaptive_max_pool3d"};
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    const std::string_view name = std::string_view(node.target).substr(node.target.rfind('.') + 1);
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  });
}

}  // namespace

void Evaluation::note(std::string text) {
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(std::move(text));
}

class Evaluator::Impl {
  using Work = EvaluateOptions::Work;

 public:
  Impl(std::string path, const Candidate& candidate, std::string passes, Engine& engine, const EvaluateOptions& options)
      : path_(std::move(path)),
        candidate_(candidate),
        passes_path_(std::move(passes)),
        engine_(engine),
        options_(options) {}

  const Evaluation& verify() {
    staged([&] {
      stage("read");
      read();
      if (is_anyones()) {  // most that fail do here, and eager may take long
        stage("match");
        candidate_graph_.match(passes_path_, out_);
      }
      stage(kEagerStage);
      options_.settle(Work::run);
      reference_ = local(program_);
      source_ = std::make_unique<CaseSource>(graph_, *reference_, engine_, options_.device);
      judge_ = std::make_unique<CaseJudge>(*source_, engine_, options_.at);
      answers_ = std::make_unique<AnswerCheck>(graph_, *judge_, engine_, is_anyones(), out_);
      cases_.push_back(need(source_->recorded(options_.seed), Status::eager_fail));
      draws_ = check_draws(options_.seed, options_.draws,
                           {.halves = gives_halves(cases_[0].expected),
                            .small_integers = source_->has_small_integers(),
                            .lone_elements = has_lone_elements(graph_.graph)},
                           candidate_graph_.digest(options_.secret));
      stage("compile");
      options_.settle(Work::start);
      make_subject();
      stage("run");
      options_.settle(Work::run);
      check(cases_[0]);
      check_others();
      judge();
    });
    return out_;
  }

  const Evaluation& time() {
    staged([&] {
      stage("time");
      if (checked_ != nullptr) checked_->follow(cases_);
      if (options_.baseline != "eager") {
        Candidate base;
        base.kind = Candidate::Kind::eager_python;
        options_.settle(Work::start);  // it has threads of its own, on the same cores
        baseline_ = need(peer_subject(base, graph_, engine_, options_.device), Status::eager_fail);
      }
      time_both();
    });
    return out_;
  }

  bool worth_timing() const {
    return out_.compared && out_.comparison.outcome == Comparison::Outcome::compared &&
           (out_.status == Status::correct || out_.status == Status::accuracy) && out_.comparison.tightest_t() < kNever;
  }

 private:
  bool is_anyones() const { return candidate_.kind == Candidate::Kind::passes; }

  void stage(std::string_view name) {
    options_.stage(name);
    end_stage();
    stage_ = name;
  }
  void end_stage() {
    const auto now = std::chrono::steady_clock::now();
    if (!stage_.empty())
      out_.stages.push_back({std::move(stage_), std::chrono::duration<double>(now - stage_begin_).count()});
    stage_.clear();
    stage_begin_ = now;
  }

  template <class F>
  void staged(F&& body) {
    try {
      body();
    } catch (Verdict& verdict) {
      end_with(std::move(verdict));
    } catch (Failure& failure) {  // of our own steps: one graph's trouble never ends a run over many
      if (code_kind(failure.error.code) == ErrorKind::environment) throw;
      end_with({Status::runtime_fail, {std::move(failure.error)}});
    } catch (const std::bad_alloc&) {
      end_with({Status::runtime_fail, {{Code::limit, {}, "out of memory", {}}}});
    }
    end_stage();
  }
  void end_with(Verdict verdict) {
    out_.status = verdict.status;
    for (Error& error : verdict.errors) {
      if (error.where.file.empty() && error.code != Code::internal) error.where.file = path_;
      out_.errors.push_back(std::move(error));
    }
  }

  void read() {
    graph_ = need(read_graph_folder(path_), Status::eager_fail);
    program_ = need(lower_graph(graph_.graph), Status::eager_fail);
  }

  std::unique_ptr<Subject> local(const Program& program, Status otherwise = Status::eager_fail) {
    auto executable = need(engine_.prepare(program, graph_.graph, options_.device, {}), otherwise);
    return local_subject(engine_, options_.device, std::move(executable));
  }

  // --- the candidate

  struct Wrappers {
    std::unique_ptr<KernelBackend> backend;
    CandidateGraph::Steps steps;
  };

  void make_subject() {
    using Kind = Candidate::Kind;
    switch (candidate_.kind) {
      case Kind::passes: return make_passes();
      case Kind::eager: subject_ = local(program_); return;
      case Kind::none: {
        const Applied same = need(apply_passes(graph_.graph, PassFolder{}, options_.match), Status::compile_fail);
        program_none_ = need(lower_graph(same.graph, same.externals), Status::compile_fail);
        subject_ = local(program_none_, Status::compile_fail);
        return;
      }
      case Kind::author: stop(Status::compile_fail, {Code::usage, {}, "the author's passes are not written yet", {}});
      case Kind::eager_python:
      case Kind::inductor:
        subject_ = need(peer_subject(candidate_, graph_, engine_, options_.device), Status::compile_fail);
    }
  }

  void make_passes() {
    candidate_graph_.lower();
    if (options_.checked) check_kernels();
    const bool by_contents = checked_ != nullptr && checked_->by_contents();
    wrappers_ = std::make_shared<Wrappers>();
    wrappers_->backend = make_backend(engine_, options_.device,
                                      {.dump_folder = options_.dump_folder,
                                       .atomics_alone = by_contents,
                                       .first_variants = by_contents && checked_->tuned() > 1});
    const bool sealed = options_.checked && options_.seal && options_.baseline == "eager";
    if (sealed && options_.device == DeviceType::cuda) dry_run();
    if (sealed)
      for (const std::string& line : options_.seal()) out_.note("not guarded: " + line);
    subject_ = candidate_graph_.with_kernels(*wrappers_->backend, wrappers_->steps, wrappers_);
  }

  // All kernels are compiled and loaded, as is what torch loads when it is first used on a GPU; none of them is
  // launched. What fails here will fail again, and is judged then.
  void dry_run() {
    dry_ = std::make_unique<DryBackend>(make_backend(engine_, options_.device));
    (void)candidate_graph_.with_kernels(*dry_, dry_steps_)->run(source_->given(cases_[0]));
  }

  void check_kernels() {
    stage("check");
    checked_ = std::make_unique<CheckedRuns>(candidate_graph_, *source_, *judge_, engine_, options_);
    // Shapes and numbers decide what kernels there are, and none can be compiled once the worker is sealed.
    checked_->run(cases_[0], draws_, needs_contents(program_, graph_, engine_), out_);
    of_variants_ = checked_->take_comparisons();
  }

  // --- correctness

  // The hardest draw on which a wrong answer is surely seen is kept, and timed: who knows a draw by its numbers and
  // answers another kind by less work gains nothing.
  void check_others() {
    std::optional<Case> hardest;
    std::size_t at = 0;
    for (std::size_t i = 1; i < draws_.size(); ++i) {
      hardest.reset();  // its memory is the next one's
      auto made = source_->beyond(draws_[i]);
      if (!made) {
        out_.note(fmt::format("not checked on {}: {}", draw_text(draws_[i]), made.error().message));
        continue;
      }
      hardest = std::move(*made);
      if (hardest->draw.hard()) hard_.push_back(hardest->draw);
      check(*hardest);
      hardest->moved.clear();
      if (hardest->draw.sparse) continue;  // nothing to be timed on
      if (hardest->firm)
        at = i;
      else
        hardest.reset();
      if (hardest && !hardest->draw.hard() && i + 1 < draws_.size()) {  // an ordinary one in the recorded one's place
        cases_[0] = std::move(*hardest);
        hardest.reset();
      }
    }
    for (const std::string& name : source_->never_varied())
      out_.note(fmt::format("'{}' has the recorded contents in every draw: eager fails on others", name));
    if (!hardest && !draws_[at].hard() && !cases_[0].draw.recorded())  // that one is the hardest
      cases_.insert(cases_.begin(), need(source_->recorded(options_.seed), Status::eager_fail));
    else if (!hardest && at > 0)  // those behind it said nothing
      hardest = source_->beyond(draws_[at]).take();
    if (!hardest) return;
    std::erase_if(hard_, [&](const Draw& draw) { return draw.seed == hardest->draw.seed; });
    if (bytes_of(hardest->inputs) < kKeptBytes) {
      cases_.push_back(std::move(*hardest));
    } else {
      ordinary_ = cases_[0].draw;
      cases_[0] = std::move(*hardest);
    }
  }

  void check(Case& c) {
    std::vector<TensorRef>& inputs = source_->given(c);
    auto result = timed_call(*subject_, inputs, candidate_calls_);
    const bool build_failed = wrappers_ != nullptr && wrappers_->backend->failed();
    if (wrappers_ != nullptr && c.draw.recorded())
      for (const auto& r : wrappers_->backend->reports()) out_.kernels.push_back(*r);
    const RunValue got = need(std::move(result), build_failed ? Status::compile_fail : Status::runtime_fail);
    if (Comparison comparison = answers_->compare(c, got, inputs); answers_->counts(c, comparison, got, inputs))
      absorb(std::move(comparison));
    for (const Comparison& variant : of_variants_) absorb(variant);
    of_variants_.clear();
    if (!c.draw.recorded()) return;
    note_precision(c, got);
    if (auto note = note_layout(c.expected, got)) out_.note(std::move(*note));
  }

  // The worst counts.
  void absorb(Comparison comparison) {
    if (out_.compared && out_.comparison.outcome != Comparison::Outcome::compared) return;
    if (!out_.compared || comparison.outcome != Comparison::Outcome::compared)
      out_.comparison = std::move(comparison);
    else
      merge(out_.comparison, comparison);
    out_.compared = true;
  }

  // Said, not judged: tolerances are what counts. Graphs that ask for a dtype themselves are no reference in float64.
  void note_precision(Case& c, const RunValue& got) {
    const bool right = out_.comparison.right_at(options_.at);  // what is wrong is called so elsewhere
    const auto& outputs = out_.comparison.outputs;
    if (std::none_of(outputs.begin(), outputs.end(), may_be_less_exact)) return;
    if (!right || bytes_of(c.inputs) > kPreciseBytes || !is_anyones()) return;
    const Case::Answer* exact = source_->exact(c);
    if (exact == nullptr) return;
    const auto precision = audit_precision(exact->value, c.expected, got, engine_).take();
    if (precision && precision->lower())
      out_.note(
          fmt::format("less exact than eager: the largest error is {:.2g} of the largest value, {:.2g} times eager's",
                      precision->candidate, precision->ratio()));
  }

  void judge() {
    switch (out_.comparison.outcome) {
      case Comparison::Outcome::shape_mismatch: out_.status = Status::shape_mismatch; break;
      case Comparison::Outcome::type_mismatch: out_.status = Status::type_mismatch; break;
      case Comparison::Outcome::compared:
        out_.status = out_.comparison.right_at(options_.at) ? Status::correct : Status::accuracy;
    }
    const auto blame = [&](std::string what) {
      out_.errors.push_back({Code::answer, {path_, 0, 0, {}}, std::move(what), {}});
    };
    if (out_.comparison.outcome != Comparison::Outcome::compared) blame(out_.comparison.why);
    for (const OutputComparison& o : out_.comparison.outputs)
      if (o.tightest_t > options_.at)
        blame(fmt::format("{}: {}{}", o.name, wrong_text(o), o.inputs.empty() ? "" : ", on " + o.inputs));
  }

  // --- time

  // Nobody knows the last case's numbers before: the recorded ones, and their answer, may be known by heart. But they
  // are far from ordinary, and far in a way of their own: who does less for such numbers than for others is timed on
  // others.
  void time_both() {
    if (wrappers_ != nullptr)
      for (const auto& step : wrappers_->steps) {
        step->poison(false);
        step->hold(!options_.cuda_graphs);  // a graph replays without the step
      }
    if (options_.cuda_graphs) subject_->use_graphs();
    subject_->set_threads(engine_.threads());
    Trials::Sides sides{baseline_ != nullptr ? *baseline_ : *reference_, *subject_, {}};
    sides.eager.set_threads(engine_.threads());
    if (wrappers_ != nullptr)
      sides.forget = [&] {
        std::size_t bytes = 0;
        for (const auto& step : wrappers_->steps) bytes += step->forget();
        return bytes;
      };
    options_.settle(Work::run);
    TimingOptions timing = options_.timing;
    const std::vector<double>& eager_calls = source_->seconds();
    if (baseline_ == nullptr) timing.warmed = static_cast<int>(std::min(eager_calls.size(), candidate_calls_.size()));
    Trials trials(std::move(sides), cases_, *source_, *answers_, engine_, options_.at, out_);
    const std::size_t usual = cases_.size() - 1;
    out_.timing = trials.time(usual, timing);
    for (std::size_t i = 0; i < static_cast<std::size_t>(timing.warmed); ++i)  // what they took longer is no trial's
      out_.timing.trial_seconds += std::min(eager_calls[i], out_.timing.eager.e2e.max / 1e3) +
                                   std::min(candidate_calls_[i], out_.timing.compiled.e2e.max / 1e3);
    out_.timed_inputs = draw_text(cases_[usual].draw);
    if (is_anyones()) time_on_others(trials);
    out_.timed = true;
    if (auto error = audit_speed(cases_[0].expected, out_.timing.compiled.e2e.median,
                                 peak_bytes(options_.device, engine_.threads())))
      stop(Status::integrity, std::move(*error));
    if (out_.status == Status::correct && !out_.timing.stable) out_.status = Status::unstable;
  }

  // On the first case: the ordinary one, which is made again where there was no room for both, then every hard draw
  // that was checked.
  void time_on_others(Trials& trials) {
    const auto look = [&](const char* than) {
      if (!trials.is_slower_on(0, options_.timing, out_.timing)) return;
      out_.note(fmt::format("slower on {} than on {}, so timed on those",
                            cases_[0].draw.hard() ? draw_text(cases_[0].draw) : "ordinary inputs", than));
      out_.timed_inputs = draw_text(cases_[0].draw);
    };
    const auto make = [&](const Draw& draw) {
      if (ordinary_) cases_.clear();
      Case made = (draw.recorded() ? source_->recorded(options_.seed) : source_->beyond(draw)).take();
      if (cases_.empty())
        cases_.push_back(std::move(made));
      else
        cases_[0] = std::move(made);
    };
    if (ordinary_) make(*ordinary_);
    if (ordinary_ || cases_.size() > 1) look("the hardest");
    for (const Draw& draw : hard_) {
      make(draw);
      look("others");
    }
  }

  std::string path_, stage_;
  std::chrono::steady_clock::time_point stage_begin_;
  const Candidate candidate_;
  std::string passes_path_;
  Engine& engine_;
  const EvaluateOptions options_;
  std::vector<Comparison> of_variants_;  // by the checked build, on the recorded inputs
  Evaluation out_;
  GraphFolder graph_;
  Program program_, program_none_;
  CandidateGraph candidate_graph_{graph_, engine_, options_};
  std::shared_ptr<Wrappers> wrappers_;
  std::unique_ptr<Subject> reference_, subject_, baseline_;
  std::vector<double> candidate_calls_;  // seconds of those that were verified
  CandidateGraph::Steps dry_steps_;
  std::unique_ptr<DryBackend> dry_;
  std::vector<Draw> draws_;
  std::unique_ptr<CaseSource> source_;
  std::unique_ptr<CaseJudge> judge_;
  std::unique_ptr<CheckedRuns> checked_;
  std::unique_ptr<AnswerCheck> answers_;
  std::vector<Case> cases_;       // an ordinary one, and the hardest for the timed calls
  std::optional<Draw> ordinary_;  // which is drawn again when its turn comes
  std::vector<Draw> hard_;        // that were checked, but for the one in the last case
};

Evaluator::Evaluator(std::string graph, const Candidate& candidate, std::string passes, Engine& engine,
                     const EvaluateOptions& options)
    : impl_(std::make_unique<Impl>(std::move(graph), candidate, std::move(passes), engine, options)) {}
Evaluator::~Evaluator() = default;
const Evaluation& Evaluator::verify() { return impl_->verify(); }
const Evaluation& Evaluator::time() { return impl_->time(); }
bool Evaluator::worth_timing() const { return impl_->worth_timing(); }

}  // namespace passnet

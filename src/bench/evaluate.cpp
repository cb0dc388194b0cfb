#include "bench/evaluate.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <map>

#include "base/hash.h"
#include "bench/answer_check.h"
#include "bench/audit.h"
#include "bench/dry_backend.h"
#include "bench/peer.h"
#include "bench/trials.h"
#include "bench/verdict.h"
#include "exec/walk.h"
#include "ops/lower.h"
#include "pass/checked_backend.h"
#include "pass/match_text.h"
#include "pass/rewrite.h"
#include "pass/wrapper_step.h"

namespace passnet {

namespace {

constexpr std::size_t kKeptBytes = std::size_t{256} << 20;   // a second draw is kept for timing up to this size
constexpr std::size_t kSmallBytes = std::size_t{16} << 20;   // all draws are kept from check to check up to this size
constexpr std::size_t kPreciseBytes = std::size_t{4} << 20;  // larger inputs are not run in float64
constexpr int kOrderSlack = 2;                               // sums by atomics round otherwise in another order

std::size_t bytes_of(const std::vector<TensorRef>& tensors) {
  std::size_t out = 0;
  for (const TensorRef& t : tensors)
    out += static_cast<std::size_t>(describe(t).element_count()) * dtype_row(t.dtype).size;
  return out;
}

bool gives_halves(const RunValue& value) {
  const auto outputs = leaves(value);
  return std::any_of(outputs.begin(), outputs.end(), [](const RunValue* v) {
    const DtypeRow& row = dtype_row(v->tensor.dtype);
    return v->kind == RunValue::Kind::tensor && row.floating && row.size < sizeof(float);
  });
}

// Of all text of a candidate. No text can be made to have a digest that was chosen before, and without the secret
// nobody knows which one it has.
std::uint64_t digest_of(const PassFolder& folder, std::uint64_t secret) {
  std::string all = std::to_string(secret);
  for (const Pass& pass : folder.passes) all += sha256_hex(pass.name);  // in the order that they are applied
  for (const auto& loader : folder.loaders)
    for (const auto& [name, module] : loader->modules()) all += sha256_hex(name) + sha256_hex(module->syntax.source());
  return std::stoull(sha256_hex(all).substr(0, 16), nullptr, 16);
}

}  // namespace

void Evaluation::note(std::string text) {
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(std::move(text));
}

class Evaluator::Impl {
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
        match_passes();
      }
      stage(kEagerStage);
      reference_ = local(program_, {});
      source_ = std::make_unique<CaseSource>(graph_, *reference_, engine_, options_.device);
      judge_ = std::make_unique<CaseJudge>(*source_, engine_, options_.at);
      answers_ = std::make_unique<AnswerCheck>(graph_, *judge_, engine_, is_anyones(), out_);
      cases_.push_back(need(source_->recorded(options_.seed), Status::eager_fail));
      draws_ = check_draws(options_.seed, options_.draws, gives_halves(cases_[0].expected),
                           digest_of(passes_, options_.secret));
      stage("compile");
      make_subject();
      stage("run");
      check(cases_[0]);
      check_others();
      judge();
    });
    return out_;
  }

  const Evaluation& time() {
    staged([&] {
      stage("time");
      follow_again();
      if (options_.baseline != "eager") {
        Candidate base;
        base.kind = Candidate::Kind::eager_python;
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

  std::unique_ptr<Subject> local(const Program& program, const std::vector<ExternalStep*>& externals,
                                 std::shared_ptr<void> keep = {}, Status otherwise = Status::eager_fail) {
    const Graph& graph = externals.empty() ? graph_.graph : applied_.graph;
    auto executable = need(engine_.prepare(program, graph, options_.device, externals), otherwise);
    return local_subject(engine_, options_.device, std::move(executable), std::move(keep));
  }

  // --- the candidate

  struct Wrappers {
    std::unique_ptr<KernelBackend> backend;
    std::vector<std::unique_ptr<WrapperStep>> steps;
  };

  void make_subject() {
    using Kind = Candidate::Kind;
    switch (candidate_.kind) {
      case Kind::passes: return make_passes();
      case Kind::eager: subject_ = local(program_, {}); return;
      case Kind::none: {
        const Applied same = need(apply_passes(graph_.graph, PassFolder{}, options_.match), Status::compile_fail);
        program_none_ = need(lower_graph(same.graph, same.externals), Status::compile_fail);
        subject_ = local(program_none_, {}, {}, Status::compile_fail);
        return;
      }
      case Kind::author: stop(Status::compile_fail, {Code::usage, {}, "the author's passes are not written yet", {}});
      case Kind::eager_python:
      case Kind::inductor:
        subject_ = need(peer_subject(candidate_, graph_, engine_, options_.device), Status::compile_fail);
    }
  }

  void match_passes() {
    auto loaded = passes_path_.ends_with(".py") ? load_pass_file(passes_path_, options_.load)
                                                : load_pass_folder(passes_path_, options_.load);
    passes_ = need(std::move(loaded), Status::compile_fail);
    for (const std::string& line : passes_.dropped) out_.note("dropped: " + line);
    applied_ = need(apply_passes(graph_.graph, passes_, options_.match), Status::compile_fail);
    out_.passes = applied_.passes;
    for (const AppliedPass& p : applied_.passes) out_.matches += p.matches;
    if (!applied_.changed())
      stop(Status::pass_miss, {Code::match,
                               {},
                               "no pass changed the graph",
                               why_not_applied(graph_.graph, passes_, options_.match, applied_)});
  }

  void make_passes() {
    rewritten_ = need(lower_graph(applied_.graph, applied_.externals), Status::compile_fail);
    if (options_.checked) checked_runs();
    wrappers_ = std::make_shared<Wrappers>();
    wrappers_->backend = make_backend(engine_, options_.device,
                                      {.dump_folder = options_.dump_folder,
                                       .atomics_alone = by_contents_,
                                       .first_variants = by_contents_ && tuned_ > 1});
    const bool sealed = options_.checked && options_.seal && options_.baseline == "eager";
    if (sealed && options_.device == DeviceType::cuda) dry_run();
    if (sealed)
      for (const std::string& line : options_.seal()) out_.note("not guarded: " + line);
    subject_ = with_kernels(*wrappers_->backend, wrappers_->steps, wrappers_);
  }

  // All kernels are compiled and loaded, as is what torch loads when it is first used on a GPU; none of them is
  // launched. What fails here will fail again, and is judged then.
  void dry_run() {
    dry_ = std::make_unique<DryBackend>(make_backend(engine_, options_.device));
    (void)with_kernels(*dry_, dry_steps_)->run(source_->given(cases_[0]));
  }

  // The rewritten graph, with its kernels behind `backend`.
  std::unique_ptr<Subject> with_kernels(KernelBackend& backend, std::vector<std::unique_ptr<WrapperStep>>& steps,
                                        std::shared_ptr<void> keep = {}) {
    std::vector<ExternalStep*> externals;
    for (const Pass* pass : applied_.wrappers) {
      steps.push_back(std::make_unique<WrapperStep>(*pass, engine_, backend));
      steps.back()->poison(true);
      externals.push_back(steps.back().get());
    }
    return local(rewritten_, externals, std::move(keep), Status::compile_fail);
  }

  // Every variant that autotuning may choose, one after another; each must give the right values, since any may be
  // chosen. Where programs can see their order, once more the other way round.
  void checked_runs() {
    stage("check");
    verified_threads_ = engine_.threads();
    for (std::size_t v = 0; v < variants_; ++v) {
      CheckedBackend backend(options_.device, {.variant = v, .prebuild = v == 0 && options_.seal});
      const Comparison forwards = checked_run(backend);
      variants_ = std::max(variants_, backend.variants());
      tuned_ = std::max(tuned_, backend.tuned());
      for (const std::string& fact : backend.facts()) out_.note(fact);
      of_variants_.push_back(forwards);
      // Last bits are other ones in the checked build, and may decide: what the fast build accesses is looked at too.
      by_contents_ |= backend.by_contents();
      if (backend.by_contents() && options_.device == DeviceType::cpu) {
        CheckedBackend fast(options_.device, {.variant = v, .followed = true});
        (void)checked_run(fast);
      }
      if (!backend.ordered() || forwards.outcome != Comparison::Outcome::compared) continue;
      CheckedBackend reversed(options_.device, {.variant = v, .backwards = true});
      const Comparison backwards = checked_run(reversed);
      if (backwards.tightest_t() > std::max(forwards.tightest_t(), options_.at) + kOrderSlack)
        stop(Status::integrity, {Code::integrity,
                                 {},
                                 "the answer depends on the order in which programs run",
                                 {"what an atomic gives back may not decide what is computed"}});
    }
  }

  // On the recorded inputs, which are compared, and on the others too where they may decide what is accessed, or what
  // kernels there are.
  Comparison checked_run(CheckedBackend& backend) {
    std::vector<std::unique_ptr<WrapperStep>> steps;
    const auto subject = with_kernels(backend, steps);
    std::vector<TensorRef>& inputs = source_->given(cases_[0]);
    const RunValue got = run_checked(*subject, backend, inputs);
    Comparison out = compare(cases_[0].expected_on_cpu, got, engine_).take();
    if (out.outcome == Comparison::Outcome::compared) judge_->excuse(cases_[0], out, got, inputs);
    // Shapes and numbers decide what kernels there are, and none can be compiled once the worker is sealed.
    if (!shapes_by_contents_) shapes_by_contents_ = needs_contents(program_, graph_, engine_);
    const bool others = backend.by_contents() || *shapes_by_contents_;
    for (std::size_t i = 1; i < draws_.size() && others; ++i)
      if (auto c = other_case(i)) {
        run_checked(*subject, backend, source_->given(*c));
        if (bytes_of(c->inputs) < kSmallBytes) small_cases_.emplace(i, std::move(c));
      }
    return out;
  }

  RunValue run_checked(Subject& subject, CheckedBackend& backend, std::vector<TensorRef>& inputs) {
    auto result = subject.run(inputs);
    if (result) return std::move(*result);
    std::vector<Error> errors = backend.errors();
    if (errors.empty()) errors = {result.error()};
    stop(backend.failed() ? Status::compile_fail : Status::runtime_fail, std::move(errors));
  }

  // On other threads, operators that are left in the graph have other last bits, which may decide what is accessed.
  // What the fast build accesses is looked at by the threads that are timed, too. Its kernels are compiled already.
  void follow_again() {
    const auto is_eager = [&](const Node& node) {
      return node.kind != NodeKind::placeholder && node.kind != NodeKind::output && node.target != "operator.getitem" &&
             std::none_of(applied_.externals.begin(), applied_.externals.end(),
                          [&](const ExternalFunction& e) { return e.name == node.target; });
    };
    const auto& nodes = applied_.graph.nodes;
    if (!by_contents_ || options_.device != DeviceType::cpu || engine_.threads() == verified_threads_ ||
        std::none_of(nodes.begin(), nodes.end(), is_eager))
      return;
    for (std::size_t v = 0; v < variants_; ++v) {
      CheckedBackend backend(options_.device, {.variant = v, .followed = true});
      std::vector<std::unique_ptr<WrapperStep>> steps;
      const auto subject = with_kernels(backend, steps);
      for (const Case& c : cases_) run_checked(*subject, backend, source_->given(c));
    }
  }

  // Of a draw beyond the recorded one: what checked runs left, or a new one.
  Result<Case> other_case(std::size_t draw) {
    if (auto kept = small_cases_.extract(draw)) return std::move(kept.mapped());
    return source_->beyond(draws_[draw]);
  }

  // --- correctness

  // The hardest draw on which a wrong answer is surely seen is kept, and timed: who knows a draw by its numbers and
  // answers another kind by less work gains nothing.
  void check_others() {
    std::optional<Case> hardest;
    std::size_t at = 0;
    for (std::size_t i = 1; i < draws_.size(); ++i) {
      hardest.reset();  // its memory is the next one's
      auto made = other_case(i);
      if (!made) {
        out_.note(fmt::format("not checked on inputs of seed {}: {}", draws_[i].seed, made.error().message));
        continue;
      }
      hardest = std::move(*made);
      check(*hardest);
      hardest->moved.clear();
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
      hardest = other_case(at).take();
    if (!hardest) return;
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
  // are far from ordinary: who does less for such numbers than for others is timed on others.
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
    options_.settle();
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
    if (is_anyones() && is_slower_on_ordinary(trials)) {
      out_.timed_inputs = draw_text(cases_[0].draw);
      out_.note("slower on ordinary inputs than on the hardest, so timed on those");
    }
    out_.timed = true;
    if (auto error = audit_speed(cases_[0].expected, out_.timing.compiled.e2e.median,
                                 peak_bytes(options_.device, engine_.threads())))
      stop(Status::integrity, std::move(*error));
    if (out_.status == Status::correct && !out_.timing.stable) out_.status = Status::unstable;
  }

  // The first case becomes the ordinary one again where there was no room for both.
  bool is_slower_on_ordinary(Trials& trials) {
    if (ordinary_) {
      cases_.clear();
      cases_.push_back((ordinary_->recorded() ? source_->recorded(options_.seed) : source_->beyond(*ordinary_)).take());
    } else if (cases_.size() < 2) {
      return false;
    }
    return trials.is_slower_on(0, options_.timing, out_.timing);
  }

  std::string path_, stage_;
  std::chrono::steady_clock::time_point stage_begin_;
  const Candidate candidate_;
  std::string passes_path_;
  Engine& engine_;
  const EvaluateOptions options_;
  bool by_contents_ = false;  // what is accessed hangs on what tensors hold
  std::size_t variants_ = 1;  // the most of any launch
  std::size_t tuned_ = 0;     // launches that have more than one
  int verified_threads_ = 0;
  std::vector<Comparison> of_variants_;  // by the checked build, on the recorded inputs
  Evaluation out_;
  GraphFolder graph_;
  Program program_, program_none_, rewritten_;
  PassFolder passes_;
  Applied applied_;
  std::shared_ptr<Wrappers> wrappers_;
  std::unique_ptr<Subject> reference_, subject_, baseline_;
  std::vector<double> candidate_calls_;  // seconds of those that were verified
  std::vector<std::unique_ptr<WrapperStep>> dry_steps_;
  std::unique_ptr<DryBackend> dry_;
  std::vector<Draw> draws_;
  std::optional<bool> shapes_by_contents_;           // of the graph; none: nobody asked
  std::map<std::size_t, Result<Case>> small_cases_;  // by draw
  std::unique_ptr<CaseSource> source_;
  std::unique_ptr<CaseJudge> judge_;
  std::unique_ptr<AnswerCheck> answers_;
  std::vector<Case> cases_;       // an ordinary one, and the hardest for the timed calls
  std::optional<Draw> ordinary_;  // which is drawn again when its turn comes
};

Evaluator::Evaluator(std::string graph, const Candidate& candidate, std::string passes, Engine& engine,
                     const EvaluateOptions& options)
    : impl_(std::make_unique<Impl>(std::move(graph), candidate, std::move(passes), engine, options)) {}
Evaluator::~Evaluator() = default;
const Evaluation& Evaluator::verify() { return impl_->verify(); }
const Evaluation& Evaluator::time() { return impl_->time(); }
bool Evaluator::worth_timing() const { return impl_->worth_timing(); }

}  // namespace passnet

#include "bench/evaluate.h"

#include <fmt/format.h>

#include <cstring>

#include "ops/lower.h"
#include "pass/checked_backend.h"
#include "pass/wrapper_step.h"

namespace passnet {

namespace {

constexpr std::uint64_t kCallSeed = 1024;  // the generator's seed when a graph is called

struct Stop {};  // the evaluation has its status

class Evaluator {
 public:
  Evaluator(const std::string& path, const PassFolder& passes, Engine& engine, const EvaluateOptions& options)
      : path_(path), passes_(passes), engine_(engine), options_(options) {}

  Evaluation run() {
    try {
      eager();
      apply();
      if (options_.checked) checked_runs();
      fast_run();
      judge();
    } catch (const Stop&) {
    } catch (Failure& failure) {  // of our own steps: one graph's trouble never ends a run over many
      if (code_kind(failure.error.code) == ErrorKind::environment) throw;
      give_up(std::move(failure.error));
    } catch (const std::bad_alloc&) {
      give_up({Code::limit, {path_, 0, 0, {}}, "out of memory", {}});
    }
    return std::move(out_);
  }

 private:
  template <class T>
  T need(Result<T> result, Status otherwise) {
    if (!result) stop(otherwise, std::move(result.error()));
    return std::move(*result);
  }
  [[noreturn]] void stop(Status status, Error error) {
    if (code_kind(error.code) == ErrorKind::environment) fail(std::move(error));  // nobody's graph is at fault
    out_.status = error.code == Code::policy || error.code == Code::integrity ? Status::integrity : status;
    out_.errors.push_back(std::move(error));
    throw Stop{};
  }

  void give_up(Error error) {
    out_.status = Status::runtime_fail;
    out_.errors.push_back(std::move(error));
  }

  std::vector<TensorRef> copies(const std::vector<TensorRef>& tensors) {
    std::vector<TensorRef> out;
    for (const TensorRef& t : tensors) {
      out.push_back(engine_.allocate(describe(t)).take());
      engine_.copy(out.back(), t).take();
    }
    return out;
  }

  // From private copies of the inputs, so that nothing a candidate does reaches it.
  void eager() {
    graph_ = need(read_graph_folder(path_), Status::eager_fail);
    const Program program = need(lower_graph(graph_.graph), Status::eager_fail);
    const auto executable = need(engine_.prepare(program, graph_.graph, options_.device), Status::eager_fail);
    inputs_ = need(engine_.replay(graph_, options_.seed, options_.device), Status::eager_fail);
    eager_inputs_ = copies(inputs_);
    engine_.seed(kCallSeed);
    expected_ = need(executable->run(eager_inputs_), Status::eager_fail);
  }

  void apply() {
    applied_ = need(apply_passes(graph_.graph, passes_, options_.match), Status::compile_fail);
    out_.passes = applied_.passes;
    for (const AppliedPass& p : applied_.passes) out_.matches += p.matches;
    if (!applied_.changed()) {
      out_.status = Status::pass_miss;
      throw Stop{};
    }
    program_ = need(lower_graph(applied_.graph, applied_.externals), Status::compile_fail);
  }

  // The rewritten graph, with its kernels behind `backend`.
  RunValue run_with(KernelBackend& backend, const std::function<bool()>& compiled, std::vector<TensorRef>& inputs) {
    std::vector<std::unique_ptr<WrapperStep>> steps;
    std::vector<ExternalStep*> externals;
    for (const Pass* pass : applied_.wrappers) {
      steps.push_back(std::make_unique<WrapperStep>(*pass, engine_, backend));
      externals.push_back(steps.back().get());
    }
    const auto executable =
        need(engine_.prepare(program_, applied_.graph, options_.device, externals), Status::compile_fail);
    engine_.seed(kCallSeed);
    auto result = executable->run(inputs);
    return need(std::move(result), compiled() ? Status::runtime_fail : Status::compile_fail);
  }

  // Every variant that autotuning may choose, one after another.
  void checked_runs() {
    std::size_t variants = 1;
    for (std::size_t v = 0; v < variants; ++v) {
      CheckedBackend backend(v);
      auto inputs = copies(inputs_);
      try {
        run_with(
            backend, [&] { return !backend.failed(); }, inputs);
      } catch (const Stop&) {
        if (!backend.errors().empty()) out_.errors = backend.errors();
        throw;
      }
      variants = backend.variants();
      out_.notes = backend.facts();
    }
  }

  void fast_run() {
    TileBackend backend(engine_, options_.dump_folder);
    got_inputs_ = copies(inputs_);
    try {
      got_ = run_with(
          backend, [&] { return !backend.failed(); }, got_inputs_);
    } catch (const Stop&) {
      report(backend);
      throw;
    }
    report(backend);
  }
  void report(const TileBackend& backend) {
    for (const auto& r : backend.reports()) out_.kernels.push_back(*r);
  }

  bool equal_bytes(const TensorRef& a, const TensorRef& b) {
    const TensorRef x = engine_.contiguous_on_cpu(a).take(), y = engine_.contiguous_on_cpu(b).take();
    const std::size_t bytes = static_cast<std::size_t>(describe(x).element_count()) * dtype_row(x.dtype).size;
    return bytes == 0 || std::memcmp(x.data, y.data, bytes) == 0;
  }

  // What eager changes of its inputs must be changed alike, and nothing else.
  void judge_inputs() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (equal_bytes(eager_inputs_[i], got_inputs_[i])) continue;
      const std::string& name = graph_.graph.nodes[i].name;
      if (equal_bytes(inputs_[i], eager_inputs_[i]))
        stop(Status::integrity, {Code::integrity,
                                 {path_, 0, 0, {}},
                                 fmt::format("input '{}' was changed, and eager leaves it alone", name),
                                 {"write to a new tensor: torch.empty_like(x)"}});
      OutputComparison c = compare(eager_inputs_[i], got_inputs_[i], engine_).take();
      c.name = fmt::format("input '{}'", name);
      out_.comparison.outputs.push_back(std::move(c));
    }
  }

  void judge() {
    out_.comparison = compare(expected_, got_, engine_).take();
    out_.compared = true;
    using Outcome = Comparison::Outcome;
    if (out_.comparison.outcome == Outcome::compared) judge_inputs();
    switch (out_.comparison.outcome) {
      case Outcome::shape_mismatch: out_.status = Status::shape_mismatch; break;
      case Outcome::type_mismatch: out_.status = Status::type_mismatch; break;
      case Outcome::compared: out_.status = out_.comparison.right_at(options_.at) ? Status::correct : Status::accuracy;
    }
  }

  const std::string& path_;
  const PassFolder& passes_;
  Engine& engine_;
  const EvaluateOptions& options_;
  Evaluation out_;
  GraphFolder graph_;
  std::vector<TensorRef> inputs_, eager_inputs_, got_inputs_;
  RunValue expected_, got_;
  Applied applied_;
  Program program_;
};

}  // namespace

Status load_status(const Error& error) {
  return error.code == Code::policy || error.code == Code::integrity ? Status::integrity : Status::compile_fail;
}

Evaluation evaluate(const std::string& graph, const PassFolder& passes, Engine& engine,
                    const EvaluateOptions& options) {
  return Evaluator(graph, passes, engine, options).run();
}

}  // namespace passnet

#include "bench/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bench/correctness.h"
#include "bench/draws.h"
#include "bench/subject.h"
#include "ops/lower.h"

namespace passnet {

namespace {

constexpr std::uint64_t kSeed = 1024;
constexpr std::int64_t kFewElements = 4;  // of all outputs together
constexpr int kAt = -5;

class Lint {
 public:
  Lint(const std::string& path, Engine& engine) : path_(path), engine_(engine) {}

  std::vector<Finding> run() {
    graph_ = read_graph_folder(path_).take();
    const Program program = lower_graph(graph_.graph).take();
    executable_ = engine_.prepare(program, graph_.graph, DeviceType::cpu).take();
    const RunValue first = call(kSeed, graph_.metas, kCallSeed);
    outputs_ = leaves(first);
    non_finite(first);
    constant();
    tiny();
    random(first);
    independent(first);
    return std::move(findings_);
  }

 private:
  void add(Flaw flaw, std::string why) { findings_.push_back({flaw, std::move(why)}); }
  bool found(Flaw flaw) const {
    return std::any_of(findings_.begin(), findings_.end(), [&](const Finding& f) { return f.flaw == flaw; });
  }

  RunValue call(std::uint64_t input_seed, std::vector<TensorMeta> metas, std::uint64_t call_seed) {
    std::vector<TensorMeta> kept = std::exchange(graph_.metas, std::move(metas));
    auto inputs = engine_.replay(graph_, input_seed, DeviceType::cpu);
    graph_.metas = std::move(kept);
    std::vector<TensorRef> tensors = inputs.take();
    engine_.seed(call_seed);
    return executable_->run(tensors).take();
  }

  // Bit for bit, NaNs too.
  bool same(const RunValue& a, const RunValue& b) {
    const std::vector<const RunValue*> x = leaves(a), y = leaves(b);
    if (x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i]->kind != y[i]->kind || x[i]->integer != y[i]->integer || x[i]->text != y[i]->text) return false;
      if (x[i]->kind == RunValue::Kind::real && x[i]->real != y[i]->real) return false;
      if (x[i]->kind != RunValue::Kind::tensor) continue;
      if (!(x[i]->tensor.sizes == y[i]->tensor.sizes) || bytes(x[i]->tensor) != bytes(y[i]->tensor)) return false;
    }
    return true;
  }
  std::string bytes(const TensorRef& tensor) {
    const TensorRef flat = engine_.contiguous_on_cpu(tensor).take();
    const std::size_t size = static_cast<std::size_t>(describe(flat).element_count()) * dtype_row(flat.dtype).size;
    return {static_cast<const char*>(flat.data), size};
  }

  void non_finite(const RunValue& value) {
    if (!all_finite(value, engine_).take()) add(Flaw::non_finite, "an output has NaN or infinite elements");
  }

  void constant() {
    std::int64_t many = 0;
    for (const RunValue* output : outputs_) {
      if (output->kind != RunValue::Kind::tensor) continue;
      const std::int64_t n = describe(output->tensor).element_count();
      if (n < 2) continue;
      many += n;
      const std::string all = bytes(output->tensor);
      const std::size_t size = dtype_row(output->tensor.dtype).size;
      if (std::memcmp(all.data(), all.data() + size, all.size() - size) != 0) return;
    }
    if (many > 0) add(Flaw::constant, "every output has one value everywhere");
  }

  void tiny() {
    std::int64_t elements = 0;
    bool zeros_pass = true;
    for (const RunValue* output : outputs_) {
      if (output->kind != RunValue::Kind::tensor) continue;
      const TensorDesc desc = describe(output->tensor);
      elements += desc.element_count();
      TensorDesc flat = desc;
      flat.strides = contiguous_strides(flat.sizes);
      flat.device = DeviceType::cpu;
      const TensorRef zeros = engine_.allocate(flat).take();
      engine_.fill(zeros, 0).take();
      zeros_pass = zeros_pass && compare(output->tensor, zeros, engine_).take().tightest_t <= kAt;
    }
    if (elements < kFewElements)
      add(Flaw::tiny, fmt::format("all outputs together have {} element{}", elements, elements == 1 ? "" : "s"));
    else if (zeros_pass)
      add(Flaw::tiny, fmt::format("zeros would be right at t = {}", kAt));
  }

  void random(const RunValue& first) {
    if (!same(first, call(kSeed, graph_.metas, kCallSeed)))
      add(Flaw::random, "the same call gives another answer");
    else if (!same(first, call(kSeed, graph_.metas, kCallSeed + 1)))
      add(Flaw::random, "the answer depends on the generator's seed");
  }

  // All inputs drawn anew, constants too.
  void independent(const RunValue& first) {
    if (found(Flaw::random)) return;
    if (graph_.inputs.empty()) return add(Flaw::independent, "the graph has no inputs");
    try {
      for (const Draw& draw : {Draw{kSeed + 1, 1, Normals::quick}, Draw{kSeed + 2, 2, Normals::quick},
                               Draw{kSeed + 3, 2, Normals::quick, true}})
        if (!same(first, call(draw.seed, drawn_metas(graph_.metas, draw, DeviceType::cpu), kCallSeed))) return;
    } catch (const Failure&) {
      return;  // it depends on them enough to fail
    }
    add(Flaw::independent, "other inputs give the same outputs");
  }

  const std::string& path_;
  Engine& engine_;
  GraphFolder graph_;
  std::unique_ptr<Executable> executable_;
  std::vector<const RunValue*> outputs_;
  std::vector<Finding> findings_;
};

constexpr std::string_view kNames[] = {"constant", "tiny", "independent", "non_finite", "random", "fails"};

}  // namespace

std::string_view flaw_name(Flaw flaw) { return kNames[static_cast<std::size_t>(flaw)]; }

std::vector<Finding> lint_graph(const std::string& path, Engine& engine) {
  try {
    return Lint(path, engine).run();
  } catch (const Failure& failure) {
    if (code_kind(failure.error.code) == ErrorKind::environment) throw;
    return {{Flaw::fails, error_line(failure.error)}};
  } catch (const std::bad_alloc&) {
    return {{Flaw::fails, "out of memory"}};
  }
}

}  // namespace passnet

#include "data/subgraphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "data/normal.h"
#include "ops/lower.h"

namespace passnet::data {

namespace {

constexpr std::size_t kSmall = 64;  // elements; smaller integer tensors are kept as data

std::size_t at(NodeId id) { return static_cast<std::size_t>(id); }

// A copy with the same strides: a cut must see what the parent saw.
TensorRef clone(const TensorRef& tensor, Engine& engine) {
  TensorDesc desc = describe(tensor);
  for (std::size_t d = 0; d < desc.sizes.size(); ++d)  // expanded dims would write one element many times
    if (desc.strides[d] == 0 && desc.sizes[d] > 1) desc.strides = contiguous_strides(desc.sizes);
  TensorRef out = engine.allocate(desc).take();
  engine.copy(out, tensor).take();
  return out;
}

std::string bytes_of(const TensorRef& tensor, Engine& engine) {
  const TensorRef flat = engine.contiguous_on_cpu(tensor).take();
  const std::size_t size = static_cast<std::size_t>(describe(flat).element_count()) * dtype_row(flat.dtype).size;
  return size == 0 ? std::string() : std::string(static_cast<const char*>(flat.data), size);
}

// A range on its way along the parent.
struct Task {
  NodeSpan span;
  Border border;
  CrossingValues known;
  std::map<NodeId, TensorMeta> metas;    // of what entered
  std::map<NodeId, TensorRef> entered;   // copies, for the check
  std::optional<Result<Subgraph>> done;  // the subgraph, or why there is none
};

class Cutting {
 public:
  Cutting(const GraphFolder& parent, const CutOptions& options, Engine& engine)
      : parent_(parent),
        graph_(parent.graph),
        options_(options),
        engine_(engine),
        device_(options.metas == MetasFrom::run ? DeviceType::cpu : DeviceType::meta),
        walk_(parent.graph, engine, device_) {}

  std::vector<Result<Subgraph>> run(const std::vector<OpRange>& ranges) {
    const NodeId end = plan(ranges);
    const auto walked = guarded([&] { return walk(end), std::monostate{}; });
    std::vector<Result<Subgraph>> out;
    for (Task& task : tasks_) out.push_back(task.done ? std::move(*task.done) : walked.error());
    return out;
  }

 private:
  bool with_data() const { return options_.metas == MetasFrom::run; }
  bool checks() const { return options_.check && with_data(); }
  const Node& node(NodeId id) const { return graph_.nodes[at(id)]; }

  // Gives the node where the last range ends.
  NodeId plan(const std::vector<OpRange>& ranges) {
    last_use_ = graph_last_uses(graph_);
    NodeId end = 0;
    const auto keep = [&](NodeId id, NodeId until) { last_use_[at(id)] = std::max(last_use_[at(id)], until); };
    for (const OpRange& range : ranges) {
      Task& task = tasks_.emplace_back();
      auto span = range_nodes(graph_, range, options_.counting);
      if (!span) {
        task.done = std::move(span.error());
        continue;
      }
      task.span = *span;
      task.border = find_border(graph_, *span);
      end = std::max(end, task.span.end);
      for (const NodeId id : task.border.inputs) keep(id, task.span.begin);
      for (const NodeId id : task.border.outputs) keep(id, task.span.end);
    }
    return end;
  }

  void walk(NodeId end) {
    make_inputs();
    for (auto id = static_cast<NodeId>(graph_.placeholder_count());; ++id) {
      for (Task& task : tasks_) {
        if (task.span.begin == id) settle(task, [&] { enter(task); });
        if (task.span.end == id) settle(task, [&] { leave(task); });
      }
      if (id >= end) break;
      walk_.step(id).take();
      forget(id);
    }
  }

  void make_inputs() {
    if (!with_data()) {
      for (std::size_t i = 0; i < parent_.inputs.size(); ++i)
        walk_.describe_input(i, parent_.metas[at(parent_.inputs[i])]).take();
      return;
    }
    std::vector<TensorRef> inputs = engine_.replay(parent_, options_.seed, device_).take();
    for (std::size_t i = 0; i < inputs.size(); ++i) walk_.set_input(i, std::move(inputs[i]));
    engine_.seed(options_.seed);
  }

  // What has been used for the last time goes, so that a large model fits.
  void forget(NodeId id) {
    const auto drop = [&](NodeId used) {
      if (last_use_[at(used)] <= id) walk_.forget(used);
    };
    node_inputs(node(id), drop);
    drop(id);
  }

  template <class F>
  static void settle(Task& task, const F& body) {
    if (task.done) return;
    if (auto result = guarded([&] { return body(), std::monostate{}; }); !result) task.done = std::move(result.error());
  }

  void enter(Task& task) {
    for (const NodeId id : task.border.inputs) {
      const RunValue& value = walk_.value(id);
      if (value.kind == RunValue::Kind::tensor)
        enter_tensor(task, id, value.tensor);
      else if (auto literal = literal_of(value))
        task.known.literals[id] = std::move(*literal);
      else
        enter_list(task, id, value);
    }
  }

  void enter_tensor(Task& task, NodeId id, const TensorRef& tensor) {
    task.metas[id] = meta_of(id, tensor);
    if (checks()) task.entered[id] = clone(tensor, engine_);
  }

  // The items of a list that the range takes, under the names of the operators that take them.
  void enter_list(Task& task, NodeId list, const RunValue& value) {
    task.known.lists.insert(list);
    const auto count = static_cast<std::int64_t>(value.items.size());
    for (NodeId id = task.span.begin; id < task.span.end; ++id) {
      if (!takes_item(node(id)) || !(node(id).args[0] == Value::ref(list))) continue;
      const std::int64_t index = node(id).args[1].integer + (node(id).args[1].integer < 0 ? count : 0);
      if (index < 0 || index >= count || value.items[static_cast<std::size_t>(index)].kind != RunValue::Kind::tensor)
        fail(Code::graph, fmt::format("'{}' takes an item that is no tensor", node(id).name));
      enter_tensor(task, id, value.items[static_cast<std::size_t>(index)].tensor);
    }
  }

  void leave(Task& task) {
    for (const NodeId id : task.border.outputs)
      if (auto literal = literal_of(walk_.value(id))) task.known.literals[id] = std::move(*literal);
    Cut cut = cut_graph(graph_, task.span, task.known).take();
    normalise_spelling(cut.graph);
    Subgraph out;
    for (std::size_t i = 0; i < cut.inputs.size(); ++i) {
      TensorMeta meta = task.metas.at(cut.inputs[i]);
      meta.original_name = node(cut.inputs[i]).name;
      meta.name = cut.graph.nodes[i].name;
      out.metas.push_back(std::move(meta));
    }
    if (checks()) out.reproduced = check(task, cut);
    out.graph = std::move(cut.graph);
    task.done = std::move(out);
    task.metas.clear();
    task.entered.clear();
  }

  // A weight keeps its own meta; what was computed is described by its values.
  TensorMeta meta_of(NodeId id, const TensorRef& tensor) {
    if (node(id).kind == NodeKind::placeholder) return parent_.metas[at(parent_.inputs[at(id)])];
    TensorMeta meta;
    if (with_data()) {
      meta = describe_tensor(tensor, engine_).take();
    } else {
      meta.shape = tensor.sizes.vec();
      meta.dtype = tensor.dtype;
      if (!dtype_row(meta.dtype).floating && meta.dtype != Dtype::boolean)  // 0 is a valid index of anything
        meta.min_val = meta.max_val = MetaNumber{0, 0, true};
    }
    meta.device = parent_.metas.empty() ? "cpu" : parent_.metas[0].device;
    return meta;
  }

  Reproduced check(const Task& task, const Cut& cut) {
    const Program program = lower_graph(cut.graph).take();
    const auto executable = engine_.prepare(program, cut.graph, device_).take();
    const auto call = [&](std::uint64_t seed) {
      std::vector<TensorRef> inputs;  // copies: the range may write to them
      for (const NodeId id : cut.inputs) inputs.push_back(clone(task.entered.at(id), engine_));
      engine_.seed(seed);
      return executable->run(inputs).take();
    };
    const RunValue got = call(options_.seed);
    const auto all_same = [&](const auto& other) {
      for (std::size_t i = 0; i < cut.outputs.size(); ++i)
        if (!same(got.items[i], other(i))) return false;
      return true;
    };
    if (all_same([&](std::size_t i) -> const RunValue& { return walk_.value(cut.outputs[i]); }))
      return Reproduced::same;
    const RunValue again = call(options_.seed + 1);  // a dropout that is on differs by the generator alone
    if (!all_same([&](std::size_t i) -> const RunValue& { return again.items[i]; })) return Reproduced::random;
    fail({Code::graph,
          {graph_.file, node(task.span.begin).line, 0, {}},
          "the subgraph does not reproduce the values of the whole graph",
          {"two values that enter it share memory, and it writes to one of them; begin the range earlier"}});
  }

  bool same(const RunValue& a, const RunValue& b) {
    if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
    for (std::size_t i = 0; i < a.items.size(); ++i)
      if (!same(a.items[i], b.items[i])) return false;
    if (a.kind != RunValue::Kind::tensor) return true;
    return a.tensor.sizes == b.tensor.sizes && a.tensor.dtype == b.tensor.dtype &&
           bytes_of(a.tensor, engine_) == bytes_of(b.tensor, engine_);
  }

  const GraphFolder& parent_;
  const Graph& graph_;
  const CutOptions& options_;
  Engine& engine_;
  DeviceType device_;
  Walk walk_;
  std::vector<NodeId> last_use_;
  std::vector<Task> tasks_;
};

}  // namespace

Result<TensorMeta> describe_tensor(const TensorRef& tensor, Engine& engine) {
  return guarded([&] {
    TensorMeta out;
    out.shape = tensor.sizes.vec();
    out.dtype = tensor.dtype;
    const auto count = static_cast<std::size_t>(describe(tensor).element_count());
    const bool floating = dtype_row(tensor.dtype).floating;
    if (count == 0) return out;
    const TensorRef numbers = engine
                                  .allocate({out.shape, contiguous_strides(out.shape),
                                             floating ? Dtype::float64 : Dtype::int64, DeviceType::cpu})
                                  .take();
    engine.copy(numbers, tensor).take();
    if (floating) {
      const auto* x = static_cast<const double*>(numbers.data);
      double sum = 0, squares = 0;
      for (std::size_t i = 0; i < count; ++i) sum += x[i];
      const double mean = sum / static_cast<double>(count);
      for (std::size_t i = 0; i < count; ++i) squares += (x[i] - mean) * (x[i] - mean);
      const double std = count > 1 ? std::sqrt(squares / static_cast<double>(count - 1)) : 0;
      if (std::isfinite(mean) && std::isfinite(std)) out.mean = mean, out.std = std;
      return out;
    }
    const auto* x = static_cast<const std::int64_t*>(numbers.data);
    if (count < kSmall) out.data = TensorData{{x, x + count}, {}};
    if (tensor.dtype == Dtype::boolean) return out;
    const auto [low, high] = std::minmax_element(x, x + count);
    out.min_val = MetaNumber{static_cast<double>(*low), *low, true};
    out.max_val = MetaNumber{static_cast<double>(*high), *high, true};
    return out;
  });
}

std::vector<Result<Subgraph>> cut_subgraphs(const GraphFolder& parent, const std::vector<OpRange>& ranges,
                                            const CutOptions& options, Engine& engine) {
  return Cutting(parent, options, engine).run(ranges);
}

}  // namespace passnet::data

#include "ops/effects.h"

#include <algorithm>
#include <numeric>

#include "ops/builtins.h"

namespace passnet {

namespace {

// What ATen's schemas leave unsaid.
struct OpParameter {
  std::string_view op, parameter;
};

// Composites whose result may be this argument, or a view of it.
constexpr OpParameter kMayGiveBack[] = {
    {"_unsafe_view", "self"},
    {"_reshape_from_tensor", "self"},
    {"alpha_dropout", "input"},
    {"atleast_1d", "self"},
    {"atleast_1d", "tensors"},
    {"atleast_2d", "self"},
    {"atleast_2d", "tensors"},
    {"atleast_3d", "self"},
    {"atleast_3d", "tensors"},
    {"broadcast_tensors", "tensors"},
    {"cartesian_prod", "tensors"},
    {"chain_matmul", "matrices"},
    {"channel_shuffle", "self"},
    {"conj_physical", "self"},
    {"dequantize", "self"},
    {"dropout", "input"},
    {"einsum", "tensors"},
    {"feature_alpha_dropout", "input"},
    {"feature_dropout", "input"},
    {"lift", "self"},
    {"meshgrid", "tensors"},
    {"sum_to_size", "self"},
    {"to_dense", "self"},
    {"type_as", "self"},
    {"unsafe_chunk", "self"},
    {"unsafe_split", "self"},
    {"unsafe_split_with_sizes", "self"},
};

// Operators that write their parameters `running_mean` and `running_var`, unless the flag is False.
struct Statistics {
  std::string_view op, flag;
};
constexpr Statistics kStatistics[] = {
    {"_batch_norm_impl_index", "training"},      {"batch_norm", "training"},        {"batch_norm_gather_stats", ""},
    {"batch_norm_gather_stats_with_counts", ""}, {"batch_norm_update_stats", ""},   {"cudnn_batch_norm", "training"},
    {"instance_norm", "use_input_stats"},        {"miopen_batch_norm", "training"}, {"native_batch_norm", "training"},
};

// A random operator draws nothing where one of these is False or 0.
constexpr std::string_view kDrawsIf[] = {"train", "training", "dropout_p", "dropout"};

bool is_zero(const Value& v) { return v.is_number() && (v.kind == ValueKind::real ? v.real == 0 : v.integer == 0); }

bool may_give_back(const Schema& schema, const Param& param) {
  return std::any_of(std::begin(kMayGiveBack), std::end(kMayGiveBack),
                     [&](const OpParameter& row) { return row.op == schema.name && row.parameter == param.name; });
}

const Value* argument(const Step& step, std::string_view name) {
  for (std::size_t i = 0; i < step.args.size(); ++i)
    if (step.schema->params[i].name == name) return &step.args[i];
  return nullptr;
}

bool writes_statistics(const Step& step, const Param& param) {
  if (param.name != "running_mean" && param.name != "running_var") return false;
  return std::any_of(std::begin(kStatistics), std::end(kStatistics), [&](const Statistics& row) {
    if (row.op != step.schema->name) return false;
    const Value* flag = argument(step, row.flag);
    return flag == nullptr || !is_zero(*flag);
  });
}

bool draws(const Step& step) {
  if (step.kind != StepKind::aten) return step.kind == StepKind::unknown || step.builtin == "manual_seed";
  if (!step.schema->random) return false;
  return std::none_of(std::begin(kDrawsIf), std::end(kDrawsIf), [&](std::string_view name) {
    const Value* v = argument(step, name);
    return v != nullptr && is_zero(*v);
  });
}

class Memories {
 public:
  Memories(const Program& program, std::span<const ExternalFunction> externals)
      : externals_(externals), owner_(program.types.size() + 1) {
    std::iota(owner_.begin(), owner_.end(), kGenerator);
    share(program.steps);
  }

  // Of every register that a value refers to.
  void add(const Value& value, std::vector<Memory>& to) {
    value_nodes(value, [&](Register r) { to.push_back(find(r + 1)); });
  }
  void add_written(const Step& step, std::vector<Memory>& to) {
    if (draws(step)) to.push_back(kGenerator);
    for (std::size_t i = 0; i < step.args.size(); ++i)
      if (writes(step, i)) add(step.args[i], to);
    for (const Block& arm : step.arms)
      for (const Step& inner : arm.steps) add_written(inner, to);
  }

 private:
  Memory find(Memory m) {
    while (owner_[m] != m) m = owner_[m] = owner_[owner_[m]];
    return m;
  }
  void unite(const Value& value, Register with) {
    value_nodes(value, [&](Register r) {
      const auto [low, high] = std::minmax({find(r + 1), find(with + 1)});
      owner_[high] = low;
    });
  }

  bool writes(const Step& step, std::size_t i) const {
    switch (step.kind) {
      case StepKind::aten: return step.schema->params[i].written || writes_statistics(step, step.schema->params[i]);
      case StepKind::builtin: return i == 0 && builtin_find(step.builtin)->memory == OnFirst::writes;
      case StepKind::external:
        return i < externals_[step.external].writes.size() && externals_[step.external].writes[i];
      case StepKind::unknown: return true;
      case StepKind::branch: break;
    }
    return false;
  }
  // Whether the result may lie in the memory of the argument.
  bool gives_back(const Step& step, std::size_t i, std::size_t result) const {
    switch (step.kind) {
      case StepKind::aten: {
        const Param& param = step.schema->params[i];
        return (param.type.alias != 0 && param.type.alias == step.schema->returns[result].alias) ||
               may_give_back(*step.schema, param);
      }
      case StepKind::builtin: return i == 0 && builtin_find(step.builtin)->memory == OnFirst::gives_back;
      case StepKind::external:
        return i < externals_[step.external].gives_back.size() && externals_[step.external].gives_back[i];
      case StepKind::unknown: return true;
      case StepKind::branch: break;
    }
    return false;
  }

  void share(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      for (const Block& arm : step.arms) {
        share(arm.steps);
        for (std::size_t i = 0; i < step.results.size(); ++i) unite(arm.result.items[i], step.results[i]);
      }
      for (std::size_t result = 0; result < step.results.size(); ++result)
        for (std::size_t i = 0; i < step.args.size(); ++i)
          if (gives_back(step, i, result)) unite(step.args[i], step.results[result]);
    }
  }

  std::span<const ExternalFunction> externals_;
  std::vector<Memory> owner_;  // towards the first register of a memory; register r is at r + 1
};

void make_set(std::vector<Memory>& memories) {
  std::sort(memories.begin(), memories.end());
  memories.erase(std::unique(memories.begin(), memories.end()), memories.end());
}

}  // namespace

std::vector<NodeEffects> graph_effects(const Graph& graph, std::span<const ExternalFunction> externals, Ty inputs) {
  const Program program = lower_known(graph, externals, inputs);
  Memories memories(program, externals);
  std::vector<NodeEffects> out(graph.nodes.size());
  for (std::size_t id = 0; id < out.size(); ++id) {
    memories.add(program.values[id], out[id].gives);
    node_inputs(graph.nodes[id], [&](NodeId used) { memories.add(program.values[used], out[id].reads); });
  }
  for (const Step& step : program.steps) {
    memories.add_written(step, out[step.node].writes);
    out[step.node].known &= step.kind != StepKind::unknown;
  }
  for (NodeEffects& e : out) {
    for (std::vector<Memory>* set : {&e.gives, &e.reads, &e.writes}) make_set(*set);
    // What a node makes and fills itself nobody else sees before.
    std::erase_if(e.writes,
                  [&](Memory m) { return m != kGenerator && !std::binary_search(e.reads.begin(), e.reads.end(), m); });
  }
  return out;
}

namespace {

// A graph of one call, and of which nodes its placeholders are.
struct Alone {
  Graph graph;
  std::vector<NodeId> operands;

  explicit Alone(const Node& node) {
    Node own = node;
    for (Value& arg : own.args) place(arg);
    for (Kwarg& kwarg : own.kwargs) place(kwarg.value);
    graph.nodes.push_back(std::move(own));
  }

 private:
  void place(Value& value) {
    if (value.is_node()) {
      Node input;
      input.kind = NodeKind::placeholder;
      operands.push_back(value.node);
      value.node = static_cast<NodeId>(graph.nodes.size());
      graph.nodes.push_back(std::move(input));
    }
    for (Value& item : value.items) place(item);
  }
};

}  // namespace

NodeEffects node_effects(const Node& node, std::span<const ExternalFunction> externals) {
  return std::move(graph_effects(Alone(node).graph, externals, Ty::any).back());
}

std::vector<NodeId> written_operands(const Node& node) {
  const Alone alone(node);
  const std::vector<NodeEffects> effects = graph_effects(alone.graph, {}, Ty::any);
  std::vector<NodeId> out;
  for (std::size_t i = 0; i < alone.operands.size(); ++i)
    if (share_memory(effects[i].gives, effects.back().writes)) out.push_back(alone.operands[i]);
  make_set(out);
  return out;
}

bool node_writes(const Node& node) {
  return node.kind != NodeKind::placeholder && node.kind != NodeKind::output && node_effects(node).writes_memory();
}

bool graph_writes(const Graph& graph) {
  const std::vector<NodeEffects> effects = graph_effects(graph);
  return std::any_of(effects.begin(), effects.end(), [](const NodeEffects& e) { return e.writes_memory(); });
}

bool share_memory(const std::vector<Memory>& a, const std::vector<Memory>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

}  // namespace passnet

#include "exec/walk.h"

#include <fmt/format.h>

#include "ops/effects.h"

namespace passnet {

namespace {

constexpr std::size_t kKnown = 64;  // elements of a tensor whose value is kept on the side

std::size_t at(NodeId id) { return static_cast<std::size_t>(id); }

// torch.float32, device(type='cuda', index=0), or a str.
Value text_value(const std::string& text) {
  if (text.starts_with("torch.") && dtype_from_name(text)) return Value::constant(text);
  if (text.starts_with("device(")) return Value::device("cuda", -1);
  return Value::string(text);
}

// Operands as one node's graph has them: tensors are placeholders, the rest literals.
class Operands {
 public:
  Operands(const std::vector<RunValue>& values, const std::vector<RunValue>& tensor_values)
      : values_(values), tensors_(tensor_values) {}
  std::vector<TensorRef> tensors;

  Value value(const Value& v) {
    if (v.is_node()) {
      if (auto literal = literal_of(values_[at(v.node)])) return std::move(*literal);
      return operand(tensors_[at(v.node)]);
    }
    Value out = v;
    for (Value& item : out.items) item = value(item);
    return out;
  }

 private:
  Value operand(const RunValue& v) {
    if (v.kind == RunValue::Kind::tensor) {
      tensors.push_back(v.tensor);
      return Value::ref(static_cast<NodeId>(tensors.size() - 1));
    }
    if (v.kind == RunValue::Kind::list) {
      std::vector<Value> items;
      for (const RunValue& item : v.items) items.push_back(operand(item));
      return Value::sequence(ValueKind::tuple, std::move(items));
    }
    return *literal_of(v);
  }
  const std::vector<RunValue>&values_, &tensors_;
};

// New tensors are made where the others are: a CPU tensor cannot meet one without data.
void place(std::vector<Step>& steps, const Value& device) {
  for (Step& step : steps) {
    for (Block& arm : step.arms) place(arm.steps, device);
    if (step.kind == StepKind::builtin && (step.builtin == "tensor" || step.builtin == "as_tensor") &&
        step.args[2].kind == ValueKind::none)
      step.args[2] = device;
    if (step.kind != StepKind::aten) continue;
    for (std::size_t i = 0; i < step.args.size(); ++i)
      if (step.schema->params[i].name == "device" && step.args[i].kind == ValueKind::none) step.args[i] = device;
  }
}

Result<TensorRef> without_data(const TensorMeta& meta, Engine& engine) {
  return engine.allocate({meta.shape, contiguous_strides(meta.shape), meta.dtype, DeviceType::meta});
}

}  // namespace

std::optional<Value> literal_of(const RunValue& value) {
  switch (value.kind) {
    case RunValue::Kind::none: return Value::none();
    case RunValue::Kind::boolean: return Value::boolean(value.integer != 0);
    case RunValue::Kind::integer: return Value::of(value.integer);
    case RunValue::Kind::real: return Value::of(value.real);
    case RunValue::Kind::text: return text_value(value.text);
    case RunValue::Kind::tensor: return std::nullopt;
    case RunValue::Kind::list: break;
  }
  std::vector<Value> items;
  for (const RunValue& item : value.items) {
    auto literal = literal_of(item);
    if (!literal) return std::nullopt;
    items.push_back(std::move(*literal));
  }
  return Value::sequence(ValueKind::tuple, std::move(items));
}

bool is_tensor_list(const RunValue& value) { return value.kind == RunValue::Kind::list && !literal_of(value); }

Walk::Walk(const Graph& graph, Engine& engine, DeviceType device)
    : graph_(graph), engine_(engine), device_(device), values_(graph.nodes.size()), known_(graph.nodes.size()) {}

void Walk::set_input(std::size_t index, TensorRef tensor) {
  values_[index].kind = RunValue::Kind::tensor;
  values_[index].tensor = std::move(tensor);
}

Result<std::monostate> Walk::describe_input(std::size_t index, const TensorMeta& meta) {
  return guarded([&] {
    set_input(index, without_data(meta, engine_).take());
    if (meta.element_count() > kKnown) return std::monostate{};
    GraphFolder one;
    one.metas.push_back(meta);
    one.inputs.push_back(0);
    known_[index].kind = RunValue::Kind::tensor;
    known_[index].tensor = engine_.replay(one, 0, DeviceType::cpu).take()[0];
    return std::monostate{};
  });
}

bool Walk::operands_known(const Node& node) const {
  bool out = true;
  node_inputs(node, [&](NodeId id) {
    const RunValue& value = values_[at(id)];
    if (!literal_of(value)) out = out && known_[at(id)].kind != RunValue::Kind::none;
  });
  return out;
}

// The value on the side. Where something unknown is written into one, all are gone: others may be views of it. What
// is not known itself has no such views.
void Walk::keep_known(NodeId id, const Node& node) {
  if (!operands_known(node)) {
    for (const NodeId written : written_operands(node))
      if (known_[at(written)].kind != RunValue::Kind::none) known_.assign(known_.size(), {});
    return;
  }
  const RunValue& value = values_[at(id)];
  if (value.kind == RunValue::Kind::tensor && describe(value.tensor).element_count() > std::int64_t{kKnown}) return;
  if (auto known = call_on(node, known_, DeviceType::cpu)) known_[at(id)] = std::move(*known);
}

Result<std::monostate> Walk::step(NodeId id) {
  const Node& node = graph_.nodes[at(id)];
  if (values_.size() <= at(id)) {  // whoever walks may append
    values_.resize(graph_.nodes.size());
    known_.resize(graph_.nodes.size());
  }
  auto value = call(node);
  if (!value) return std::move(value.error());
  values_[at(id)] = std::move(*value);
  known_[at(id)] = {};
  if (device_ == DeviceType::meta) keep_known(id, node);
  return std::monostate{};
}

Result<RunValue> Walk::call(const Node& node) {
  auto result = call_on(node, values_, device_);
  if (result || device_ != DeviceType::meta) return result;
  if (operands_known(node)) {
    auto known = call_on(node, known_, DeviceType::cpu);
    if (known && known->kind == RunValue::Kind::tensor) {
      TensorDesc desc = describe(known->tensor);
      desc.device = DeviceType::meta;
      auto tensor = engine_.allocate(desc);
      if (!tensor) return std::move(tensor.error());
      known->tensor = std::move(*tensor);
    }
    if (known && !is_tensor_list(*known)) return known;
  }
  // torch's own words are about missing kernels; what it means is that values are needed
  std::string& message = result.error().message;
  if (message.find("Meta tensors") != std::string::npos)
    message = fmt::format("{}'s result cannot be known without data", message.substr(0, message.find(':', 6)));
  return result;
}

// Values that are no tensors are the same on both sides; `values` has the tensors.
Result<RunValue> Walk::call_on(const Node& node, const std::vector<RunValue>& values, DeviceType device) {
  Operands operands(values_, values);
  Node own = node;
  for (Value& arg : own.args) arg = operands.value(arg);
  for (Kwarg& kwarg : own.kwargs) kwarg.value = operands.value(kwarg.value);
  Graph one;
  one.file = graph_.file;
  for (std::size_t i = 0; i < operands.tensors.size(); ++i) {
    Node input;
    input.kind = NodeKind::placeholder;
    input.name = "in_" + std::to_string(i);
    one.nodes.push_back(std::move(input));
  }
  const bool effect = node_is_effect(own);
  one.nodes.push_back(std::move(own));
  Node output;
  output.kind = NodeKind::output;
  output.target = "output";
  output.args.push_back(effect ? Value::none() : Value::ref(static_cast<NodeId>(operands.tensors.size())));
  one.nodes.push_back(std::move(output));
  auto program = lower_graph(one);
  if (!program) return std::move(program.error());
  if (device == DeviceType::meta) place(program->steps, Value::device("meta", -1));
  auto executable = engine_.prepare(*program, one, device);
  if (!executable) return std::move(executable.error());
  return (*executable)->run(operands.tensors);
}

namespace {

Walk walk_inputs(const GraphFolder& folder, Engine& engine) {
  Walk walk(folder.graph, engine, DeviceType::meta);
  for (std::size_t i = 0; i < folder.inputs.size(); ++i)
    walk.describe_input(i, folder.metas[at(folder.inputs[i])]).take();
  return walk;
}

std::vector<RunValue> all_values(const Walk& walk, const Graph& graph) {
  std::vector<RunValue> out;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) out.push_back(walk.value(id));
  return out;
}

}  // namespace

Result<std::vector<RunValue>> propagate(const GraphFolder& folder, Engine& engine) {
  return guarded([&] {
    const Graph& graph = folder.graph;
    Walk walk = walk_inputs(folder, engine);
    const auto first = static_cast<NodeId>(graph.placeholder_count());
    for (NodeId id = first; id + 1 < static_cast<NodeId>(graph.nodes.size()); ++id) walk.step(id).take();
    return all_values(walk, graph);
  });
}

bool needs_contents(Program program, const GraphFolder& folder, Engine& engine) {
  place(program.steps, Value::device("meta", -1));
  const auto executable = engine.prepare(program, folder.graph, DeviceType::meta);
  std::vector<TensorRef> inputs;
  for (const std::int32_t i : folder.inputs) {
    auto input = without_data(folder.metas[at(i)], engine);
    if (!input) return true;
    inputs.push_back(std::move(*input));
  }
  return !executable || !(*executable)->run(inputs);
}

Result<std::vector<RunValue>> propagate_known(const GraphFolder& folder, Engine& engine) {
  return guarded([&] {
    const Graph& graph = folder.graph;
    Walk walk = walk_inputs(folder, engine);
    std::vector<bool> lost(graph.nodes.size());
    const auto first = static_cast<NodeId>(graph.placeholder_count());
    for (NodeId id = first; id + 1 < static_cast<NodeId>(graph.nodes.size()); ++id) {
      const Node& node = graph.nodes[at(id)];
      node_inputs(node, [&](NodeId used) { lost[at(id)] = lost[at(id)] || lost[at(used)]; });
      lost[at(id)] = lost[at(id)] || !walk.step(id);
      // one that should have changed a value: nobody knows what it has now
      if (!lost[at(id)]) continue;
      for (const NodeId written : written_operands(node)) lost[at(written)] = true;
    }
    std::vector<RunValue> out = all_values(walk, graph);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (lost[i]) out[i] = {};
    return out;
  });
}

}  // namespace passnet

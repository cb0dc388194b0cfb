#include "data/walk.h"

#include "ops/lower.h"

namespace passnet::data {

namespace {

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
  explicit Operands(const std::vector<RunValue>& values) : values_(values) {}
  std::vector<TensorRef> tensors;

  Value value(const Value& v) {
    if (v.is_node()) return operand(values_[at(v.node)]);
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
  const std::vector<RunValue>& values_;
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
    : graph_(graph), engine_(engine), device_(device), values_(graph.nodes.size()) {}

void Walk::set_input(std::size_t index, TensorRef tensor) {
  values_[index].kind = RunValue::Kind::tensor;
  values_[index].tensor = std::move(tensor);
}

Result<std::monostate> Walk::step(NodeId id) {
  auto value = call(graph_.nodes[at(id)]);
  if (!value) return std::move(value.error());
  values_[at(id)] = std::move(*value);
  return std::monostate{};
}

Result<RunValue> Walk::call(const Node& node) {
  Operands operands(values_);
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
  if (device_ == DeviceType::meta) place(program->steps, Value::device("meta", -1));
  auto executable = engine_.prepare(*program, one, device_);
  if (!executable) return std::move(executable.error());
  return (*executable)->run(operands.tensors);
}

Result<TensorRef> meta_tensor(const TensorMeta& meta, Engine& engine) {
  return engine.allocate({meta.shape, contiguous_strides(meta.shape), meta.dtype, DeviceType::meta});
}

Result<std::vector<RunValue>> propagate(const GraphFolder& folder, Engine& engine) {
  return guarded([&] {
    const Graph& graph = folder.graph;
    Walk walk(graph, engine, DeviceType::meta);
    for (std::size_t i = 0; i < folder.inputs.size(); ++i)
      walk.set_input(i, meta_tensor(folder.metas[at(folder.inputs[i])], engine).take());
    const auto first = static_cast<NodeId>(graph.placeholder_count());
    for (NodeId id = first; id + 1 < static_cast<NodeId>(graph.nodes.size()); ++id) walk.step(id).take();
    std::vector<RunValue> out;
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) out.push_back(walk.value(id));
    return out;
  });
}

}  // namespace passnet::data

#include "data/dtypes.h"

#include <fmt/format.h>

#include "data/normal.h"

namespace passnet::data {

namespace {

std::size_t at(NodeId id) { return static_cast<std::size_t>(id); }

class Retyper {
 public:
  Retyper(const GraphFolder& folder, Dtype dtype, DeviceType device, Engine& engine)
      : folder_(folder), dtype_(dtype), device_(device), engine_(engine) {}

  Retyped run() {
    out_.folder = folder_;
    bool changed = false;
    for (TensorMeta& meta : out_.folder.metas)
      if (meta.dtype == Dtype::float32) meta.dtype = dtype_, changed = true;
    if (!changed)
      fail({Code::graph,
            {folder_.path, 0, 0, {}},
            "no input is float32",
            {"there is nothing to make in another dtype"}});
    Graph& graph = out_.folder.graph;
    const std::size_t inputs = folder_.graph.placeholder_count();
    graph.nodes.resize(inputs);
    Walk walk(graph, engine_, device_);
    set_inputs(walk);
    for (std::size_t i = 0; i < inputs; ++i) ids_.push_back(static_cast<NodeId>(i));
    for (NodeId id = static_cast<NodeId>(inputs); id + 1 < static_cast<NodeId>(folder_.graph.nodes.size()); ++id)
      add(walk, folder_.graph.nodes[at(id)]);
    Node output = folder_.graph.nodes.back();
    renumber(output);
    graph.nodes.push_back(std::move(output));
    if (out_.casts > 0) {
      normalise_names(graph);
      for (std::size_t i = 0; i < inputs; ++i) out_.folder.metas[at(folder_.inputs[i])].name = graph.nodes[i].name;
    }
    return std::move(out_);
  }

 private:
  void set_inputs(Walk& walk) {
    if (device_ == DeviceType::meta) {
      for (std::size_t i = 0; i < folder_.inputs.size(); ++i)
        walk.describe_input(i, out_.folder.metas[at(folder_.inputs[i])]).take();
      return;
    }
    std::vector<TensorRef> inputs = engine_.replay(out_.folder, 1024, device_).take();
    for (std::size_t i = 0; i < inputs.size(); ++i) walk.set_input(i, std::move(inputs[i]));
  }

  void renumber(Node& node) const {
    const auto value = [&](auto&& self, Value& v) -> void {
      if (v.is_node()) v.node = ids_[at(v.node)];
      for (Value& item : v.items) self(self, item);
    };
    for (Value& v : node.args) value(value, v);
    for (Kwarg& k : node.kwargs) value(value, k.value);
  }

  // As it is; with its operands in the dtype; with them in float32, for what has no half kernel.
  void add(Walk& walk, const Node& old) {
    std::vector<Node>& nodes = out_.folder.graph.nodes;
    const std::size_t before = nodes.size();
    std::optional<Error> error;
    for (const std::optional<Dtype> cast :
         {std::optional<Dtype>(), std::optional(dtype_), std::optional(Dtype::float32)}) {
      Node node = old;
      renumber(node);
      const int casts = cast ? cast_operands(walk, node, *cast) : 0;
      if (cast && casts == 0) continue;
      nodes.push_back(std::move(node));
      auto stepped = walk.step(static_cast<NodeId>(nodes.size()) - 1);
      if (stepped) {
        out_.casts += casts;
        ids_.push_back(static_cast<NodeId>(nodes.size()) - 1);
        return;
      }
      if (!error) error = std::move(stepped.error());
      nodes.resize(before);
    }
    fail(std::move(*error));
  }

  int cast_operands(Walk& walk, Node& node, Dtype to) {
    std::vector<Node>& nodes = out_.folder.graph.nodes;
    int casts = 0;
    const auto value = [&](auto&& self, Value& v) -> void {
      for (Value& item : v.items) self(self, item);
      if (!v.is_node()) return;
      const RunValue& now = walk.value(v.node);
      if (now.kind != RunValue::Kind::tensor || now.tensor.dtype == to || !dtype_row(now.tensor.dtype).floating) return;
      Node cast;
      cast.kind = NodeKind::call_method;
      cast.name = "cast";
      cast.target = "to";
      cast.args = {v, Value::constant(fmt::format("torch.{}", dtype_row(to).name))};
      cast.line = node.line;
      nodes.push_back(std::move(cast));
      walk.step(static_cast<NodeId>(nodes.size()) - 1).take();
      v.node = static_cast<NodeId>(nodes.size()) - 1;
      ++casts;
    };
    for (Value& v : node.args) value(value, v);
    for (Kwarg& k : node.kwargs) value(value, k.value);
    return casts;
  }

  const GraphFolder& folder_;
  Dtype dtype_;
  DeviceType device_;
  Engine& engine_;
  Retyped out_;
  std::vector<NodeId> ids_;  // the new node of each old one
};

}  // namespace

Result<Retyped> change_dtype(const GraphFolder& folder, Dtype dtype, DeviceType device, Engine& engine) {
  return guarded([&] { return Retyper(folder, dtype, device, engine).run(); });
}

}  // namespace passnet::data

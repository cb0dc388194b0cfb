// A graph run operator by operator, with every value at hand: on real tensors, or on tensors without data (device
// meta), which gives shapes and dtypes alone. The same ATen calls in the same order as the whole program makes.
#pragma once

#include "exec/engine.h"

namespace passnet {

// A value that is no tensor and holds none, as a graph writes it; nothing for the rest.
std::optional<Value> literal_of(const RunValue& value);
bool is_tensor_list(const RunValue& value);

class Walk {
 public:
  Walk(const Graph& graph, Engine& engine, DeviceType device);

  void set_input(std::size_t index, TensorRef tensor);
  // On meta: an input as the meta describes it; a small one is drawn, and known by value.
  Result<std::monostate> describe_input(std::size_t index, const TensorMeta& meta);
  // Runs one node and keeps its value. In-place operators change the values they write to.
  Result<std::monostate> step(NodeId id);
  // What `node` gives, whose operands are the graph's nodes; nothing is kept.
  Result<RunValue> call(const Node& node);

  const RunValue& value(NodeId id) const { return values_[static_cast<std::size_t>(id)]; }
  void forget(NodeId id) { values_[static_cast<std::size_t>(id)] = {}; }

 private:
  Result<RunValue> call_on(const Node& node, const std::vector<RunValue>& values, DeviceType device);
  bool operands_known(const Node& node) const;
  void keep_known(NodeId id, const Node& node);

  const Graph& graph_;
  Engine& engine_;
  DeviceType device_;
  std::vector<RunValue> values_;
  std::vector<RunValue> known_;  // on meta: what is also known by value; none for the rest
};

// Every node's value without data. An operator whose result's shape depends on values (nonzero, item) is an error with
// its line; run the graph instead.
Result<std::vector<RunValue>> propagate(const GraphFolder& folder, Engine& engine);
// The same as far as it goes: what such operators give, and what needs it, is none.
Result<std::vector<RunValue>> propagate_known(const GraphFolder& folder, Engine& engine);
// Whether some shape, or some number, of the folder's graph, which is lowered, may depend on what tensors hold: it has
// to be run to be known.
bool needs_contents(Program program, const GraphFolder& folder, Engine& engine);

}  // namespace passnet

// Graphs built by hand, for tests of what text cannot say.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace passnet {

struct GraphBuilder {
  Graph graph;

  Value add(NodeKind kind, std::string target, std::string name, std::vector<Value> args, std::vector<Kwarg> kwargs) {
    Node node;
    node.kind = kind;
    node.name = std::move(name);
    node.target = std::move(target);
    node.args = std::move(args);
    node.kwargs = std::move(kwargs);
    graph.nodes.push_back(std::move(node));
    return Value::ref(static_cast<NodeId>(graph.nodes.size() - 1));
  }
  Value input(std::string name) { return add(NodeKind::placeholder, "", std::move(name), {}, {}); }
  Value call(std::string target, std::string name, std::vector<Value> args, std::vector<Kwarg> kwargs = {}) {
    return add(NodeKind::call_function, std::move(target), std::move(name), std::move(args), std::move(kwargs));
  }
  Value method(std::string target, std::string name, std::vector<Value> args, std::vector<Kwarg> kwargs = {}) {
    return add(NodeKind::call_method, std::move(target), std::move(name), std::move(args), std::move(kwargs));
  }
  const Graph& output(Value value) {
    add(NodeKind::output, "output", "output", {std::move(value)}, {});
    return graph;
  }
};

}  // namespace passnet

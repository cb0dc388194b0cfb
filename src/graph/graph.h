// The IR: a straight-line graph of calls, as torch.fx keeps it. Plain data; every stage reads it, one rewriter edits
// it.
//
// A node's operands are Values: literals, references to earlier nodes, and lists, tuples and slices of them. `x += y`
// is a call of operator.iadd, `x[i] = v` of operator.setitem (an ordered effect without a result), `x.T` of getattr.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace passnet {

using NodeId = std::int32_t;  // index into Graph::nodes

enum class ValueKind : std::uint8_t {
  none,
  boolean,   // integer is 0 or 1
  integer,   // integer
  real,      // real
  string,    // text
  node,      // node
  constant,  // text: "torch.float32", "torch.channels_last", ...
  device,    // text: "cpu", "cuda", "meta"; integer: index or -1
  ellipsis,
  tuple,  // items
  list,   // items
  slice,  // items: lower, upper, step
};

struct Value {
  ValueKind kind = ValueKind::none;
  union {
    std::int64_t integer = 0;
    double real;
    NodeId node;
  };
  std::string text;
  std::vector<Value> items;

  static Value none() { return {}; }
  static Value boolean(bool b) { return number(ValueKind::boolean, b ? 1 : 0); }
  static Value of(std::int64_t i) { return number(ValueKind::integer, i); }
  static Value of(double r);
  static Value string(std::string text) { return with_text(ValueKind::string, std::move(text)); }
  static Value constant(std::string text) { return with_text(ValueKind::constant, std::move(text)); }
  static Value device(std::string type, std::int64_t index);
  static Value ref(NodeId id);
  static Value sequence(ValueKind kind, std::vector<Value> items);
  static Value ellipsis() { return number(ValueKind::ellipsis, 0); }

  bool is_node() const { return kind == ValueKind::node; }
  bool is_number() const { return kind == ValueKind::boolean || kind == ValueKind::integer || kind == ValueKind::real; }
  bool is_sequence() const { return kind == ValueKind::tuple || kind == ValueKind::list; }

  // Same kind and same contents; reals by their bits, so that nan equals itself and 0.0 differs from -0.0.
  bool operator==(const Value& other) const;

 private:
  static Value number(ValueKind kind, std::int64_t i);
  static Value with_text(ValueKind kind, std::string text);
};

// Calls visit(NodeId) for every node a value refers to, in order.
template <class F>
void value_nodes(const Value& value, F&& visit) {
  if (value.is_node()) visit(value.node);
  for (const Value& item : value.items) value_nodes(item, visit);
}

// Python's spelling, references by `name(id)`.
template <class F>
std::string value_text(const Value& value, const F& name);

enum class NodeKind : std::uint8_t { placeholder, call_function, call_method, output };
std::string_view node_kind_name(NodeKind kind);

struct Kwarg {
  std::string name;
  Value value;
  bool operator==(const Kwarg&) const = default;
};

struct Node {
  NodeKind kind = NodeKind::call_function;
  std::string name;    // the variable's; in-place results may share the name of what they changed
  std::string target;  // "torch.conv2d", "operator.add", "getattr"; a method's bare name; a placeholder's annotation
  std::vector<Value> args;
  std::vector<Kwarg> kwargs;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

template <class F>
void node_inputs(const Node& node, F&& visit) {
  for (const Value& arg : node.args) value_nodes(arg, visit);
  for (const Kwarg& kwarg : node.kwargs) value_nodes(kwarg.value, visit);
}

struct Graph {
  std::string file;         // where it was read, for messages
  std::vector<Node> nodes;  // placeholders first, the output last

  const Node& output() const { return nodes.back(); }
  std::size_t placeholder_count() const;
};

// For each node the index of its last user (itself where nobody uses it).
std::vector<NodeId> graph_last_uses(const Graph& graph);

// The rules of the IR: placeholders first, one output at the end, operands defined before use, no use of an effect's
// result, names that a program can have. Messages carry the node's line.
Result<std::monostate> graph_verify(const Graph& graph);

// One node a line, nodes numbered in order, no names, no lines: equal texts mean equal computations as written.
std::string graph_canonical_text(const Graph& graph);
// sha256 of the canonical text.
std::string graph_content_hash(const Graph& graph);

bool node_is_effect(const Node& node);    // operator.setitem: no result
bool node_is_in_place(const Node& node);  // operator.iadd and its kin

}  // namespace passnet

#include "graph/value_text.inl"  // IWYU pragma: keep

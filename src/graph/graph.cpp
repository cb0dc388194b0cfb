#include "graph/graph.h"

#include <fmt/format.h>

#include <bit>
#include <unordered_map>

#include "base/file.h"
#include "base/hash.h"

namespace passnet {

Value Value::number(ValueKind kind, std::int64_t i) {
  Value v;
  v.kind = kind;
  v.integer = i;
  return v;
}
Value Value::of(double r) {
  Value v;
  v.kind = ValueKind::real;
  v.real = r;
  return v;
}
Value Value::with_text(ValueKind kind, std::string text) {
  Value v;
  v.kind = kind;
  v.text = std::move(text);
  return v;
}
Value Value::device(std::string type, std::int64_t index) {
  Value v = with_text(ValueKind::device, std::move(type));
  v.integer = index;
  return v;
}
Value Value::ref(NodeId id) {
  Value v;
  v.kind = ValueKind::node;
  v.node = id;
  return v;
}
Value Value::sequence(ValueKind kind, std::vector<Value> items) {
  Value v;
  v.kind = kind;
  v.items = std::move(items);
  return v;
}

bool Value::operator==(const Value& other) const {
  if (kind != other.kind) return false;
  switch (kind) {
    case ValueKind::none:
    case ValueKind::ellipsis: return true;
    case ValueKind::boolean:
    case ValueKind::integer: return integer == other.integer;
    case ValueKind::real: return std::bit_cast<std::uint64_t>(real) == std::bit_cast<std::uint64_t>(other.real);
    case ValueKind::node: return node == other.node;
    case ValueKind::string:
    case ValueKind::constant: return text == other.text;
    case ValueKind::device: return text == other.text && integer == other.integer;
    case ValueKind::tuple:
    case ValueKind::list:
    case ValueKind::slice: return items == other.items;
  }
  return false;
}

std::string_view node_kind_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::placeholder: return "placeholder";
    case NodeKind::call_function: return "call_function";
    case NodeKind::call_method: return "call_method";
    case NodeKind::output: return "output";
  }
  return "";
}

std::size_t Graph::placeholder_count() const {
  std::size_t n = 0;
  while (n < nodes.size() && nodes[n].kind == NodeKind::placeholder) ++n;
  return n;
}

std::vector<NodeId> graph_last_uses(const Graph& graph) {
  std::vector<NodeId> last(graph.nodes.size());
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    last[id] = id;
    node_inputs(graph.nodes[id], [&](NodeId used) { last[used] = id; });
  }
  return last;
}

bool node_is_effect(const Node& node) {
  return node.kind == NodeKind::call_function && node.target == "operator.setitem";
}

bool node_is_in_place(const Node& node) {
  if (node.kind != NodeKind::call_function || !node.target.starts_with("operator.i")) return false;
  constexpr std::string_view kNames[] = {"iadd",    "isub", "imul", "itruediv", "ifloordiv", "imod",   "ipow",
                                         "imatmul", "iand", "ior",  "ixor",     "ilshift",   "irshift"};
  const std::string_view name = std::string_view(node.target).substr(9);
  for (const std::string_view known : kNames)
    if (name == known) return true;
  return false;
}

namespace {

bool is_identifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (!(u >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      return false;
  }
  return true;
}

}  // namespace

Result<std::monostate> graph_verify(const Graph& graph) {
  return guarded([&] {
    const auto wrong = [&](const Node& node, std::string message) {
      fail({Code::graph, where_in_file(graph.file, node.line, node.column), std::move(message), {}});
    };
    if (graph.nodes.empty() || graph.nodes.back().kind != NodeKind::output)
      fail({Code::graph, {graph.file, 0, 0, {}}, "a graph ends with its output", {}});
    bool calls = false;
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
      const Node& node = graph.nodes[id];
      const bool last = id + 1 == static_cast<NodeId>(graph.nodes.size());
      if (node.kind == NodeKind::placeholder && calls)
        wrong(node, fmt::format("placeholder '{}' after a call", node.name));
      if (node.kind == NodeKind::output && !last) wrong(node, "an output before the end");
      calls |= node.kind != NodeKind::placeholder;
      if (node.kind != NodeKind::output && !is_identifier(node.name))
        wrong(node, fmt::format("'{}' is no name", node.name));
      if ((node.kind == NodeKind::call_function || node.kind == NodeKind::call_method) && node.target.empty())
        wrong(node, "a call without a target");
      if (node.kind == NodeKind::call_method && node.args.empty())
        wrong(node, fmt::format(".{} without an object", node.target));
      if (node.kind == NodeKind::output && node.args.size() != 1) wrong(node, "an output has one value");
      node_inputs(node, [&](NodeId used) {
        if (used < 0 || used >= id)
          wrong(node, fmt::format("'{}' uses a node that is not defined before it", node.name));
        if (node_is_effect(graph.nodes[used]))
          wrong(node, fmt::format("'{}' uses the result of an item assignment, which has none", node.name));
      });
      for (std::size_t i = 0; i < node.kwargs.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (node.kwargs[i].name == node.kwargs[j].name)
            wrong(node, fmt::format("keyword '{}' twice", node.kwargs[i].name));
    }
    return std::monostate{};
  });
}

std::string graph_canonical_text(const Graph& graph) {
  const auto name = [](NodeId id) { return "%" + std::to_string(id); };
  std::string out;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const Node& node = graph.nodes[id];
    out += fmt::format("{} = {}", name(id), node_kind_name(node.kind));
    if (node.kind != NodeKind::placeholder) out += fmt::format(" {}(", node.target);
    const char* comma = "";
    for (const Value& arg : node.args) out += std::exchange(comma, ", ") + value_text(arg, name);
    for (const Kwarg& kwarg : node.kwargs)
      out += std::exchange(comma, ", ") + kwarg.name + "=" + value_text(kwarg.value, name);
    out += node.kind != NodeKind::placeholder ? ")\n" : "\n";
  }
  return out;
}

std::string graph_content_hash(const Graph& graph) { return sha256_hex(graph_canonical_text(graph)); }

}  // namespace passnet

// Reasons in words: what was expected, what was found, what to do.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "match/explain.h"
#include "py/ast.h"

namespace passnet {

std::string_view reason_name(ReasonType type) {
  switch (type) {
    case ReasonType::op_mismatch: return "OP_MISMATCH";
    case ReasonType::target_mismatch: return "TARGET_MISMATCH";
    case ReasonType::attr_mismatch: return "ATTR_MISMATCH";
    case ReasonType::arg_mismatch: return "ARG_MISMATCH";
    case ReasonType::not_contained: return "NOT_CONTAINED";
    case ReasonType::not_in_order: return "NOT_IN_ORDER";
    case ReasonType::pattern_invalid: return "PATTERN_INVALID";
  }
  return "";
}

namespace {

std::string kind_text(const Node& node) {
  switch (node.kind) {
    case NodeKind::placeholder: return fmt::format("the input '{}'", node.name);
    case NodeKind::call_function: return fmt::format("the function {}", node.target);
    case NodeKind::call_method: return fmt::format("the method .{}", node.target);
    case NodeKind::output: return "the output";
  }
  return {};
}

std::string values_text(const Graph& graph, const Value& value) {
  return value_text(value, [&](NodeId id) {
    const Node& node = graph.nodes[id];
    return node.target == "getattr" && node.name.starts_with("getattr") ? call_text(graph, id) : node.name;  // x.dtype
  });
}

// Whether a slice holds a parameter or another value of the pattern.
bool slices_by_value(const Value& v, bool inside = false) {
  inside = inside || v.kind == ValueKind::slice;
  return (inside && v.is_node()) ||
         std::any_of(v.items.begin(), v.items.end(), [&](const Value& item) { return slices_by_value(item, inside); });
}

std::string misfit_advice(const Reason& r, const Pattern& pattern, const MatchIndex& index, MatchMode mode) {
  const Node& p = pattern.graph.nodes[r.pattern_node];
  if (r.graph_node < 0) return "the graph has no call to compare it with";
  const Node& g = index.graph.nodes[r.graph_node];
  const std::string written = call_text(index.graph, r.graph_node);
  if (r.has_values && slices_by_value(r.expected))
    return fmt::format("a slice by a parameter never matches, whatever the graph has: write its numbers: {}", written);
  switch (r.misfit) {
    case Misfit::kind:
      if (g.kind == NodeKind::placeholder)
        return fmt::format("'{}' is an input of the graph: make '{}' a parameter of the pattern", g.name, p.name);
      return fmt::format("a method and a function are different targets: write {} as the graph does", written);
    case Misfit::target:
      if (node_is_in_place(p) != node_is_in_place(g))
        return fmt::format("the graph writes {}: `x += y` and `x + y` are different operators", written);
      return fmt::format("write {} as the graph does, or start or end the pattern elsewhere", written);
    case Misfit::literal:
      if (r.has_values && r.expected.kind == ValueKind::real && std::isnan(r.expected.real))
        return "nan equals nothing, itself neither: make the value a parameter of the pattern";
      return fmt::format("write {} as the graph does, or make the value a parameter of the pattern", written);
    case Misfit::structure: return fmt::format("write the operands as the graph does: {}", written);
    case Misfit::arguments:
      return mode == MatchMode::strict
                 ? fmt::format("write {} as the graph does, or match with --match normal", written)
                 : fmt::format("write {} as the graph does", written);
    case Misfit::swapped: return fmt::format("swap the operands: the graph has {}", written);
    case Misfit::again:
      return fmt::format("'{}' stands for another value of the graph already: use two names",
                         values_text(pattern.graph, r.expected));
    case Misfit::taken:
      return fmt::format("the graph's '{}' stands for another name of the pattern already: use one name for it",
                         r.has_values ? values_text(index.graph, r.actual) : g.name);
  }
  return {};
}

}  // namespace

std::string call_text(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (node.kind == NodeKind::placeholder) return node.name;
  const auto text = [&](std::size_t i) { return values_text(graph, node.args[i]); };
  if (node.kind == NodeKind::call_function && node.args.size() == 2 && node.kwargs.empty()) {
    const std::string_view target = node.target;
    const std::string_view name = target.starts_with("operator.") ? target.substr(9) : "";
    const bool in_place = name == "iadd" || name == "isub" || name == "imul" || name == "itruediv";
    const py::Op op = py::op_of_name(name.substr(in_place ? 1 : 0));
    if (op != py::Op::none && !py::is_unary(op))
      return fmt::format("{} {}{} {}", text(0), py::op_text(op), in_place ? "=" : "", text(1));
    if (node.target == "operator.getitem") return fmt::format("{}[{}]", text(0), text(1));
    if (node.target == "getattr") return fmt::format("{}.{}", text(0), node.args[1].text);
  }
  const bool method = node.kind == NodeKind::call_method;
  std::string out = method ? text(0) + "." + node.target + "(" : node.target + "(";
  const char* comma = "";
  for (std::size_t i = method ? 1 : 0; i < node.args.size(); ++i) out += std::exchange(comma, ", ") + text(i);
  for (const Kwarg& k : node.kwargs) out += std::exchange(comma, ", ") + k.name + "=" + values_text(graph, k.value);
  return out + ")";
}

ReasonText reason_text(const Reason& r, const Pattern& pattern, const MatchIndex& index, MatchMode mode) {
  ReasonText out;
  if (r.pattern_node >= 0) out.pattern_node = pattern.graph.nodes[r.pattern_node].name;
  if (r.graph_node >= 0) out.graph_node = index.graph.nodes[r.graph_node].name;
  if (r.type == ReasonType::pattern_invalid) {
    out.actual = pattern.problem.message;
    out.advice = pattern.problem.advice;
    return out;
  }
  if (r.type == ReasonType::not_contained) {
    out.expected = r.cycle ? "no way from the match through other nodes back into it" : "used inside the match only";
    out.actual = r.cycle ? fmt::format("'{}' needs an outside node that needs the match", out.graph_node)
                         : fmt::format("used by {} too", index.graph.nodes[r.user].kind == NodeKind::output
                                                             ? "the graph's return"
                                                             : "'" + index.graph.nodes[r.user].name + "'");
    out.advice = r.cycle ? "the match cannot become one call: take the outside node into the pattern, or return less"
                         : fmt::format("the value is used outside: return '{}' from the pattern", out.pattern_node);
    return out;
  }
  if (r.type == ReasonType::not_in_order) {
    const std::string other = call_text(index.graph, r.user);
    out.expected = fmt::format("to stay on its side of {}", other);
    out.actual = "the one call on the other side";
    out.advice = fmt::format(
        "one of them writes what the other uses, or both draw random numbers: take {} into the pattern, or end it "
        "before",
        other);
    return out;
  }
  if (r.extra) {
    const Node& p = pattern.graph.nodes[r.pattern_node];
    out.expected = kind_text(p);
    out.actual = "none there, and the rest matches without it";
    out.advice = fmt::format("the graph has no {} here; drop {} from the pattern",
                             p.kind == NodeKind::call_method ? "." + p.target : p.target,
                             call_text(pattern.graph, r.pattern_node));
    return out;
  }
  out.advice = misfit_advice(r, pattern, index, mode);
  if (r.has_values) {
    out.expected = values_text(pattern.graph, r.expected);
    out.actual = values_text(index.graph, r.actual);
  } else if (r.graph_node < 0 || r.type == ReasonType::op_mismatch || r.type == ReasonType::target_mismatch) {
    out.expected = kind_text(pattern.graph.nodes[r.pattern_node]);
    if (r.graph_node >= 0) out.actual = kind_text(index.graph.nodes[r.graph_node]);
  } else {
    out.expected = call_text(pattern.graph, r.pattern_node);
    out.actual = call_text(index.graph, r.graph_node);
  }
  return out;
}

}  // namespace passnet

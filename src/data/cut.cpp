#include "data/cut.h"

#include <fmt/format.h>

#include <algorithm>

namespace passnet::data {

namespace {

std::size_t at(NodeId id) { return static_cast<std::size_t>(id); }

// torch 2.13's _check_is_size(i) is _check(i >= 0): a comparison and a check.
struct RetracedRow {
  std::string_view target;
  std::int64_t operators;
};
constexpr RetracedRow kRetraced[] = {
    {"torch._check_is_size", 2},
};

std::int64_t operators_of(const Node& node, Counting counting) {
  if (counting == Counting::retraced)
    for (const RetracedRow& row : kRetraced)
      if (node.target == row.target) return row.operators;
  return 1;
}

NodeId first_op(const Graph& graph) { return static_cast<NodeId>(graph.placeholder_count()); }
NodeId last_op(const Graph& graph) { return static_cast<NodeId>(graph.nodes.size()) - 1; }

class Cutter {
 public:
  Cutter(const Graph& parent, NodeSpan span, const CrossingValues& known)
      : parent_(parent), span_(span), known_(known) {}

  Cut run() {
    Border border = find_border(parent_, span_);
    take_lists_apart(border);
    std::erase_if(border.inputs, [&](NodeId id) { return known_.literals.contains(id); });
    std::erase_if(border.outputs, [&](NodeId id) { return known_.literals.contains(id) || items_.contains(id); });
    out_.inputs.assign(border.inputs.begin(), border.inputs.end());
    std::stable_sort(out_.inputs.begin(), out_.inputs.end(),
                     [&](NodeId a, NodeId b) { return node(a).name < node(b).name; });
    out_.outputs.assign(border.outputs.begin(), border.outputs.end());
    out_.graph.file = parent_.file;
    for (const NodeId id : out_.inputs) add_input(id);
    for (NodeId id = span_.begin; id < span_.end; ++id)
      if (!items_.contains(id)) add_call(id);
    add_output();
    return std::move(out_);
  }

 private:
  const Node& node(NodeId id) const { return parent_.nodes[at(id)]; }
  NodeId next() const { return static_cast<NodeId>(out_.graph.nodes.size()); }

  // `pair = x.chunk(2)` before the range and `pair[0]` in it: the item enters, since a list cannot.
  void take_lists_apart(Border& border) {
    for (const NodeId list : known_.lists) {
      if (border.inputs.erase(list) == 0) continue;
      for (NodeId id = span_.begin; id < span_.end; ++id) {
        bool uses = false;
        node_inputs(node(id), [&](NodeId used) { uses |= used == list; });
        if (!uses) continue;
        const Node& user = node(id);
        if (!takes_item(user))
          fail({Code::graph,
                {parent_.file, user.line, user.column, {}},
                fmt::format("'{}' takes the list of tensors '{}' from before the range", user.name, node(list).name),
                {"only single items of a list can enter; begin the range at the operator that makes it"}});
        items_.insert(id);
        border.inputs.insert(id);
      }
    }
  }

  void add_input(NodeId id) {
    Node input;
    input.kind = NodeKind::placeholder;
    input.name = fmt::format("in_{}", out_.graph.nodes.size());
    ids_[id] = next();
    out_.graph.nodes.push_back(std::move(input));
  }

  void add_call(NodeId id) {
    Node call = node(id);
    call.name = fmt::format("tmp_{}", next() - static_cast<NodeId>(out_.inputs.size()));
    for (Value& v : call.args) v = rewritten(v);
    for (Kwarg& k : call.kwargs) k.value = rewritten(k.value);
    ids_[id] = next();
    out_.graph.nodes.push_back(std::move(call));
  }

  void add_output() {
    if (out_.outputs.empty())
      fail({Code::graph,
            {parent_.file, node(span_.begin).line, 0, {}},
            "no tensor that the range computes is used after it",
            {"choose a range whose results are used"}});
    Node output;
    output.kind = NodeKind::output;
    output.target = "output";
    std::vector<Value> results;
    for (const NodeId id : out_.outputs) results.push_back(Value::ref(ids_.at(id)));
    output.args.push_back(Value::sequence(ValueKind::tuple, std::move(results)));
    out_.graph.nodes.push_back(std::move(output));
  }

  Value rewritten(const Value& v) const {
    if (v.is_node()) {
      if (v.node < span_.begin)
        if (const auto literal = known_.literals.find(v.node); literal != known_.literals.end()) return literal->second;
      return Value::ref(ids_.at(v.node));
    }
    Value out = v;
    for (Value& item : out.items) item = rewritten(item);
    return out;
  }

  const Graph& parent_;
  NodeSpan span_;
  const CrossingValues& known_;
  std::set<NodeId> items_;  // of lists that enter: inputs, not operators
  std::map<NodeId, NodeId> ids_;
  Cut out_;
};

}  // namespace

std::int64_t op_count(const Graph& graph, Counting counting) {
  std::int64_t n = 0;
  for (NodeId id = first_op(graph); id < last_op(graph); ++id) n += operators_of(graph.nodes[at(id)], counting);
  return n;
}

Result<NodeSpan> range_nodes(const Graph& graph, OpRange range, Counting counting) {
  const auto wrong = [&](std::string what) {
    return Error{Code::usage,
                 {graph.file, 0, 0, {}},
                 fmt::format("the range [{}, {}) {}", range.begin, range.end, what),
                 {"a range counts operators from 0, its end is not in it; inputs and the output do not count"}};
  };
  if (range.begin < 0 || range.begin >= range.end || range.end > op_count(graph, counting))
    return wrong(fmt::format("is not inside the graph's {} operators", op_count(graph, counting)));
  NodeSpan out{-1, -1};
  std::int64_t position = 0;
  for (NodeId id = first_op(graph); id <= last_op(graph); ++id) {
    if (position == range.begin) out.begin = id;
    if (position == range.end) out.end = id;
    if (id < last_op(graph)) position += operators_of(graph.nodes[at(id)], counting);
  }
  if (out.begin < 0 || out.end < 0) return wrong("begins or ends inside a printed operator");
  return out;
}

bool takes_item(const Node& node) {
  return node.kind == NodeKind::call_function && node.target == "operator.getitem" && node.args.size() == 2 &&
         node.args[0].is_node() && node.args[1].kind == ValueKind::integer;
}

Border find_border(const Graph& graph, NodeSpan span) {
  Border out;
  for (NodeId id = span.begin; id < static_cast<NodeId>(graph.nodes.size()); ++id)
    node_inputs(graph.nodes[at(id)], [&](NodeId used) {
      if (id < span.end && used < span.begin) out.inputs.insert(used);
      if (id >= span.end && used >= span.begin && used < span.end) out.outputs.insert(used);
    });
  return out;
}

Result<Cut> cut_graph(const Graph& parent, NodeSpan span, const CrossingValues& known) {
  return guarded([&] { return Cutter(parent, span, known).run(); });
}

}  // namespace passnet::data

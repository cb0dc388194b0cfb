#include "pass/filters.h"

#include <algorithm>

#include "ops/table.h"
#include "pass/rewrite.h"

namespace passnet {

namespace {

template <class F>
void matched_nodes(const Binder& binder, const F& visit) {
  for (const NodeId id : binder.pattern().calls) visit(id, binder.bound(id).node);
}

bool holds_node_inside(const Value& value, NodeId id) {
  return std::any_of(value.items.begin(), value.items.end(), [&](const Value& item) {
    return (item.is_node() && item.node == id) || holds_node_inside(item, id);
  });
}

// Whether `user` holds the node in a list or slice, which a placeholder may bind as a whole.
bool uses_inside_aggregate(const Node& user, NodeId id) {
  return std::any_of(user.args.begin(), user.args.end(), [&](const Value& v) { return holds_node_inside(v, id); }) ||
         std::any_of(user.kwargs.begin(), user.kwargs.end(),
                     [&](const Kwarg& k) { return holds_node_inside(k.value, id); });
}

}  // namespace

Leak filter_contained(const Binder& binder) {
  Leak out;
  matched_nodes(binder, [&](NodeId pattern_node, NodeId node) {
    if (out || binder.pattern().is_returning[pattern_node]) return;
    for (const NodeId user : binder.index().users.of(node)) {
      if (binder.is_matched(user)) continue;
      out = {node, user};
      return;
    }
  });
  return out;
}

Leak filter_contained_alone(const Binder& binder, const Pattern::Anchor& anchor) {
  const Pattern& p = binder.pattern();
  for (const NodeId id : anchor.cone) {
    if (p.is_placeholder(id) || p.is_returning[id]) continue;
    const auto users = p.users.of(id);
    const bool own =
        std::all_of(users.begin(), users.end(), [&](NodeId user) { return static_cast<bool>(binder.bound(user)); });
    if (!own) continue;  // another anchor's cone uses it too
    const NodeId node = binder.bound(id).node;
    for (const NodeId user : binder.index().users.of(node))
      if (!binder.is_matched(user) && !uses_inside_aggregate(binder.index().graph.nodes[user], node))
        return {node, user};
  }
  return {};
}

NodeId AcyclicFilter::find_cycle(const Binder& binder) {
  ++round_;
  NodeId last = -1;
  matched_nodes(binder, [&](NodeId, NodeId node) { last = std::max(last, node); });
  std::vector<NodeId> queue;
  const auto enter_users = [&](NodeId node, bool of_match) {
    for (const NodeId user : index_.users.of(node)) {
      ++steps_;
      if (user > last) break;  // users stand in graph order, and behind the last matched node no way leads back
      if ((of_match && binder.is_matched(user)) || seen_[user] == round_) continue;
      seen_[user] = round_;
      queue.push_back(user);
    }
  };
  matched_nodes(binder, [&](NodeId, NodeId node) { enter_users(node, true); });
  while (!queue.empty()) {
    const NodeId node = queue.back();
    queue.pop_back();
    if (binder.is_matched(node)) return node;
    enter_users(node, false);
  }
  return -1;
}

namespace {

// Rows of the operator table that may give back their argument, or a part of it.
constexpr std::string_view kMayShare[] = {"getitem",
                                          "__getitem__",
                                          "getattr",
                                          "contiguous",
                                          "to",
                                          "type",
                                          "type_as",
                                          "float",
                                          "half",
                                          "bfloat16",
                                          "double",
                                          "int",
                                          "long",
                                          "short",
                                          "bool",
                                          "byte",
                                          "char",
                                          "cpu",
                                          "cuda",
                                          "dropout",
                                          "dropout1d",
                                          "dropout2d",
                                          "dropout3d",
                                          "alpha_dropout",
                                          "feature_alpha_dropout",
                                          "split",
                                          "chunk",
                                          "unbind",
                                          "tensor_split",
                                          "squeeze",
                                          "unsqueeze",
                                          "broadcast_tensors",
                                          "atleast_1d",
                                          "atleast_2d",
                                          "atleast_3d",
                                          "meshgrid",
                                          "as_tensor",
                                          "asarray",
                                          "adaptive_avg_pool2d",
                                          "pad"};

bool may_share_memory(const Node& node) {
  if (node.kind == NodeKind::placeholder || node.kind == NodeKind::output) return false;
  if (node_writes(node)) return true;
  const OpTarget& op = op_find(node_spelling(node));
  if (!op) return true;  // not known: the careful answer
  if (op.row == nullptr)
    return std::any_of(op.overloads.begin(), op.overloads.end(),
                       [](const AtenRow* row) { return aten_schema(*row).view; });
  const std::string_view name = std::string_view(node.target).substr(node.target.rfind('.') + 1);
  return std::find(std::begin(kMayShare), std::end(kMayShare), name) != std::end(kMayShare);
}

}  // namespace

NodeId OrderFilter::memory(NodeId id) const {
  while (shares_[id] != id) id = shares_[id];
  return id;
}

OrderFilter::OrderFilter(const Graph& graph)
    : graph_(graph),
      shares_(graph.nodes.size()),
      writes_(graph.nodes.size(), false),
      writers_(graph.nodes.size()),
      readers_(graph.nodes.size()) {
  const auto count = static_cast<NodeId>(graph.nodes.size());
  for (NodeId id = 0; id < count; ++id) {
    const Node& node = graph.nodes[id];
    shares_[id] = id;
    writes_[id] = node_writes(node);
    if (!may_share_memory(node)) continue;
    // The first operand's memory; where that is a list, any of its items'.
    const bool one = !node.args.empty() && node.args[0].is_node();
    node_inputs(node, [&](NodeId used) {
      const NodeId mine = memory(id), other = memory(used);
      if (mine != other && !(one && mine != id)) shares_[std::max(mine, other)] = std::min(mine, other);
    });
    shares_[id] = memory(id);
  }
  for (NodeId id = 0; id < count; ++id) {
    const Node& node = graph.nodes[id];
    bool first = true;
    node_inputs(node, [&](NodeId used) {
      const NodeId owner = memory(used);
      if (readers_[owner].empty() || readers_[owner].back() != id) readers_[owner].push_back(id);
      if (std::exchange(first, false) && writes_[id]) writers_[owner].push_back(id);
    });
  }
}

NodeId OrderFilter::find_conflict(std::span<const NodeId> matched, NodeId after) const {
  // The first node outside that moves to the other side of `node`.
  const auto passed = [&](NodeId node, const std::vector<NodeId>& others) -> NodeId {
    const NodeId begin = node <= after ? node + 1 : after + 1, end = node <= after ? after : node - 1;
    for (auto it = std::lower_bound(others.begin(), others.end(), begin); it != others.end() && *it <= end; ++it)
      if (!std::binary_search(matched.begin(), matched.end(), *it)) return *it;
    return -1;
  };
  for (const NodeId node : matched) {
    NodeId found = -1;
    bool first = true;
    node_inputs(graph_.nodes[node], [&](NodeId used) {
      const NodeId owner = memory(used);
      if (found < 0) found = passed(node, writers_[owner]);
      if (std::exchange(first, false) && writes_[node] && found < 0) found = passed(node, readers_[owner]);
    });
    if (found >= 0) return found;
  }
  return -1;
}

bool OverlapFilter::overlaps(const Binder& binder) const {
  const auto& calls = binder.pattern().calls;
  return std::any_of(calls.begin(), calls.end(), [&](NodeId id) { return taken_[binder.bound(id).node]; });
}

void OverlapFilter::take(const Binder& binder) {
  matched_nodes(binder, [&](NodeId, NodeId node) { taken_[node] = true; });
}

}  // namespace passnet

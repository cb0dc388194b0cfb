#include "pass/filters.h"

#include <algorithm>

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

bool OverlapFilter::overlaps(const Binder& binder) const {
  const auto& calls = binder.pattern().calls;
  return std::any_of(calls.begin(), calls.end(), [&](NodeId id) { return taken_[binder.bound(id).node]; });
}

void OverlapFilter::take(const Binder& binder) {
  matched_nodes(binder, [&](NodeId, NodeId node) { taken_[node] = true; });
}

}  // namespace passnet

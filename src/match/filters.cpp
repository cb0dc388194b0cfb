#include "match/filters.h"

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

std::vector<OrderFilter::Conflict> OrderFilter::find_conflicts(const std::vector<NodeId>& order) {
  if (std::is_sorted(order.begin(), order.end())) return {};
  if (effects_.empty()) effects_ = graph_effects(graph_, externals_);
  std::vector<NodeId> before = order;
  std::sort(before.begin(), before.end());
  const auto accesses = [&](NodeId id, const auto& visit) {
    for (const Memory m : effects_[id].reads) visit(m);
    for (const Memory m : effects_[id].writes) visit(m);
  };
  Memory most = kGenerator;
  for (const NodeId id : before) accesses(id, [&](Memory m) { most = std::max(most, m); });
  // How many writes of a memory an access comes behind: as many as before it must be.
  std::vector<std::vector<NodeId>> writers(static_cast<std::size_t>(most) + 1);
  std::vector<std::size_t> behind, first(graph_.nodes.size());
  for (const NodeId id : before) {
    first[id] = behind.size();
    accesses(id, [&](Memory m) { behind.push_back(writers[m].size()); });
    for (const Memory m : effects_[id].writes) writers[m].push_back(id);
  }
  std::vector<Conflict> out;
  std::vector<std::size_t> written(writers.size(), 0);
  std::vector<bool> lost(writers.size(), false);  // after a conflict the numbers mean nothing
  for (const NodeId id : order) {
    std::size_t at = first[id];
    accesses(id, [&](Memory m) {
      const std::size_t expected = behind[at++];
      if (lost[m] || written[m] == expected) return;
      out.push_back({id, writers[m][std::min(written[m], expected)]});
      lost[m] = true;
    });
    for (const Memory m : effects_[id].writes) ++written[m];
  }
  return out;
}

bool OverlapFilter::overlaps(const Binder& binder) const {
  const auto& calls = binder.pattern().calls;
  return std::any_of(calls.begin(), calls.end(), [&](NodeId id) { return taken_[binder.bound(id).node]; });
}

void OverlapFilter::take(const Binder& binder) {
  matched_nodes(binder, [&](NodeId, NodeId node) { taken_[node] = true; });
}

}  // namespace passnet

// The validity filters: a complete binding becomes a match only if all of them let it pass.
#pragma once

#include <span>
#include <vector>

#include "pass/binder.h"

namespace passnet {

// The value of the match that something outside uses although the pattern does not return it, and that user.
struct Leak {
  NodeId node = -1, user = -1;
  explicit operator bool() const { return node >= 0; }
};
// Contained: nothing outside the match uses a matched value, unless the pattern returns it.
Leak filter_contained(const Binder& binder);
// The same for one anchor's cone alone, as far as no other anchor can mend it.
Leak filter_contained_alone(const Binder& binder, const Pattern::Anchor& anchor);

// Acyclic: no way leads from the match through outside nodes back into it; such a match cannot become one call.
// Returns the matched node that is reached again, or -1.
class AcyclicFilter {
 public:
  explicit AcyclicFilter(const MatchIndex& index) : index_(index), seen_(index.graph.nodes.size(), 0) {}
  NodeId find_cycle(const Binder& binder);
  std::size_t steps() const { return steps_; }

 private:
  const MatchIndex& index_;
  std::vector<std::uint32_t> seen_;  // the round in which a node was visited
  std::uint32_t round_ = 0;
  std::size_t steps_ = 0;
};

// In order: for rewriting alone, since torch.fx's matcher does not ask it. A match becomes one call at one place, so
// its nodes move there; none of them may move past a node outside that writes what it reads or writes, nor one that
// writes past a node outside that reads the same. What may share memory counts as the same: views, slices, `.to`,
// in-place results. Writes are item assignments, `x += y`, methods and functions that end in `_`, `inplace=True`.
class OrderFilter {
 public:
  explicit OrderFilter(const Graph& graph);
  // `matched` in graph order; the call stands behind node `after`. The node outside that is in the way, or -1.
  NodeId find_conflict(std::span<const NodeId> matched, NodeId after) const;

 private:
  NodeId memory(NodeId id) const;

  const Graph& graph_;
  std::vector<NodeId> shares_;  // towards the node that owns the memory
  std::vector<bool> writes_;
  std::vector<std::vector<NodeId>> writers_, readers_;  // of a memory, by its owner, in graph order
};

// Not overlapping: no node of an earlier match is matched again. Placeholders may share.
class OverlapFilter {
 public:
  explicit OverlapFilter(const MatchIndex& index) : taken_(index.graph.nodes.size(), false) {}
  bool taken(NodeId graph_node) const { return taken_[graph_node]; }
  const std::vector<bool>& taken_nodes() const { return taken_; }
  bool overlaps(const Binder& binder) const;
  void take(const Binder& binder);

 private:
  std::vector<bool> taken_;
};

}  // namespace passnet

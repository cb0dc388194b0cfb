// The validity filters: a complete binding becomes a match only if all of them let it pass.
#pragma once

#include <span>
#include <vector>

#include "match/binder.h"
#include "ops/effects.h"

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
// nodes move; none may change places with one that writes the memory (ops/effects.h) which it reads or writes, nor may
// two that draw random numbers.
class OrderFilter {
 public:
  explicit OrderFilter(const Graph& graph, std::span<const ExternalFunction> externals = {})
      : graph_(graph), externals_(externals) {}
  // Two nodes that change places; `writer` is the one that writes.
  struct Conflict {
    NodeId node = -1, writer = -1;
    explicit operator bool() const { return node >= 0; }
  };
  // `order`: nodes of the graph as they would run. The first conflict over each memory.
  std::vector<Conflict> find_conflicts(const std::vector<NodeId>& order);

 private:
  const Graph& graph_;
  std::span<const ExternalFunction> externals_;
  std::vector<NodeEffects> effects_;  // made when they are first needed
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

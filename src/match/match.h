// Where a pattern occurs in a graph: the same matches, in the same order, as torch.fx's SubgraphMatcher (strict), or
// after both sides are normalised (normal).
//
// 1. Every anchor of the pattern (a returned value that nothing else in it uses) has candidates: graph nodes with its
// target.
// 2. From an anchor and a candidate both graphs are walked upwards in step (binder.h); every operand must fit. A
// placeholder fits any value.
// 3. Several anchors are joined: the next one's candidates are those that share what is bound already, found by a
// table.
// 4. A complete binding must pass the filters (filters.h): contained, acyclic, not overlapping an earlier match.
// Nothing here changes the graph.
#pragma once

#include <map>
#include <vector>

#include "match/binder.h"

namespace passnet {

struct Match {
  std::vector<NodeId> nodes;               // for each pattern node its graph node; -1 where it is none
  std::map<NodeId, Value> values;          // the placeholders that stand for literals, lists and slices
  Value value(NodeId pattern_node) const;  // either, as a graph's value
};

struct MatchResult {
  std::vector<Match> matches;
  bool gave_up = false;  // unconnected outputs with too many combinations
};

// Real patterns stay far below so many steps, one or two seconds.
inline constexpr std::size_t kMostMatchSteps = 100'000'000;
MatchResult find_matches(const Pattern& pattern, const MatchIndex& index, MatchMode mode,
                         std::size_t most_steps = kMostMatchSteps);

}  // namespace passnet

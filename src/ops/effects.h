// Which memory the nodes of a graph read and write, as the schemas of the operators say to which they lower.
//
// In: a graph. Out: for each node the memories of its operands, those that it writes and those of what it gives back.
// Values that may share memory (views, in-place results, `.to`, which may give its argument back) lie in one. A node
// that cannot be lowered may do anything with its operands.
#pragma once

#include <span>
#include <vector>

#include "ops/lower.h"

namespace passnet {

using Memory = std::int32_t;
inline constexpr Memory kGenerator = 0;  // the random numbers' state: who draws writes it

struct NodeEffects {
  std::vector<Memory> gives, reads, writes;  // sorted, each once; written is also read, but for kGenerator
  bool known = true;                         // that is, lowered
  bool writes_memory() const { return !writes.empty() && writes.back() != kGenerator; }
};

// `inputs` is what the placeholders are: those of a pattern stand for any value.
std::vector<NodeEffects> graph_effects(const Graph& graph, std::span<const ExternalFunction> externals = {},
                                       Ty inputs = Ty::tensor);
// One call alone, whatever its operands are.
NodeEffects node_effects(const Node& node, std::span<const ExternalFunction> externals = {});
// Whether that writes into an operand: item assignment, `x += y`, `x.add_(y)`, `inplace=True`, running statistics.
bool node_writes(const Node& node);
// Those operands, each once.
std::vector<NodeId> written_operands(const Node& node);
bool graph_writes(const Graph& graph);

bool share_memory(const std::vector<Memory>& a, const std::vector<Memory>& b);

}  // namespace passnet

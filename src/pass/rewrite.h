// The one place where graphs are edited: every match of a pass becomes one call of its wrapper.
//
// In: a graph, a pattern, its matches with the wrapper's arguments. Out: a new graph, verified. The input is left
// alone.
//  - One output: the call is it, and takes its name. Several: operator.getitem nodes behind the call take theirs.
//  - The call stands where the last matched node stood, or before the first user of an output where that comes earlier.
//  Only where no place
//    is both behind all inputs and before all users are users moved behind the call, and never past an effect.
//  - Matched nodes go, and so does what nobody needs any more, unless it acts on something (item assignment, in-place,
//  random draws).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pass/match.h"

namespace passnet {

struct Replacement {
  const Match* match = nullptr;
  std::string target;       // the wrapper's name
  std::vector<Value> args;  // over the graph's nodes, as the match bound them
};

// `args` as replacement_args has them, over the pattern's nodes, become the values that the match bound.
Replacement make_replacement(const Match& match, std::string target, std::vector<Value> args);

struct Rewritten {
  Graph graph;
  std::vector<NodeId> calls;  // the new calls
  std::vector<std::size_t>
      left_out;  // replacements that would close a circle with an earlier one, or move something past a write
};

Result<Rewritten> rewrite(const Graph& graph, const Pattern& pattern, std::span<const Replacement> replacements);

// Whether a node does something beside its result: it stays although nobody uses it.
bool node_acts(const Node& node);
// Whether that is a write into its first operand: item assignment, `x += y`, `x.add_(y)`, `inplace=True`.
bool node_writes(const Node& node);

}  // namespace passnet

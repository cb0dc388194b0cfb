// The one place where graphs are edited: every match of a pass becomes one call of its wrapper.
//
// In: a graph, a pattern, its matches with the wrapper's arguments. Out: a new graph, verified. The input is left
// alone.
//  - One output: the call is it, and takes its name. Several: operator.getitem nodes behind the call take theirs.
//  - The call stands where the last matched node stood, or before the first user of an output where that comes earlier.
//    Only where no place is both behind all inputs and before all users are users moved behind the call.
//  - Reads and writes of one memory keep their order (filters.h): a match that would change it is left out.
//  - Matched nodes go, and so does what nobody needs any more, unless it acts on something (item assignment, in-place,
//  random draws).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "match/filters.h"
#include "match/match.h"

namespace passnet {

struct Replacement {
  const Match* match = nullptr;
  std::string target;       // the wrapper's name
  std::vector<Value> args;  // over the graph's nodes, as the match bound them
};

// `args` as replacement_args has them, over the pattern's nodes, become the values that the match bound.
Replacement make_replacement(const Match& match, std::string target, std::vector<Value> args);

// A match that cannot become one call: the two nodes would change places; or, where there are none, its arguments need
// it, or a way leads out of it and back.
struct LeftOut {
  std::size_t replacement;
  OrderFilter::Conflict conflict;
};

struct Rewritten {
  Graph graph;                // as it was where every match is left out
  std::vector<NodeId> calls;  // the new calls
  std::vector<LeftOut> left_out;
};

// `externals` are the wrappers that the graph calls already.
Result<Rewritten> rewrite(const Graph& graph, const Pattern& pattern, std::span<const Replacement> replacements,
                          std::span<const ExternalFunction> externals = {});

// The wrapper of a pattern as later passes see it: its call writes and gives back what the nodes do that it replaces.
ExternalFunction wrapper_function(std::string name, const Pattern& pattern, std::span<const Value> args);

// Whether a node does something beside its result: it stays although nobody uses it.
bool node_acts(const Node& node, std::span<const ExternalFunction> externals = {});

}  // namespace passnet

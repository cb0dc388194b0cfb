// Applies a pass folder to a graph: passes in list order, each on the result of the one before, verified after each.
#pragma once

#include "match/match.h"
#include "ops/lower.h"
#include "pass/load.h"

namespace passnet {

struct AppliedPass {
  std::string name;
  std::size_t matches = 0;
  std::size_t left_out = 0;  // matches that cannot become one call (rewrite.h)
};

struct Applied {
  Graph graph;
  std::vector<AppliedPass> passes;
  // The wrappers that the new graph calls, by the names of the calls; the program is lowered with these.
  std::vector<ExternalFunction> externals;
  std::vector<const Pass*> wrappers;                   // one for each external: where its function is
  bool changed() const { return !externals.empty(); }  // otherwise: pass_miss
};

// Refers to the folder's passes.
Result<Applied> apply_passes(const Graph& graph, const PassFolder& folder, MatchMode mode);

}  // namespace passnet

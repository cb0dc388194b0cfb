// Graph -> Program: every call found in the operator table, its arguments bound, its overload chosen, once, at load.
#pragma once

#include "graph/graph.h"
#include "ops/program.h"

namespace passnet {

// Errors carry the node's line; an unknown operator names the nearest known ones, a bad call every signature's objection.
Result<Program> lower_graph(const Graph& graph);

// One line a step, for people and tests.
std::string program_text(const Program& program);

}  // namespace passnet

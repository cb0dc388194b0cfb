// Graph -> Program: every call found in the operator table, its arguments bound, its overload chosen, once, at load.
#pragma once

#include <span>

#include "graph/graph.h"
#include "ops/program.h"

namespace passnet {

// A function that is no operator: a pass's wrapper, called by its name. Whoever runs the program provides it.
struct ExternalFunction {
  std::string name;
  std::size_t outputs = 1;               // more than one: the result is a list of tensors
  std::vector<bool> writes, gives_back;  // by argument: the memory that it writes, and what its result may lie in
};

// Errors carry the node's line; an unknown operator names the nearest known ones, a bad call every signature's
// objection.
Result<Program> lower_graph(const Graph& graph, std::span<const ExternalFunction> externals = {});
// As far as it goes: a node that cannot be lowered becomes a step of kind `unknown` with its operands.
Program lower_known(const Graph& graph, std::span<const ExternalFunction> externals, Ty inputs);

// One line a step, for people and tests.
std::string program_text(const Program& program);

}  // namespace passnet

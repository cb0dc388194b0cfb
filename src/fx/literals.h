// Arithmetic on literals while a graph is built: what Python would have computed before the call.
#pragma once

#include <optional>

#include "graph/graph.h"
#include "py/ast.h"

namespace passnet {

std::optional<Value> fold_unary(py::Op op, const Value& operand);
std::optional<Value> fold_binary(py::Op op, const Value& left, const Value& right);

}  // namespace passnet

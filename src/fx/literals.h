// Arithmetic on literals while a graph is built: what Python would have computed before the call.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/graph.h"
#include "py/ast.h"

namespace passnet {

std::optional<Value> fold_unary(py::Op op, const Value& operand);
// math.NAME of literals: sqrt, exp, log, log2, pow, floor, ceil.
std::optional<Value> fold_math(std::string_view name, std::span<const Value> args);
// A list or tuple is not made longer by `*`, nor repeated more often.
inline constexpr std::int64_t kMostRepeated = 4096;
std::optional<Value> fold_binary(py::Op op, const Value& left, const Value& right);
// A comparison of two literals, or nullopt where one is not, or Python would refuse.
std::optional<bool> fold_compare(py::Op op, const Value& left, const Value& right);

}  // namespace passnet

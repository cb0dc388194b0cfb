#include "ops/builtins.h"

namespace passnet {

const BuiltinRow* builtin_find(std::string_view name) {
  for (const BuiltinRow& row : kBuiltins)
    if (row.name == name) return &row;
  return nullptr;
}

Ty builtin_result(const BuiltinRow& row, std::span<const Ty> args) {
  if (row.result != Ty::any) return row.result;
  if (row.name == "getitem") {
    if (args[0] == Ty::tensor) return Ty::tensor;
    const bool one = args[1] == Ty::integer || args[1] == Ty::number;
    if (args[0] == Ty::tensors) return one ? Ty::tensor : Ty::tensors;
    if (args[0] == Ty::integers) return one ? Ty::integer : Ty::integers;
    return Ty::any;
  }
  if (row.name == "sum" || row.name == "max" || row.name == "min")
    return args[0] == Ty::integers ? Ty::integer : Ty::number;
  if (row.name == "tolist" || row.name == "raise") return Ty::any;
  // Arithmetic: integers stay integers, a real makes a real; lists concatenate and repeat.
  bool integers = true, lists = false, real = false;
  for (const Ty t : args) {
    lists |= t == Ty::integers;
    real |= t == Ty::real;
    integers &= t == Ty::integer || t == Ty::boolean;
    if (t == Ty::tensors) return Ty::tensors;
    if (t == Ty::other || t == Ty::any) return lists ? Ty::integers : Ty::any;
  }
  if (lists) return Ty::integers;
  if (real) return Ty::real;
  return integers && row.name != "pow" ? Ty::integer : Ty::number;
}

}  // namespace passnet

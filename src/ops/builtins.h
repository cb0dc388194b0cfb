// The builtins that rows call as py.f: what Python does on sizes, numbers and indices, done by exec when a graph runs.
#pragma once

#include <span>
#include <string_view>

#include "ops/program.h"

namespace passnet {

// What it does with its first argument's memory.
enum class OnFirst : std::uint8_t { reads, writes, gives_back };

struct BuiltinRow {
  std::string_view name;
  Ty result;  // Ty::any: found from the arguments (see builtin_result)
  std::uint8_t min_args, max_args;
  OnFirst memory = OnFirst::reads;
};

inline constexpr BuiltinRow kBuiltins[] = {
    // tensors' sizes and properties
    {"size", Ty::integers, 1, 1},
    {"size_at", Ty::integer, 2, 2},
    {"stride", Ty::integers, 1, 1},
    {"stride_at", Ty::integer, 2, 2},
    {"dim", Ty::integer, 1, 1},
    {"numel", Ty::integer, 1, 1},
    {"len", Ty::integer, 1, 1},
    {"dtype", Ty::dtype, 1, 1},
    {"device", Ty::device, 1, 1},
    {"element_size", Ty::integer, 1, 1},
    {"is_cuda", Ty::boolean, 1, 1},
    {"is_contiguous", Ty::boolean, 2, 2},
    {"storage_offset", Ty::integer, 1, 1},
    {"get_device", Ty::integer, 1, 1},
    {"is_floating_point", Ty::boolean, 1, 1},
    {"is_same", Ty::boolean, 2, 2},
    {"is_none", Ty::boolean, 1, 1},
    {"is_tensor", Ty::boolean, 1, 1},
    {"device_type", Ty::string, 1, 1},
    {"device_index", Ty::any, 1, 1},
    {"type_name", Ty::string, 1, 1},
    {"type_limit", Ty::number, 2, 2},
    // values read from tensors
    {"item", Ty::number, 1, 1},
    {"tolist", Ty::any, 1, 1},
    {"int", Ty::integer, 1, 1},
    {"float", Ty::real, 1, 1},
    {"bool", Ty::boolean, 1, 1},
    // items
    {"getitem", Ty::any, 2, 2, OnFirst::gives_back},
    {"setitem", Ty::none, 3, 3, OnFirst::writes},
    // tensors from numbers
    {"tensor", Ty::tensor, 3, 3},
    {"as_tensor", Ty::tensor, 3, 3, OnFirst::gives_back},
    {"unravel_index", Ty::tensors, 2, 2},
    // numbers; sequences too where Python allows it
    {"add", Ty::any, 2, 2},
    {"sub", Ty::any, 2, 2},
    {"mul", Ty::any, 2, 2},
    {"truediv", Ty::real, 2, 2},
    {"floordiv", Ty::any, 2, 2},
    {"mod", Ty::any, 2, 2},
    {"pow", Ty::any, 2, 2},
    {"and_", Ty::any, 2, 2},
    {"or_", Ty::any, 2, 2},
    {"xor", Ty::any, 2, 2},
    {"lshift", Ty::integer, 2, 2},
    {"rshift", Ty::integer, 2, 2},
    {"lt", Ty::boolean, 2, 2},
    {"le", Ty::boolean, 2, 2},
    {"gt", Ty::boolean, 2, 2},
    {"ge", Ty::boolean, 2, 2},
    {"eq", Ty::boolean, 2, 2},
    {"ne", Ty::boolean, 2, 2},
    {"in", Ty::boolean, 2, 2},
    {"neg", Ty::any, 1, 1},
    {"invert", Ty::integer, 1, 1},
    {"abs", Ty::any, 1, 1},
    {"not_", Ty::boolean, 1, 1},
    {"sum", Ty::any, 1, 1},
    {"max", Ty::any, 1, 1},
    {"min", Ty::any, 1, 1},
    {"sqrt", Ty::real, 1, 1},
    {"floor", Ty::integer, 1, 1},
    {"ceil", Ty::integer, 1, 1},
    {"check", Ty::none, 1, 1},
    {"raise", Ty::any, 1, 1},
    {"range", Ty::integers, 1, 2},
    {"manual_seed", Ty::none, 1, 1},
    // lists of sizes
    {"tuple_of", Ty::integers, 2, 2},
    {"float_tuple_of", Ty::other, 2, 2},
    {"fill_sizes", Ty::integers, 3, 3},
    {"scaled_sizes", Ty::integers, 2, 2},
    {"fractional_size", Ty::integers, 3, 3},
    {"unpool_size", Ty::integers, 6, 6},
    {"broadcast_shapes", Ty::integers, 1, 1},
};

const BuiltinRow* builtin_find(std::string_view name);
// The static type of a builtin's result.
Ty builtin_result(const BuiltinRow& row, std::span<const Ty> args);

}  // namespace passnet

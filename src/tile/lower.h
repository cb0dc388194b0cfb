// The front-end: a kernel's syntax and what is known of its arguments -> tile IR. Types, promotion, broadcasting and
// compile-time evaluation are Triton's. Every op has the line it comes from; errors have line, column and advice.
#pragma once

#include <algorithm>
#include <span>

#include "base/error.h"
#include "tile/names.h"

namespace passnet::tile {

// How an argument enters the kernel. Constants are part of the compiled kernel.
struct ArgumentSpec {
  enum class Kind : std::uint8_t { pointer, scalar, constant, tuple, function } kind = Kind::constant;
  Elem elem = Elem::i32;  // pointed to, or of the scalar
  // Of a pointer: none, or a tensor descriptor's sizes, strides and block, tuples of integers. Of a tuple: none, or the
  // names of its items, "m,n".
  ConstValue constant;
  std::vector<ArgumentSpec> items;  // of a tuple
  Named function;                   // a device function

  static ArgumentSpec pointer(Elem elem) { return {Kind::pointer, elem, {}, {}, {}}; }
  // i32 if it fits, else i64, else u64, which holds it; 1 is a constant, as in Triton, unless the kernel is not
  // specialised for it.
  static ArgumentSpec integer(const Integer& value, bool specialised = true);
  static ArgumentSpec real() { return {Kind::scalar, Elem::f32, {}, {}, {}}; }
  static ArgumentSpec boolean() { return {Kind::scalar, Elem::i1, {}, {}, {}}; }
  static ArgumentSpec of(ConstValue value) { return {Kind::constant, Elem::i32, std::move(value), {}, {}}; }
  static ArgumentSpec tuple(std::vector<ArgumentSpec> items) {
    return {Kind::tuple, Elem::i32, {}, std::move(items), {}};
  }
  static ArgumentSpec device_function(Named function) {
    return {Kind::function, Elem::i32, {}, {}, std::move(function)};
  }

  bool is_constant() const {
    return kind == Kind::constant || kind == Kind::function ||
           (kind == Kind::tuple &&
            std::all_of(items.begin(), items.end(), [](const ArgumentSpec& item) { return item.is_constant(); }));
  }
};

// The name of a tuple's item, which is an argument like any other.
inline std::string item_name(std::string_view tuple, std::size_t item) {
  return std::string(tuple) + "." + std::to_string(item);
}

// `arguments`: one for each parameter of the kernel, in order. Function::parameters holds the names of those that are
// not constants, in the kernel's order; of a tuple those of its items.
// `num_warps`: what tl.extra.cuda.num_warps() gives; 0 where that is not one number.
Result<Function> lower_kernel(const Names& names, const py::Module& file, const py::Stmt& kernel,
                              std::span<const ArgumentSpec> arguments, int num_warps = 4);

// Whether the annotation is tl.constexpr, in whatever spelling.
bool is_constexpr_annotation(const py::Expr* annotation);

}  // namespace passnet::tile

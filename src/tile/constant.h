// Values that a kernel's compilation knows: Python's None, bools, numbers and strings, element types, tuples.
// Arithmetic on them is Python's, and integers are exact (base/integer.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/integer.h"
#include "py/ast.h"
#include "tile/ir.h"

namespace passnet::tile {

struct ConstValue {
  enum class Kind : std::uint8_t { none, boolean, integer, real, string, type, tuple } kind = Kind::none;
  Integer integer;  // boolean: 0 or 1
  double real = 0;
  std::string text;  // of a type: the name of one that values cannot have ("float8e5"), else empty
  Type type;         // tl.float32; of a value's type the pointer and the shape too
  std::vector<ConstValue> items;

  static ConstValue of(std::int64_t v) { return of(Integer(v)); }
  static ConstValue of(const Integer& v);
  static ConstValue of(double v);
  static ConstValue boolean(bool v);
  static ConstValue string(std::string v);
  static ConstValue of(Type v);
  static ConstValue tuple(std::vector<ConstValue> v);

  bool is(Kind k) const { return kind == k; }
  bool is_integral() const { return kind == Kind::integer || kind == Kind::boolean; }
  bool is_number() const { return is_integral() || kind == Kind::real; }
  double as_real() const { return kind == Kind::real ? real : integer.real(); }
  bool truth() const;
  bool operator==(const ConstValue& o) const;  // Python's ==: 1 == 1.0 == True
};

// Python's spelling, for messages.
std::string constant_text(const ConstValue& v);
// "float32", "pointer to float16", "int32[64, 32]".
std::string triton_type(const Type& t);

// The value of a op b, or what is wrong with it.
struct Folded {
  ConstValue value;
  std::string error;                           // empty: there is a value
  passnet::Code code = passnet::Code::kernel;  // of the error
};
Folded fold_binary(py::Op op, const ConstValue& a, const ConstValue& b);
Folded fold_unary(py::Op op, const ConstValue& a);

// Python's methods of numbers and strings. `arguments`: null asks only whether there is such a method.
std::optional<Folded> fold_method(const ConstValue& of, std::string_view name,
                                  const std::vector<ConstValue>* arguments);
// "int", "str".
std::string_view python_type(const ConstValue& v);

// The nearest value that the type has (ties to even), by way of float32 for the halves.
double round_real(double v, Elem elem);

// The least and the greatest integer of a type.
Integer integer_min(Elem elem);
Integer integer_max(Elem elem);
bool holds(Elem elem, const Integer& v);

std::optional<Elem> elem_of(Dtype dtype);
// By its name in triton.language: "float32".
std::optional<Elem> elem_of_name(std::string_view name);
// The same, and the floats of 8 bits, which can be named and compared but are the type of nothing.
std::optional<ConstValue> type_of_name(std::string_view name);

}  // namespace passnet::tile

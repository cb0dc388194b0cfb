// Python's arithmetic on numbers that are known before anything runs: literals of graphs, constants of kernels, a
// wrapper's numbers. Integers are exact.
#pragma once

#include <optional>

#include "base/integer.h"
#include "py/ast.h"

namespace passnet::py {

// The value of an integer or big_integer; nothing beyond what an Integer holds.
std::optional<Integer> integer_of(const Expr& literal);
// Of an integer's digits: 16 of "0x1f", with two characters in front of the digits themselves; 10 where there is no
// prefix.
int literal_base(std::string_view text);

struct WholeResult {
  enum class Fault : std::uint8_t {
    none,
    no_integer,     // another operator, or a negative exponent: what Python gives is no int
    zero_division,  //
    negative_shift,
    too_large,
  } fault = Fault::none;
  Integer value;
};
WholeResult integer_binary(Op op, const Integer& a, const Integer& b);
WholeResult integer_unary(Op op, const Integer& a);

// a % b and a // b of floats; b is not 0.
double real_mod(double a, double b);
double real_floor_div(double a, double b);

}  // namespace passnet::py

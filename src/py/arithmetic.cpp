#include "py/arithmetic.h"

#include <cmath>

namespace passnet::py {

int literal_base(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return 10;
  const char c = static_cast<char>(text[1] | 0x20);
  return c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
}

std::optional<Integer> integer_of(const Expr& literal) {
  if (literal.kind == ExprKind::integer) return Integer(literal.integer);
  const int base = literal_base(literal.text);
  return Integer::parse(literal.text.substr(base == 10 ? 0 : 2), base);
}

namespace {

using Fault = WholeResult::Fault;

WholeResult fault(Fault f) { return {f, {}}; }
WholeResult fitted(const std::optional<Integer>& v) {
  return v ? WholeResult{Fault::none, *v} : fault(Fault::too_large);
}

}  // namespace

WholeResult integer_binary(Op op, const Integer& a, const Integer& b) {
  switch (op) {
    case Op::add: return fitted(a.plus(b));
    case Op::sub: return fitted(a.minus(b));
    case Op::mul: return fitted(a.times(b));
    case Op::floor_div:
    case Op::mod: {
      if (b == 0) return fault(Fault::zero_division);
      const auto parts = a.divided(b);
      if (!parts) return op == Op::mod ? WholeResult{} : fault(Fault::too_large);  // the least by -1
      return {Fault::none, op == Op::mod ? parts->second : parts->first};
    }
    case Op::bit_and: return {Fault::none, a & b};
    case Op::bit_or: return {Fault::none, a | b};
    case Op::bit_xor: return {Fault::none, a ^ b};
    case Op::shift_left: return b < 0 ? fault(Fault::negative_shift) : fitted(a.shifted_left(b));
    case Op::shift_right: return b < 0 ? fault(Fault::negative_shift) : WholeResult{Fault::none, a.shifted_right(b)};
    case Op::pow: return b < 0 ? fault(Fault::no_integer) : fitted(a.power(b));
    default: return fault(Fault::no_integer);
  }
}

WholeResult integer_unary(Op op, const Integer& a) {
  switch (op) {
    case Op::neg: return fitted(a.negated());
    case Op::pos: return {Fault::none, a};
    case Op::invert: return {Fault::none, ~a};
    default: return fault(Fault::no_integer);
  }
}

double real_mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : std::copysign(r, r == 0 ? b : r);
}

// Not floor(a / b): 1.0 // 0.1 is 9.0, because the quotient is taken of what divides without a remainder.
double real_floor_div(double a, double b) {
  const double r = std::fmod(a, b);
  const double quotient = (a - r) / b - (r != 0 && (r < 0) != (b < 0) ? 1 : 0);
  return quotient == 0 ? std::copysign(0.0, a / b)
                       : std::floor(quotient) + (quotient - std::floor(quotient) > 0.5 ? 1 : 0);
}

}  // namespace passnet::py

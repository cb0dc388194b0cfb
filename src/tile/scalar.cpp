#include "tile/scalar.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace passnet::tile {

namespace {

// A float format of fewer bits than f32: `fraction` stored bits, exponents from `least` to -`least` + 1.
struct Format {
  int fraction;
  int least;
  int exponent_bits;
};
constexpr Format format_of(Elem elem) { return elem == Elem::f16 ? Format{10, -14, 5} : Format{7, -126, 8}; }

// Small floats are computed with, not shuffled: x is scaled so that its last place is 1, rounded, and scaled back.
Bits encode(const Format& f, double x) {
  const Bits sign = static_cast<Bits>(std::signbit(x)) << (f.fraction + f.exponent_bits);
  const Bits infinity = ((Bits{1} << f.exponent_bits) - 1) << f.fraction;
  if (std::isnan(x)) return sign | infinity | Bits{1} << (f.fraction - 1);
  if (std::isinf(x)) return sign | infinity;
  if (x == 0) return sign;
  const int exponent = std::max(std::ilogb(x), f.least);
  const double places = std::nearbyint(std::ldexp(std::fabs(x), f.fraction - exponent));  // ties to even
  // A subnormal has exponent field 0 and no leading one; a rounding up to the next power carries into the exponent.
  const Bits bits = (static_cast<Bits>(exponent - f.least) << f.fraction) + static_cast<Bits>(places);
  return sign | std::min(bits, infinity);
}

double decode(const Format& f, Bits bits) {
  const Bits fraction = bits & ((Bits{1} << f.fraction) - 1);
  const auto exponent = static_cast<int>(bits >> f.fraction & ((Bits{1} << f.exponent_bits) - 1));
  const bool negative = (bits >> (f.fraction + f.exponent_bits) & 1) != 0;
  double x;
  if (exponent == (1 << f.exponent_bits) - 1)
    x = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    x = std::ldexp(static_cast<double>(fraction), f.least - f.fraction);
  else
    x = std::ldexp(static_cast<double>(fraction | Bits{1} << f.fraction), exponent - 1 + f.least - f.fraction);
  return negative ? -x : x;
}

Bits mask_of(Elem elem) {
  const int bits = elem_row(elem).bits;
  return bits == 64 ? ~Bits{0} : (Bits{1} << bits) - 1;
}

bool is_signed(Elem elem) { return elem_row(elem).is_signed; }

// Integers

Bits divide(Elem elem, Bits a, Bits b, bool remainder) {
  if (b == 0) return 0;
  if (!is_signed(elem)) return remainder ? a % b : a / b;
  const std::int64_t x = integer_of(elem, a), y = integer_of(elem, b);
  if (y == -1) return remainder ? 0 : bits_of_integer(elem, static_cast<std::int64_t>(-static_cast<Bits>(x)));
  return bits_of_integer(elem, remainder ? x % y : x / y);
}

Bits multiply_high(Elem elem, Bits a, Bits b) {
  const int bits = elem_row(elem).bits;
  __extension__ using Wide = __int128;
  __extension__ using UnsignedWide = unsigned __int128;
  if (!is_signed(elem)) return static_cast<Bits>(static_cast<UnsignedWide>(a) * b >> bits) & mask_of(elem);
  const Wide product = static_cast<Wide>(integer_of(elem, a)) * integer_of(elem, b);
  return static_cast<Bits>(product >> bits) & mask_of(elem);
}

Bits integer_binary(Code code, Elem elem, Bits a, Bits b) {
  const Bits mask = mask_of(elem);
  const auto width = static_cast<Bits>(elem_row(elem).bits);
  switch (code) {
    case Code::add: return (a + b) & mask;
    case Code::sub: return (a - b) & mask;
    case Code::mul: return (a * b) & mask;
    case Code::div: return divide(elem, a, b, false);
    case Code::rem: return divide(elem, a, b, true);
    case Code::min:
    case Code::min_nan: return scalar_compare(Code::lt, elem, b, a) ? b : a;
    case Code::max:
    case Code::max_nan: return scalar_compare(Code::gt, elem, b, a) ? b : a;
    case Code::mul_high: return multiply_high(elem, a, b);
    case Code::bit_and: return a & b;
    case Code::bit_or: return a | b;
    case Code::bit_xor: return a ^ b;
    case Code::shl: return b >= width ? 0 : (a << b) & mask;
    case Code::shr:
      if (!is_signed(elem)) return b >= width ? 0 : a >> b;
      return bits_of_integer(elem,
                             integer_of(elem, a) >> std::min<Bits>(b, width - 1));  // a negative amount is a huge one
    default: return 0;
  }
}

// Floats: F is float (halves too) or double.

// With -0 before 0, so that min and max do not depend on the order of their operands.
template <class F>
bool less(F a, F b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

template <class F>
F float_binary(Code code, F a, F b) {
  switch (code) {
    case Code::add: return a + b;
    case Code::sub: return a - b;
    case Code::mul: return a * b;
    case Code::div: return a / b;
    case Code::rem: return std::fmod(a, b);
    case Code::min: return std::isnan(a) || less(b, a) ? b : a;
    case Code::max: return std::isnan(a) || less(a, b) ? b : a;
    case Code::min_nan: return std::isnan(b) || less(b, a) ? b : a;
    case Code::max_nan: return std::isnan(b) || less(a, b) ? b : a;
    case Code::pow: return static_cast<F>(std::pow(static_cast<double>(a), static_cast<double>(b)));
    case Code::atan2: return static_cast<F>(std::atan2(static_cast<double>(a), static_cast<double>(b)));
    default: return 0;
  }
}

// Always in double; the caller rounds.
double float_unary(Code code, double x) {
  switch (code) {
    case Code::exp: return std::exp(x);
    case Code::exp2: return std::exp2(x);
    case Code::expm1: return std::expm1(x);
    case Code::log: return std::log(x);
    case Code::log2: return std::log2(x);
    case Code::log10: return std::log10(x);
    case Code::log1p: return std::log1p(x);
    case Code::sqrt: return std::sqrt(x);  // rounding the double's root to f32 is the correct rounding
    case Code::rsqrt: return 1 / std::sqrt(x);
    case Code::sin: return std::sin(x);
    case Code::cos: return std::cos(x);
    case Code::tan: return std::tan(x);
    case Code::asin: return std::asin(x);
    case Code::acos: return std::acos(x);
    case Code::atan: return std::atan(x);
    case Code::sinh: return std::sinh(x);
    case Code::cosh: return std::cosh(x);
    case Code::tanh: return std::tanh(x);
    case Code::asinh: return std::asinh(x);
    case Code::acosh: return std::acosh(x);
    case Code::atanh: return std::atanh(x);
    case Code::erf: return std::erf(x);
    case Code::erfc: return std::erfc(x);
    case Code::cbrt: return std::cbrt(x);
    case Code::floor: return std::floor(x);
    case Code::ceil: return std::ceil(x);
    case Code::round: return std::nearbyint(x);
    case Code::trunc: return std::trunc(x);
    default: return 0;
  }
}

Bits integer_of_real(Elem to, double x) {
  if (std::isnan(x)) return 0;
  const int bits = elem_row(to).bits;
  const bool sign = is_signed(to);
  const double least = sign ? -std::ldexp(1, bits - 1) : 0, beyond = std::ldexp(1, sign ? bits - 1 : bits);
  if (x <= least) return bits_of_integer(to, sign ? static_cast<std::int64_t>(least) : 0);
  if (x >= beyond) return sign ? mask_of(to) >> 1 : mask_of(to);
  return to == Elem::u64 ? static_cast<Bits>(x) : bits_of_integer(to, static_cast<std::int64_t>(x));
}

template <class F>
F real_of_integer(Elem from, Bits x) {
  return from == Elem::u64 ? static_cast<F>(x) : static_cast<F>(integer_of(from, x));
}

}  // namespace

std::int64_t integer_of(Elem elem, Bits bits) {
  const int unused = 64 - elem_row(elem).bits;
  if (!is_signed(elem)) return static_cast<std::int64_t>(bits);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

double real_of(Elem elem, Bits bits) {
  if (elem == Elem::f64) return std::bit_cast<double>(bits);
  if (elem == Elem::f32) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return decode(format_of(elem), bits);
}

Bits bits_of_integer(Elem elem, std::int64_t value) { return static_cast<Bits>(value) & mask_of(elem); }

Bits bits_of_real(Elem elem, double value) {
  if (elem == Elem::f64) return std::bit_cast<Bits>(value);
  if (elem == Elem::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return encode(format_of(elem), value);
}

Bits constant_bits(Elem elem, const Op& constant) {
  return is_float(elem) ? bits_of_real(elem, constant.real) : bits_of_integer(elem, constant.integer);
}

Bits scalar_cast(Elem from, Elem to, Bits x) {
  if (from == to) return x;
  if (to == Elem::i1) return is_float(from) ? real_of(from, x) != 0 : x != 0;
  if (is_float(from)) return is_float(to) ? bits_of_real(to, real_of(from, x)) : integer_of_real(to, real_of(from, x));
  if (to == Elem::f64) return std::bit_cast<Bits>(real_of_integer<double>(from, x));
  if (to == Elem::f32) return bits_of_real(to, static_cast<double>(real_of_integer<float>(from, x)));
  if (is_half(to)) {  // rounded once: what a double has no room for goes into the last bit that it has
    const bool wide = std::abs(real_of_integer<double>(from, x)) >= 0x1p53;
    if (wide) x = (x & ~Bits{0x7ff}) | ((x & 0x7ff) != 0 ? 0x800 : 0);
    return bits_of_real(to, real_of_integer<double>(from, x));
  }
  return bits_of_integer(to, integer_of(from, x));
}

Bits scalar_unary(Code code, Elem elem, Bits x) {
  const Bits sign = (mask_of(elem) >> 1) + 1;
  if (is_float(elem)) {
    if (code == Code::neg) return x ^ sign;
    if (code == Code::abs) return x & ~sign;
    return bits_of_real(elem, float_unary(code, real_of(elem, x)));
  }
  if (code == Code::neg) return -x & mask_of(elem);
  if (code == Code::bit_not) return ~x & mask_of(elem);
  return is_signed(elem) && (x & sign) != 0 ? -x & mask_of(elem) : x;  // abs; the least stays itself
}

Bits scalar_binary(Code code, Elem elem, Bits a, Bits b) {
  if (!is_float(elem)) return integer_binary(code, elem, a, b);
  const double x = real_of(elem, a), y = real_of(elem, b);
  if (elem == Elem::f64) return std::bit_cast<Bits>(float_binary(code, x, y));
  return bits_of_real(elem, static_cast<double>(float_binary(code, static_cast<float>(x), static_cast<float>(y))));
}

bool scalar_compare(Code code, Elem elem, Bits a, Bits b) {
  const auto compare = [code](auto x, auto y) {
    switch (code) {
      case Code::lt: return x < y;
      case Code::le: return x <= y;
      case Code::gt: return x > y;
      case Code::ge: return x >= y;
      case Code::eq: return x == y;
      default: return x != y;
    }
  };
  if (is_float(elem)) return compare(real_of(elem, a), real_of(elem, b));
  return is_signed(elem) ? compare(integer_of(elem, a), integer_of(elem, b)) : compare(a, b);
}

Bits scalar_fma(Elem elem, Bits a, Bits b, Bits c) {
  const double x = real_of(elem, a), y = real_of(elem, b), z = real_of(elem, c);
  if (elem == Elem::f64) return std::bit_cast<Bits>(std::fma(x, y, z));
  const float once = std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
  return bits_of_real(elem, static_cast<double>(once));
}

Code combine_code(Combine combine) {
  switch (combine) {
    case Combine::sum: return Code::add;
    case Combine::product: return Code::mul;
    case Combine::min: return Code::min;
    case Combine::max: return Code::max;
    case Combine::min_nan: return Code::min_nan;
    case Combine::max_nan: return Code::max_nan;
    case Combine::bit_and: return Code::bit_and;
    case Combine::bit_or: return Code::bit_or;
    case Combine::bit_xor: return Code::bit_xor;
    case Combine::argmin: return Code::lt;
    case Combine::argmax: return Code::gt;
  }
  return Code::add;
}

}  // namespace passnet::tile

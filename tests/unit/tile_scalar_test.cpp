// Scalar semantics of tile IR: halves against the compiler's own conversions, casts, shifts, division, every op by
// value.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tile/scalar.h"

namespace passnet::tile {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// f16 by its definition, independent of scalar.cpp.
double f16_value(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1, fraction = bits & 1023U;
  if (exponent == 31) return fraction == 0 ? sign * kInf : kNan;
  return sign * (exponent == 0 ? fraction * std::pow(2, -24) : (1024 + fraction) * std::pow(2, exponent - 25));
}

double bf16_value(unsigned bits) { return static_cast<double>(std::bit_cast<float>(bits << 16)); }

// The nearest of the two neighbours `low` and `high` = low's bits + 1, ties to the even one.
template <class Value>
void expect_nearest(Elem elem, unsigned low, Value&& value) {
  const double a = value(low), b = value(low + 1);
  if (!std::isfinite(a)) return;
  // Beyond the largest number the next one would be a power of two; half way there infinity begins.
  const double next = std::isfinite(b) ? b : a + (a - value(low - 1));
  const double middle = (a + next) / 2, towards_a = std::nextafter(middle, a), towards_b = std::nextafter(middle, next);
  EXPECT_EQ(bits_of_real(elem, towards_a), low);
  EXPECT_EQ(bits_of_real(elem, towards_b), low + 1);
  EXPECT_EQ(bits_of_real(elem, middle), low % 2 == 0 ? low : low + 1) << low;
}

TEST(TileScalar, F16IsExactBothWays) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double want = f16_value(bits), got = real_of(Elem::f16, bits);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got));
      EXPECT_TRUE(std::isnan(real_of(Elem::f16, bits_of_real(Elem::f16, got))));
      continue;
    }
    ASSERT_EQ(std::bit_cast<Bits>(got), std::bit_cast<Bits>(want)) << bits;
    ASSERT_EQ(bits_of_real(Elem::f16, want), bits);
    ASSERT_EQ(scalar_cast(Elem::f32, Elem::f16, scalar_cast(Elem::f16, Elem::f32, bits)), bits);
  }
}

TEST(TileScalar, Bf16IsExactBothWays) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double want = bf16_value(bits);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(real_of(Elem::bf16, bits)));
      continue;
    }
    ASSERT_EQ(std::bit_cast<Bits>(real_of(Elem::bf16, bits)), std::bit_cast<Bits>(want)) << bits;
    ASSERT_EQ(bits_of_real(Elem::bf16, want), bits);
  }
}

TEST(TileScalar, HalvesRoundToNearestEven) {
  for (unsigned bits = 0; bits < 0x7c00; ++bits) expect_nearest(Elem::f16, bits, f16_value);
  for (unsigned bits = 0; bits < 0x7f80; ++bits) expect_nearest(Elem::bf16, bits, bf16_value);
  EXPECT_EQ(bits_of_real(Elem::f16, 65519.99), 0x7bffU);
  EXPECT_EQ(bits_of_real(Elem::f16, 65520), 0x7c00U);
  EXPECT_EQ(bits_of_real(Elem::f16, -1e300), 0xfc00U);
  EXPECT_EQ(bits_of_real(Elem::f16, -1e-300), 0x8000U);
  EXPECT_EQ(bits_of_real(Elem::bf16, 1e39), 0x7f80U);
  EXPECT_EQ(bits_of_real(Elem::bf16, -0.0), 0x8000U);
}

TEST(TileScalar, F64RoundsToHalfOnce) {
  const double middle = 1 + std::pow(2, -11);  // between 1 and the next f16
  EXPECT_EQ(scalar_cast(Elem::f64, Elem::f16, std::bit_cast<Bits>(middle + std::pow(2, -50))), 0x3c01U);
  EXPECT_EQ(scalar_cast(Elem::f64, Elem::f16, std::bit_cast<Bits>(middle)), 0x3c00U);
}

Bits real(Elem elem, double x) { return bits_of_real(elem, x); }

TEST(TileScalar, FloatToIntegerSaturates) {
  const struct {
    Elem to;
    double from;
    std::int64_t want;
  } rows[] = {
      {Elem::i8, 127.9, 127},
      {Elem::i8, 128, 127},
      {Elem::i8, -128.9, -128},
      {Elem::i8, -1e30, -128},
      {Elem::u8, -0.9, 0},
      {Elem::u8, -5, 0},
      {Elem::u8, 255.9, 255},
      {Elem::u8, 256, 255},
      {Elem::i16, 40000, 32767},
      {Elem::u16, 70000, 65535},
      {Elem::i32, 2147483648.0, 2147483647},
      {Elem::i32, -2147483649.0, -2147483647 - 1},
      {Elem::i32, -1.9, -1},
      {Elem::u32, 4294967296.0, 4294967295},
      {Elem::i64, 1e30, std::numeric_limits<std::int64_t>::max()},
      {Elem::i64, -1e30, std::numeric_limits<std::int64_t>::min()},
      {Elem::i64, -9.5e18, std::numeric_limits<std::int64_t>::min()},
      {Elem::u64, 1e30, -1},
      {Elem::u64, 1.8e19, static_cast<std::int64_t>(18000000000000000000U)},
      {Elem::i32, kNan, 0},
      {Elem::u64, kNan, 0},
      {Elem::i64, kInf, std::numeric_limits<std::int64_t>::max()},
      {Elem::i1, 0.25, 1},
      {Elem::i1, -0.0, 0},
      {Elem::i1, kNan, 1},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(integer_of(row.to, scalar_cast(Elem::f64, row.to, real(Elem::f64, row.from))), row.want)
        << elem_row(row.to).name << ' ' << row.from;
  }
}

TEST(TileScalar, IntegerCasts) {
  const auto cast = [](Elem from, Elem to, std::int64_t x) {
    return integer_of(to, scalar_cast(from, to, bits_of_integer(from, x)));
  };
  EXPECT_EQ(cast(Elem::i32, Elem::i8, 200), -56);
  EXPECT_EQ(cast(Elem::i8, Elem::u32, -1), 4294967295);
  EXPECT_EQ(cast(Elem::u8, Elem::i32, 255), 255);
  EXPECT_EQ(cast(Elem::i1, Elem::i32, 1), 1);
  EXPECT_EQ(cast(Elem::i32, Elem::i1, 256), 1);
  EXPECT_EQ(cast(Elem::i64, Elem::i32, std::int64_t{1} << 32), 0);
  EXPECT_EQ(real_of(Elem::f64, scalar_cast(Elem::u64, Elem::f64, ~Bits{0})), 18446744073709551616.0);
  EXPECT_EQ(real_of(Elem::f32, scalar_cast(Elem::i32, Elem::f32, bits_of_integer(Elem::i32, 16777217))), 16777216.0);
  EXPECT_EQ(real_of(Elem::f16, scalar_cast(Elem::i32, Elem::f16, 70000)), kInf);
  EXPECT_EQ(real_of(Elem::f16, scalar_cast(Elem::i32, Elem::f16, 2049)), 2048.0);
  EXPECT_EQ(real_of(Elem::f32, scalar_cast(Elem::i1, Elem::f32, 1)), 1.0);
}

TEST(TileScalar, IntegersByValue) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const struct {
    Code code;
    Elem elem;
    std::int64_t a, b, want;
  } rows[] = {
      {Code::add, Elem::i8, 127, 1, -128},
      {Code::add, Elem::u8, 255, 2, 1},
      {Code::add, Elem::i1, 1, 1, 0},
      {Code::sub, Elem::u32, 0, 1, 4294967295},
      {Code::mul, Elem::i32, 65536, 65536, 0},
      {Code::mul, Elem::i64, kLeast, -1, kLeast},
      {Code::div, Elem::i32, -7, 2, -3},
      {Code::div, Elem::i32, 7, -2, -3},
      {Code::div, Elem::i32, 7, 0, 0},
      {Code::div, Elem::i32, -2147483647 - 1, -1, -2147483647 - 1},
      {Code::div, Elem::i64, kLeast, -1, kLeast},
      {Code::div, Elem::i8, -128, -1, -128},
      {Code::div, Elem::u32, 4294967295, 2, 2147483647},
      {Code::div, Elem::u64, -1, 2, std::numeric_limits<std::int64_t>::max()},
      {Code::rem, Elem::i32, -7, 2, -1},
      {Code::rem, Elem::i32, 7, -2, 1},
      {Code::rem, Elem::i32, 7, 0, 0},
      {Code::rem, Elem::i64, kLeast, -1, 0},
      {Code::rem, Elem::u64, -1, 10, 5},
      {Code::min, Elem::i32, -1, 1, -1},
      {Code::min, Elem::u32, 4294967295, 1, 1},
      {Code::max, Elem::u64, -1, 1, -1},
      {Code::max_nan, Elem::i8, -3, -4, -3},
      {Code::mul_high, Elem::i32, -2, 3, -1},
      {Code::mul_high, Elem::u32, 4294967295, 4294967295, 4294967294},
      {Code::mul_high, Elem::i64, kLeast, 2, -1},
      {Code::mul_high, Elem::u64, -1, -1, -2},
      {Code::bit_and, Elem::i32, 12, 10, 8},
      {Code::bit_or, Elem::i32, 12, 10, 14},
      {Code::bit_xor, Elem::u8, 255, 15, 240},
      {Code::shl, Elem::i32, 1, 31, -2147483647 - 1},
      {Code::shl, Elem::i32, 1, 32, 0},
      {Code::shl, Elem::i32, 1, -1, 0},
      {Code::shl, Elem::i64, 1, 64, 0},
      {Code::shl, Elem::u8, 255, 1, 254},
      {Code::shr, Elem::i32, -8, 1, -4},
      {Code::shr, Elem::i32, -8, 40, -1},
      {Code::shr, Elem::i32, 8, 40, 0},
      {Code::shr, Elem::i32, -8, -1, -1},
      {Code::shr, Elem::u32, 4294967288, 1, 2147483644},
      {Code::shr, Elem::u32, 4294967288, 32, 0},
      {Code::shr, Elem::i64, kLeast, 63, -1},
      {Code::shr, Elem::i1, 1, 1, 0},
  };
  for (const auto& row : rows) {
    const Bits a = bits_of_integer(row.elem, row.a), b = bits_of_integer(row.elem, row.b);
    EXPECT_EQ(integer_of(row.elem, scalar_binary(row.code, row.elem, a, b)), row.want)
        << op_row(row.code).name << ' ' << elem_row(row.elem).name << ' ' << row.a << ' ' << row.b;
  }
  EXPECT_EQ(integer_of(Elem::i8, scalar_unary(Code::neg, Elem::i8, bits_of_integer(Elem::i8, -128))), -128);
  EXPECT_EQ(integer_of(Elem::i8, scalar_unary(Code::abs, Elem::i8, bits_of_integer(Elem::i8, -128))), -128);
  EXPECT_EQ(integer_of(Elem::u8, scalar_unary(Code::abs, Elem::u8, 200)), 200);
  EXPECT_EQ(integer_of(Elem::i32, scalar_unary(Code::bit_not, Elem::i32, 0)), -1);
  EXPECT_EQ(scalar_unary(Code::bit_not, Elem::i1, 0), 1U);
  EXPECT_EQ(scalar_unary(Code::neg, Elem::i1, 1), 1U);
}

// Every integer of 8 bits with every other, against the definition in wide arithmetic.
TEST(TileScalar, BytesExhaustively) {
  for (const Elem elem : {Elem::i8, Elem::u8}) {
    for (int a = 0; a < 256; ++a)
      for (int b = 0; b < 256; ++b) {
        const Bits x = static_cast<Bits>(a), y = static_cast<Bits>(b);
        const std::int64_t p = integer_of(elem, x), q = integer_of(elem, y);
        const auto check = [&](Code code, std::int64_t want) {
          ASSERT_EQ(scalar_binary(code, elem, x, y), bits_of_integer(elem, want))
              << op_row(code).name << ' ' << p << ' ' << q;
        };
        check(Code::add, p + q);
        check(Code::sub, p - q);
        check(Code::mul, p * q);
        check(Code::div, q == 0 ? 0 : p / q);
        check(Code::rem, q == 0 ? 0 : p % q);
        check(Code::min, std::min(p, q));
        check(Code::max, std::max(p, q));
        check(Code::shl, b >= 8 ? 0 : p << b);
        check(Code::shr, b >= 8 ? (p < 0 ? -1 : 0) : p >> b);
        ASSERT_EQ(scalar_compare(Code::lt, elem, x, y), p < q);
        ASSERT_EQ(scalar_compare(Code::ge, elem, x, y), p >= q);
      }
  }
}

TEST(TileScalar, FloatsByValue) {
  const struct {
    Code code;
    Elem elem;
    double a, b, want;
  } rows[] = {
      {Code::add, Elem::f32, 16777216, 1, 16777216},
      {Code::add, Elem::f64, 16777216, 1, 16777217},
      {Code::add, Elem::f16, 2048, 1, 2048},
      {Code::add, Elem::bf16, 256, 1, 256},
      {Code::sub, Elem::f32, kInf, kInf, kNan},
      {Code::mul, Elem::f16, 256, 256, kInf},
      {Code::mul, Elem::f32, -0.0, 5, -0.0},
      {Code::div, Elem::f32, 1, 0, kInf},
      {Code::div, Elem::f32, 0, 0, kNan},
      {Code::div, Elem::f16, 1, 3, 0.333251953125},
      {Code::rem, Elem::f32, -7.5, 2, -1.5},
      {Code::rem, Elem::f32, 7.5, -2, 1.5},
      {Code::min, Elem::f32, kNan, 1, 1},
      {Code::min, Elem::f32, 1, kNan, 1},
      {Code::min, Elem::f32, 0.0, -0.0, -0.0},
      {Code::max, Elem::f32, -0.0, 0.0, 0.0},
      {Code::max, Elem::f16, kNan, kNan, kNan},
      {Code::min_nan, Elem::f32, kNan, 1, kNan},
      {Code::max_nan, Elem::f32, 1, kNan, kNan},
      {Code::max_nan, Elem::f64, 1, 2, 2},
      {Code::pow, Elem::f32, 2, 10, 1024},
      {Code::pow, Elem::f64, 2, -1, 0.5},
      {Code::atan2, Elem::f64, 0, -1, M_PI},
  };
  for (const auto& row : rows) {
    const double got =
        real_of(row.elem, scalar_binary(row.code, row.elem, real(row.elem, row.a), real(row.elem, row.b)));
    const bool same =
        std::isnan(row.want) ? std::isnan(got) : std::bit_cast<Bits>(got) == std::bit_cast<Bits>(row.want);
    EXPECT_TRUE(same) << op_row(row.code).name << ' ' << elem_row(row.elem).name << ' ' << row.a << ' ' << row.b << ": "
                      << got;
  }
}

TEST(TileScalar, FunctionsByValue) {
  const struct {
    Code code;
    double x, want;
  } rows[] = {
      {Code::exp, 0, 1},
      {Code::exp, -kInf, 0},
      {Code::exp2, 10, 1024},
      {Code::expm1, 0x1p-30, 0x1p-30},
      {Code::expm1, -kInf, -1},
      {Code::log, 1, 0},
      {Code::log, 0, -kInf},
      {Code::log2, 8, 3},
      {Code::log10, 1000, 3},
      {Code::log1p, -0x1p-30, -0x1p-30},
      {Code::log1p, -1, -kInf},
      {Code::sqrt, 2, 0x1.6a09e6p0f},
      {Code::sqrt, -1, kNan},
      {Code::rsqrt, 4, 0.5},
      {Code::rsqrt, 0, kInf},
      {Code::sin, 0, 0},
      {Code::cos, 0, 1},
      {Code::tan, 0, 0},
      {Code::asin, 1, 0x1.921fb6p0f},
      {Code::acos, 1, 0},
      {Code::atan, kInf, 0x1.921fb6p0f},
      {Code::sinh, -kInf, -kInf},
      {Code::cosh, 0, 1},
      {Code::tanh, kInf, 1},
      {Code::asinh, 0x1p-30, 0x1p-30},
      {Code::acosh, 1, 0},
      {Code::atanh, 1, kInf},
      {Code::erf, kInf, 1},
      {Code::erfc, 0, 1},
      {Code::cbrt, -27, -3},
      {Code::floor, -1.5, -2},
      {Code::ceil, -1.5, -1},
      {Code::round, 2.5, 2},
      {Code::round, 3.5, 4},
      {Code::round, -0.5, -0.0},
      {Code::trunc, -1.7, -1},
      {Code::neg, 0, -0.0},
      {Code::abs, -3, 3},
  };
  for (const auto& row : rows) {
    const double got = real_of(Elem::f32, scalar_unary(row.code, Elem::f32, real(Elem::f32, row.x)));
    const bool same =
        std::isnan(row.want) ? std::isnan(got) : std::bit_cast<Bits>(got) == std::bit_cast<Bits>(row.want);
    EXPECT_TRUE(same) << op_row(row.code).name << ' ' << row.x << ": " << got;
  }
  EXPECT_EQ(real_of(Elem::f16, scalar_unary(Code::floor, Elem::f16, real(Elem::f16, 1.5))), 1.0);
}

TEST(TileScalar, Fma) {
  const double a = 1 + std::pow(2, -23);  // a * a needs 47 bits
  const auto fma = [](Elem e, double x, double y, double z) {
    return real_of(e, scalar_fma(e, real(e, x), real(e, y), real(e, z)));
  };
  EXPECT_EQ(fma(Elem::f32, a, a, -1 - std::pow(2, -22)), std::pow(2, -46));
  EXPECT_EQ(fma(Elem::f16, 3, 5, 1), 16.0);
  EXPECT_EQ(fma(Elem::f64, 3, 5, 1), 16.0);
}

TEST(TileScalar, Comparisons) {
  const auto compare = [](Code c, double a, double b) {
    return scalar_compare(c, Elem::f32, real(Elem::f32, a), real(Elem::f32, b));
  };
  EXPECT_TRUE(compare(Code::eq, 0.0, -0.0));
  EXPECT_TRUE(compare(Code::ne, kNan, kNan));
  for (const Code code : {Code::lt, Code::le, Code::gt, Code::ge, Code::eq}) EXPECT_FALSE(compare(code, kNan, 1));
  EXPECT_TRUE(scalar_compare(Code::gt, Elem::u64, ~Bits{0}, 1));
  EXPECT_TRUE(scalar_compare(Code::lt, Elem::i64, ~Bits{0}, 1));
}

}  // namespace
}  // namespace passnet::tile

// What elementwise operations are spelled as.
#define EXTREMES(T)                                 \
  INLINE T min_(T a, T b) { return a < b ? a : b; } \
  INLINE T max_(T a, T b) { return a > b ? a : b; }
EXTREMES(i8)
EXTREMES(i16)
EXTREMES(i32)
EXTREMES(i64)
EXTREMES(u8)
EXTREMES(u16)
EXTREMES(u32)
EXTREMES(u64)
EXTREMES(bool)
INLINE f32 min_(f32 a, f32 b) { return fminf(a, b); }  // a NaN is ignored
INLINE f32 max_(f32 a, f32 b) { return fmaxf(a, b); }
INLINE f64 min_(f64 a, f64 b) { return fmin(a, b); }
INLINE f64 max_(f64 a, f64 b) { return fmax(a, b); }
#define EXTREMES_NAN(T)                                             \
  INLINE T min_nan(T a, T b) { return a < b ? a : a != a ? a : b; } \
  INLINE T max_nan(T a, T b) { return a > b ? a : a != a ? a : b; }
EXTREMES_NAN(f32)
EXTREMES_NAN(f64)
INLINE f32 abs_(f32 x) { return fabsf(x); }
INLINE f64 abs_(f64 x) { return fabs(x); }
#define ABSOLUTE(T) \
  INLINE T abs_(T x) { return x < 0 ? (T)(0 - (u64)x) : x; }
ABSOLUTE(i8)
ABSOLUTE(i16)
ABSOLUTE(i32)
ABSOLUTE(i64)
INLINE u8 abs_(u8 x) { return x; }
INLINE u16 abs_(u16 x) { return x; }
INLINE u32 abs_(u32 x) { return x; }
INLINE u64 abs_(u64 x) { return x; }
INLINE bool abs_(bool x) { return x; }
INLINE f32 fma_(f32 a, f32 b, f32 c) { return fmaf(a, b, c); }
INLINE f64 fma_(f64 a, f64 b, f64 c) { return fma(a, b, c); }
// b is 0: 0. The least by -1: itself.
#define DIVIDE(T)                                                                                          \
  INLINE T div_(T a, T b) { return b == 0 ? (T)0 : b == (T)-1 && (T)-1 < (T)0 ? (T)(0 - (u64)a) : (T)(a / b); } \
  INLINE T rem_(T a, T b) { return b == 0 || (b == (T)-1 && (T)-1 < (T)0) ? (T)0 : (T)(a % b); }
DIVIDE(i8)
DIVIDE(i16)
DIVIDE(i32)
DIVIDE(i64)
DIVIDE(u8)
DIVIDE(u16)
DIVIDE(u32)
DIVIDE(u64)
// Shifts by the width or more.
#define SHIFTS(T, W)                                                                       \
  INLINE T shl_(T a, T b) { return (u64)(i64)b >= W ? (T)0 : (T)((u64)(i64)a << (u64)b); } \
  INLINE T shr_(T a, T b) { return (u64)(i64)b >= W ? (T)(a < 0 ? -1 : 0) : (T)(a >> b); }
SHIFTS(i8, 8)
SHIFTS(i16, 16)
SHIFTS(i32, 32)
SHIFTS(i64, 64)
SHIFTS(u8, 8)
SHIFTS(u16, 16)
SHIFTS(u32, 32)
SHIFTS(u64, 64)
// Float to integer: towards zero, saturating, NaN is 0.
#define TO_INTEGER(F, T, LO, HI) \
  INLINE T to_##T(F x) { return x != x ? (T)0 : x <= (F)LO ? (T)LO : x >= (F)HI ? (T)HI : (T)x; }
#define TO_INTEGERS(F)                                  \
  TO_INTEGER(F, i8, -128, 127)                          \
  TO_INTEGER(F, i16, -32768, 32767)                     \
  TO_INTEGER(F, i32, (-2147483647 - 1), 2147483647)     \
  TO_INTEGER(F, i64, (-9223372036854775807ll - 1), 9223372036854775807ll) \
  TO_INTEGER(F, u8, 0, 255)                             \
  TO_INTEGER(F, u16, 0, 65535)                          \
  TO_INTEGER(F, u32, 0, 4294967295u)                    \
  TO_INTEGER(F, u64, 0, 18446744073709551615ull)
TO_INTEGERS(f32)
TO_INTEGERS(f64)
INLINE i32 mul_high_(i32 a, i32 b) { return __mulhi(a, b); }
INLINE u32 mul_high_(u32 a, u32 b) { return __umulhi(a, b); }
INLINE i64 mul_high_(i64 a, i64 b) { return __mul64hi(a, b); }
INLINE u64 mul_high_(u64 a, u64 b) { return __umul64hi(a, b); }
// f64 to f32 with the last bit set where it is inexact: rounding that to 16 bits rounds once.
INLINE f32 odd_(f64 x) {
  const f32 y = (f32)x;
  if ((f64)y == x || x != x) return y;
  return __int_as_float((__float_as_int(y) - (int)(fabs((f64)y) > fabs(x))) | 1);
}
INLINE f32 odd_(i32 x) { return odd_((f64)x); }
INLINE f32 odd_(u32 x) { return odd_((f64)x); }
INLINE f32 odd_(i64 x) {
  return odd_((f64)(x >> 53 == 0 || x >> 53 == -1 ? x : x >> 11 << 11 | (i64)((x & 0x7ff) != 0) << 11));
}
INLINE f32 odd_(u64 x) { return odd_((f64)(x >> 53 == 0 ? x : x >> 11 << 11 | (u64)((x & 0x7ff) != 0) << 11)); }
#define FUNCTION(NAME, F, D)                \
  INLINE f32 NAME(f32 x) { return F(x); } \
  INLINE f64 NAME(f64 x) { return D(x); }
FUNCTION(exp_, expf, exp)
FUNCTION(exp2_, exp2f, exp2)
FUNCTION(expm1_, expm1f, expm1)
FUNCTION(log_, logf, log)
FUNCTION(log2_, log2f, log2)
FUNCTION(log10_, log10f, log10)
FUNCTION(log1p_, log1pf, log1p)
FUNCTION(sqrt_, __fsqrt_rn, __dsqrt_rn)
FUNCTION(rsqrt_, rsqrtf, rsqrt)
FUNCTION(sin_, sinf, sin)
FUNCTION(cos_, cosf, cos)
FUNCTION(tan_, tanf, tan)
FUNCTION(asin_, asinf, asin)
FUNCTION(acos_, acosf, acos)
FUNCTION(atan_, atanf, atan)
FUNCTION(sinh_, sinhf, sinh)
FUNCTION(cosh_, coshf, cosh)
FUNCTION(tanh_, tanhf, tanh)
FUNCTION(asinh_, asinhf, asinh)
FUNCTION(acosh_, acoshf, acosh)
FUNCTION(atanh_, atanhf, atanh)
FUNCTION(erf_, erff, erf)
FUNCTION(erfc_, erfcf, erfc)
FUNCTION(cbrt_, cbrtf, cbrt)
FUNCTION(floor_, floorf, floor)
FUNCTION(ceil_, ceilf, ceil)
FUNCTION(trunc_, truncf, trunc)
FUNCTION(round_, rintf, rint)
INLINE f32 rem_(f32 x, f32 y) { return fmodf(x, y); }
INLINE f64 rem_(f64 x, f64 y) { return fmod(x, y); }
INLINE f32 pow_(f32 x, f32 y) { return powf(x, y); }
INLINE f64 pow_(f64 x, f64 y) { return pow(x, y); }
INLINE f32 atan2_(f32 x, f32 y) { return atan2f(x, y); }
INLINE f64 atan2_(f64 x, f64 y) { return atan2(x, y); }
INLINE f32 multiply_add(f32 a, f32 b, f32 c) { return fmaf(a, b, c); }
INLINE f64 multiply_add(f64 a, f64 b, f64 c) { return fma(a, b, c); }
INLINE i32 multiply_add(i32 a, i32 b, i32 c) { return (i32)((u32)a * (u32)b + (u32)c); }
INLINE i64 multiply_add(i64 a, i64 b, i64 c) { return (i64)((u64)a * (u64)b + (u64)c); }
// x / d rounded once, by a correctly rounded inverse of d: what is left after x times it is exact and mends the last bit.
// So for plain operands, for which nothing on the way is too small or too large, and for a zero that is not negative.
INLINE bool plain_divisor(f32 d) { return fabsf(d) >= 0x1p-30f && fabsf(d) <= 0x1p30f; }
INLINE bool plain_dividend(f32 x) { return fabsf(x) >= 0x1p-90f && fabsf(x) <= 0x1p60f; }
INLINE bool plain_zero(f32 x) { return __float_as_uint(x) == 0; }
INLINE f32 quotient(f32 x, f32 d, f32 inverse) {
  const f32 q = x * inverse;
  return fmaf(fmaf(-q, d, x), inverse, q);
}
// Triton's instructions for these.
#define APPROXIMATE(name, text)               \
  INLINE f32 name(f32 x) {                    \
    f32 r;                                    \
    asm(text " %0, %1;" : "=f"(r) : "f"(x));  \
    return r;                                 \
  }
APPROXIMATE(power_of_2, "ex2.approx.f32")
APPROXIMATE(rough_inverse, "rcp.approx.ftz.f32")
APPROXIMATE(fast_exp2, "ex2.approx.ftz.f32")
APPROXIMATE(fast_sqrt, "sqrt.approx.ftz.f32")
APPROXIMATE(fast_rsqrt, "rsqrt.approx.ftz.f32")
// 1 / d rounded once, without the branch that other divisors need.
INLINE bool plain_to_invert(f32 d) { return fabsf(d) >= 0x1p-100f && fabsf(d) <= 0x1p100f; }
INLINE f32 plain_inverse(f32 d) {
  const f32 r = rough_inverse(d);
  return fmaf(r, fmaf(-d, r, 1.0f), r);
}
INLINE f32 fast_exp(f32 x) { return power_of_2(__fmul_rn(x, 0x1.715476p+0f)); }
// For kernels that store halves alone: within 4 + |x| / 4 units of f32's last place, of which a half's has 8,192 or more;
// no subnormal numbers.
INLINE f32 half_exp(f32 x) {
  const f32 power = __fmul_rn(x, 0x1.715476p+0f);
  const f32 rest = fminf(fmaf(x, 0x1.715476p+0f, -power), 1.0f);  // of infinities it would be NaN
  return fast_exp2(power) * fabsf(fmaf(rest, 0x1.62e430p-1f, 1.0f));  // large numbers leave any rest, of 0 and infinity
}
// Within 2.2 units of the last place (erff: 2), and for the tails, where 1 is added to it, within 4.1e-8. Two short
// polynomials instead of one whose coefficients are chosen: choices are what the machine does at half speed.
INLINE f32 half_erf(f32 x) {
  f32 a;
  asm("min.NaN.f32 %0, %1, 0f40800000;" : "=f"(a) : "f"(fabsf(x)));  // 4: from 3.9 on it is 1
  const f32 u = a * a;
  f32 near = fmaf(0x1.27b8cep-8f, u, -0x1.b49590p-6f);
  near = fmaf(near, u, 0x1.ce11c6p-4f);
  near = fmaf(near, u, -0x1.8126f2p-2f);
  near = a * fmaf(near, u, 0x1.20dd74p+0f);
  f32 far = fmaf(0x1.38fb28p-12f, a, -0x1.2bc85ep-8f);  // log2(1 - erf(a)) / a
  far = fmaf(far, a, 0x1.0d4eccp-5f);
  far = fmaf(far, a, -0x1.36afb0p-3f);
  far = fmaf(far, a, -0x1.d59e1ap-1f);
  far = a * fmaf(far, a, -0x1.a0ca96p+0f);
  return copysignf(a < 0.6f ? near : 1.0f - fast_exp2(far), x);
}
INLINE f32 fast_div(f32 x, f32 y) {
  f32 r;
  asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}

// Mathematics on f32 lanes: minimax polynomials, within one unit in the last place. A scalar takes a lane.
#ifdef MANY_FUNCTIONS  // g++ takes 20 ms for each that is inline
#define FUNCTION CALLED
#else
#define FUNCTION INLINE
#endif
INLINE vf32 poly(vf32, f32 c) { return all(c); }
template <class... C>
INLINE vf32 poly(vf32 x, f32 c, C... rest) {  // c + rest[0] x + ...
  return fma_(poly(x, rest...), x, all(c));
}
// x 2^n, also where 2^n alone would leave the range; n lies in t's low bits, from kShifter on. A NaN stays one.
constexpr f32 kShifter = 12582912.0f + 254.0f;
INLINE vf32 scale2(vf32 x, vf32 t) {
#if L == 16 && !defined(__clang__)
  return __builtin_ia32_scalefps512_mask(x, t - kShifter, vf32{}, (u16)-1, 4);
#else
  const vi32 half = bits(t) << 22 & (i32)0xff800000;
  return x * real(half) * real((bits(t) << 23) - half);
#endif
}
FUNCTION vf32 exp_(vf32 x) {
  const vf32 c = within(x, -104.0f, 89.0f);
  const vf32 t = fma_(c, all(1.44269504f), all(kShifter)), n = t - kShifter;
  const vf32 r = fma_(n, all(2.12194440e-4f), fma_(n, all(-0.693359375f), c));
  const vf32 p = poly(r, 0.499999934f, 0.166665204f, 0.0416683908f, 0.00836874525f, 0.001381454f);
  return scale2(fma_(p, r * r, r) + 1.0f, t);
}
// 2^n r + (2^n - 1) for the rest r of x, in two parts each; half of it, as 2^128 has no room.
FUNCTION vf32 expm1_(vf32 x) {
  const vf32 c = within(x, -18.0f, 89.0f);
  const vf32 t = fma_(c, all(1.44269504f), all(kShifter)), n = t - kShifter;
  const vf32 part = fma_(n, all(-0.693359375f), c), r = fma_(n, all(2.12194440e-4f), part);
  const vf32 low = fma_(n, all(2.12194440e-4f), part - r);
  const vf32 p = poly(r, 0.5f, 0.166666672f, 0.0416665077f, 0.0083331801f, 0.00139308651f, 0.000199696558f);
  const vf32 power = real((bits(t) - bits(all(kShifter)) + 126) << 23), base = power - 0.5f, high = power * r;
  const vf32 sum = base + high, back = sum - high;
  const vf32 lost = (base - back) + (high - (sum - back)) + (power - base - 0.5f);
  const vf32 y = sum + fma_(power, fma_(p, r * r, low), lost);
  return abs_(x) < 1e-8f ? x : y + y;
}
FUNCTION vf32 exp2_(vf32 x) {
  const vf32 c = within(x, -151.0f, 129.0f), t = c + kShifter, f = c + (kShifter - t);
  const vf32 p = poly(f, 0.693147203f, 0.240226479f, 0.0555033247f, 0.00961843736f, 0.00133988747f, 0.000153533631f);
  return scale2(fma_(p, f, all(1.0f)), t);
}
// x = m 2^e with m near 1; log(m) = (m - 1) + tail
INLINE vf32 log_split(vf32 x, vf32& e, vf32& tail) {
  const vi32 tiny = x < 1.17549435e-38f;
  const vf32 y = tiny ? x * 8388608.0f : x;
  const vi32 b = bits(y) - 0x3f3504f3;
  e = TO(vf32, (b >> 23) - (tiny & 23));
  const vf32 m = real((b & 0x7fffff) + 0x3f3504f3) - 1.0f;
  const vf32 p = poly(m, 0.33333310f, -0.24999987f, 0.20002227f, -0.16669251f, 0.14218658f, -0.12384348f, 0.11872976f,
                      -0.11789808f, 0.069153681f);
  const vf32 square = m * m, low = fma_(m, m, -square);
  tail = fma_(all(-0.5f), low, fma_(p * m, square, -0.5f * square));
  return m;
}
INLINE vf32 log_edges(vf32 x, vf32 y) {
  const vf32 inf = all(__builtin_inff());
  return x == 0.0f ? -inf : x < 0.0f ? all(__builtin_nanf("")) : x < inf ? y : x;
}
FUNCTION vf32 log_(vf32 x) {
  vf32 e, tail;
  const vf32 m = log_split(x, e, tail);
  return log_edges(x, fma_(e, all(0.693359375f), m + fma_(e, all(-2.12194440e-4f), tail)));
}
FUNCTION vf32 log2_(vf32 x) {
  vf32 e, tail;
  const vf32 m = log_split(x, e, tail);
  const vf32 a = m * 1.44269504f;
  const vf32 low = fma_(tail, all(1.44269504f), fma_(m, all(1.92596299e-8f), fma_(m, all(1.44269504f), -a)));
  return log_edges(x, e + (a + low));
}
// log(u) + low / u, where u + low is 1 + x
FUNCTION vf32 log1p_(vf32 x) {
  const vf32 u = 1.0f + x, part = u - 1.0f, low = (1.0f - (u - part)) + (x - part);
  vf32 e, tail;
  const vf32 m = log_split(u, e, tail);
  const vf32 rest = fma_(e, all(-2.12194440e-4f), tail) + low / u;
  return x == 0.0f ? x : log_edges(u, fma_(e, all(0.693359375f), m + rest));
}
INLINE f32 sqrt_(f32 x) { return __builtin_sqrtf(x); }
INLINE f64 sqrt_(f64 x) { return __builtin_sqrt(x); }
INLINE vf32 sqrt_(vf32 x) {
#if L == 16 && !defined(__clang__)
  return __builtin_ia32_sqrtps512_mask(x, vf32{}, (u16)-1, 4);
#elif L == 8 && !defined(__clang__)
  return __builtin_ia32_sqrtps256(x);
#elif defined(NEON)
  return __builtin_aarch64_sqrtv4sf(x);
#else
  vf32 r;
  LANES(r, __builtin_sqrtf(x[l]));
  return r;
#endif
}
INLINE vf32 rsqrt_(vf32 x) { return 1.0f / sqrt_(x); }
INLINE f32 rsqrt_(f32 x) { return 1.0f / sqrt_(x); }
INLINE f64 rsqrt_(f64 x) { return 1.0 / sqrt_(x); }
FUNCTION vf32 tanh_(vf32 x) {
  const vf32 a = abs_(x), t = x * x;
  const vf32 p = poly(t, -0.333332954f, 0.133323436f, -0.053879735f, 0.0214864374f, -0.0079457472f, 0.00230107797f,
                      -0.000358363044f);
  const vf32 small = fma_(p * t, x, x);
  const vf32 large = 1.0f - 2.0f / (exp_(a + a) + 1.0f);
  const vf32 y = a < 1.0f ? small : large;
  return real(bits(y) | (bits(x) & (i32)0x80000000));
}
// pi/2 in four parts, the rest of x in two; beyond 8192 the lanes go to the library.
INLINE vf32 sin_quadrant(vf32 x, i32 shift, f32 (*exact)(f32)) {
  const vf32 t = fma_(x, all(0.636619772f), all(12582912.0f)), n = t - 12582912.0f;
  const vf32 part = fma_(n, all(-5.65648078918457e-05f), fma_(n, all(-1.57073974609375f), x));
  const vf32 third = n * 1.58932547e-08f, r = part - third;
  const vf32 low = part - r - third - fma_(n, all(6.123234e-17f), fma_(n, all(1.58932547e-08f), -third));
  const vi32 q = bits(t) + shift;
  const vf32 s = r * r, half = 0.5f * s, rest = 1.0f - half;
  const vf32 sine = r + fma_(poly(s, -0.166666545f, 0.0083321524f, -0.000195141272f) * s, r, low);
  const vf32 cosine =
      rest + ((1.0f - rest - half) + fma_(poly(s, 0.0416666455f, -0.00138873049f, 2.44318364e-05f), s * s, -r * low));
  vf32 y = (q & 1) == 0 ? sine : cosine;
  y = real(bits(y) ^ ((q & 2) << 30));
  const vi32 far = ~(abs_(x) <= 8192.0f);
  if (__builtin_expect(any(far), 0))
    for (int l = 0; l < L; ++l)
      if (far[l]) y[l] = exact(x[l]);
  return y;
}
INLINE f32 sin_exact(f32 x) { return __builtin_sinf(x); }
INLINE f32 cos_exact(f32 x) { return __builtin_cosf(x); }
FUNCTION vf32 sin_(vf32 x) { return x == 0.0f ? x : sin_quadrant(x, 0, sin_exact); }
FUNCTION vf32 cos_(vf32 x) { return sin_quadrant(x, 1, cos_exact); }
FUNCTION vf32 pow_(vf32 x, vf32 y) {
  vf32 r;
  LANES(r, __builtin_powf(x[l], y[l]));
  return r;
}
FUNCTION vf32 atan2_(vf32 x, vf32 y) {
  vf32 r;
  LANES(r, __builtin_atan2f(x[l], y[l]));
  return r;
}
INLINE vf32 rem_(vf32 x, vf32 y) {
  vf32 r;
  LANES(r, __builtin_fmodf(x[l], y[l]));
  return r;
}
INLINE vf32 round_integral(vf32 x, i32 mode) {
#if L == 16 && !defined(__clang__)
  return mode == 0   ? __builtin_ia32_rndscaleps_mask(x, 8, vf32{}, (u16)-1, 4)
         : mode == 1 ? __builtin_ia32_rndscaleps_mask(x, 9, vf32{}, (u16)-1, 4)
         : mode == 2 ? __builtin_ia32_rndscaleps_mask(x, 10, vf32{}, (u16)-1, 4)
                     : __builtin_ia32_rndscaleps_mask(x, 11, vf32{}, (u16)-1, 4);
#elif L == 8 && !defined(__clang__)
  return mode == 0   ? __builtin_ia32_roundps256(x, 8)
         : mode == 1 ? __builtin_ia32_roundps256(x, 9)
         : mode == 2 ? __builtin_ia32_roundps256(x, 10)
                     : __builtin_ia32_roundps256(x, 11);
#elif defined(NEON)
  return mode == 0   ? __builtin_aarch64_roundevenv4sf(x)
         : mode == 1 ? __builtin_aarch64_floorv4sf(x)
         : mode == 2 ? __builtin_aarch64_ceilv4sf(x)
                     : __builtin_aarch64_btruncv4sf(x);
#else
  vf32 r;
  LANES(r, mode == 0   ? __builtin_rintf(x[l])
           : mode == 1 ? __builtin_floorf(x[l])
           : mode == 2 ? __builtin_ceilf(x[l])
                       : __builtin_truncf(x[l]));
  return r;
#endif
}
INLINE vf32 round_(vf32 x) { return round_integral(x, 0); }
INLINE vf32 floor_(vf32 x) { return round_integral(x, 1); }
INLINE vf32 ceil_(vf32 x) { return round_integral(x, 2); }
INLINE vf32 trunc_(vf32 x) { return round_integral(x, 3); }
INLINE f32 rem_(f32 x, f32 y) { return __builtin_fmodf(x, y); }
INLINE f64 rem_(f64 x, f64 y) { return __builtin_fmod(x, y); }
INLINE f32 pow_(f32 x, f32 y) { return __builtin_powf(x, y); }
INLINE f64 pow_(f64 x, f64 y) { return __builtin_pow(x, y); }
INLINE f32 atan2_(f32 x, f32 y) { return __builtin_atan2f(x, y); }
INLINE f64 atan2_(f64 x, f64 y) { return __builtin_atan2(x, y); }
#define SCALAR(F) \
  INLINE f32 F##_(f32 x) { return F##_(all(x))[0]; }
#define LIBRARY(F) \
  INLINE f64 F##_(f64 x) { return __builtin_##F(x); }
#define LANEWISE(V, F)    \
  INLINE V F##_(V x) {    \
    V r;                  \
    LANES(r, F##_(x[l])); \
    return r;             \
  }
#define COMMON(F) SCALAR(F) LIBRARY(F) LANEWISE(vf64, F)
#define INTEGRAL(F, C)                                   \
  INLINE f32 F##_(f32 x) { return __builtin_##C##f(x); } \
  INLINE f64 F##_(f64 x) { return __builtin_##C(x); }    \
  LANEWISE(vf64, F)
// The library's in f64, for every type.
#define RARE(F)                                        \
  LIBRARY(F)                                           \
  INLINE f32 F##_(f32 x) { return (f32)F##_((f64)x); } \
  LANEWISE(vf32, F) LANEWISE(vf64, F)
// clang-format off
COMMON(exp) COMMON(exp2) COMMON(expm1) COMMON(log) COMMON(log2) COMMON(log1p)
COMMON(sin) COMMON(cos) COMMON(tanh)
INTEGRAL(floor, floor) INTEGRAL(ceil, ceil) INTEGRAL(trunc, trunc) INTEGRAL(round, rint)
LANEWISE(vf64, sqrt) LANEWISE(vf64, rsqrt)
RARE(log10) RARE(tan) RARE(asin) RARE(acos) RARE(atan)
RARE(sinh) RARE(cosh) RARE(asinh) RARE(acosh) RARE(atanh) RARE(erfc) RARE(cbrt)
    // clang-format on
    INLINE vf64 pow_(vf64 x, vf64 y) {
  vf64 r;
  LANES(r, pow_(x[l], y[l]));
  return r;
}
INLINE vf64 atan2_(vf64 x, vf64 y) {
  vf64 r;
  LANES(r, atan2_(x[l], y[l]));
  return r;
}
INLINE vf64 rem_(vf64 x, vf64 y) {
  vf64 r;
  LANES(r, rem_(x[l], y[l]));
  return r;
}
// Division by one number, of the same bits as a / b: with the rounded reciprocal, one correction by the exact remainder
// gives the rounded quotient (Markstein), where nothing leaves the range and b's mantissa is not all ones.
struct Divisor {
  f32 b, r;
  bool fast;
};
INLINE Divisor divisor(f32 b) {
  const i32 m = bits(b), e = m >> 23 & 255;
  return {b, 1.0f / b, e > 67 && e < 187 && (m & 0x7fffff) != 0x7fffff};
}
INLINE vf32 div_by(vf32 a, Divisor d) {
  const vu32 size = (vu32)(bits(a) & 0x7fffffff) - (68u << 23);
  const vf32 q = a * d.r;  // of a zero it has the sign already
#ifdef PARTS
  const u16 usual = __builtin_ia32_ucmpd512_mask((vi32)size, all((i32)(118u << 23)), 1, -1),
            other = __builtin_ia32_cmpps512_mask(a, vf32{}, 4, -1, 4);
  if (__builtin_expect(!d.fast || (usual & other) != other, 0)) return a / d.b;
  return __builtin_ia32_vfmaddps512_mask3(fma_(-q, all(d.b), a), all(d.r), q, other, 4);
#else
  const vi32 zero = a == 0;
  if (__builtin_expect(!d.fast || !every((size < (118u << 23)) | zero), 0)) return a / d.b;
  return pick(zero, q, fma_(fma_(-q, all(d.b), a), all(d.r), q));
#endif
}

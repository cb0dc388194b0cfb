// Arithmetic that is spelled otherwise than for numbers.
INLINE vi32 bits(vf32 x) { return (vi32)x; }
INLINE vf32 real(vi32 x) { return (vf32)x; }
INLINE i32 bits(f32 x) { return __builtin_bit_cast(i32, x); }
INLINE f32 real(i32 x) { return __builtin_bit_cast(f32, x); }
// From i on, the bodies of a few vectors are computed together and then stored: where a vector is short, one alone is
// mostly waiting for itself. Gives the first element that is left.
template <class Body>
INLINE i64 few(Body& body, i64 i, i64 end) {
#ifdef NEON
  for (; i + 4 * L <= end; i += 4 * L) {
    const auto a = body.template operator()<true>(i, L), b = body.template operator()<true>(i + L, L);
    const auto c = body.template operator()<true>(i + 2 * L, L), d = body.template operator()<true>(i + 3 * L, L);
    a(), b(), c(), d();
  }
#endif
  return i;
}
// Calls with constants instead of bools.
template <bool Value>
struct Decided {
  constexpr operator bool() const { return Value; }
};
template <class Run>
INLINE void decide(const Run& run, bool a) {
  if (a)
    run(Decided<true>{});
  else
    run(Decided<false>{});
}
template <class Run>
INLINE void decide(const Run& run, bool a, bool b) {
  if (a)
    decide([&](auto c) __attribute__((always_inline)) { run(Decided<true>{}, c); }, b);
  else
    decide([&](auto c) __attribute__((always_inline)) { run(Decided<false>{}, c); }, b);
}
INLINE i64 min_i64(i64 a, i64 b) { return a < b ? a : b; }
INLINE i64 clamp_i64(i64 x, i64 lo, i64 hi) { return x < lo ? lo : x > hi ? hi : x; }
// The least, the most and the size. min and max ignore a NaN.
#define MINMAX(V)                                   \
  INLINE V min_(V a, V b) { return a < b ? a : b; } \
  INLINE V max_(V a, V b) { return a > b ? a : b; } \
  INLINE V abs_(V x) { return x < 0 ? -x : x; }
#define MINMAX_WIDE(V)                                      \
  INLINE V min_(V a, V b) { return pick(lt_(a, b), a, b); } \
  INLINE V max_(V a, V b) { return pick(gt_(a, b), a, b); } \
  INLINE V abs_(V x) { return pick(lt_(x, V{}), -x, x); }
MINMAX(vi8)
MINMAX(vi16)
MINMAX(vi32)
MINMAX(vu8)
MINMAX(vu16)
MINMAX(vu32)
MINMAX_WIDE(vi64)
MINMAX_WIDE(vu64)
#define MINMAX1(T)                                  \
  INLINE T min_(T a, T b) { return a < b ? a : b; } \
  INLINE T max_(T a, T b) { return a > b ? a : b; }
INTEGERS(MINMAX1)
MINMAX1(bool)
INLINE vf32 min_(vf32 a, vf32 b) { return a < b ? a : b != b ? a : b; }
INLINE vf32 max_(vf32 a, vf32 b) { return a > b ? a : b != b ? a : b; }
INLINE vf64 min_(vf64 a, vf64 b) { return pick(lt_(a, b) | ne_(b, b), a, b); }
INLINE vf64 max_(vf64 a, vf64 b) { return pick(gt_(a, b) | ne_(b, b), a, b); }
INLINE f32 min_(f32 a, f32 b) { return a < b ? a : b != b ? a : b; }
INLINE f32 max_(f32 a, f32 b) { return a > b ? a : b != b ? a : b; }
INLINE f64 min_(f64 a, f64 b) { return a < b ? a : b != b ? a : b; }
INLINE f64 max_(f64 a, f64 b) { return a > b ? a : b != b ? a : b; }
// Of operands that are no signalling NaN, which the machine's own instruction would not ignore.
#ifdef NEON
INLINE vf32 min_quiet(vf32 a, vf32 b) { return __builtin_aarch64_fminv4sf(a, b); }
INLINE vf32 max_quiet(vf32 a, vf32 b) { return __builtin_aarch64_fmaxv4sf(a, b); }
#else
INLINE vf32 min_quiet(vf32 a, vf32 b) { return min_(a, b); }
INLINE vf32 max_quiet(vf32 a, vf32 b) { return max_(a, b); }
#endif
// The larger, the smaller one of acc, which is no NaN, and x; a NaN in x is left out.
#if L == 16 && !defined(__clang__)
INLINE vf32 most(vf32 acc, vf32 x) { return __builtin_ia32_maxps512_mask(x, acc, vf32{}, (u16)-1, 4); }
INLINE vf32 least(vf32 acc, vf32 x) { return __builtin_ia32_minps512_mask(x, acc, vf32{}, (u16)-1, 4); }
#elif L == 8 && !defined(__clang__)
INLINE vf32 most(vf32 acc, vf32 x) { return __builtin_ia32_maxps256(x, acc); }
INLINE vf32 least(vf32 acc, vf32 x) { return __builtin_ia32_minps256(x, acc); }
#else
INLINE vf32 most(vf32 acc, vf32 x) { return x > acc ? x : acc; }
INLINE vf32 least(vf32 acc, vf32 x) { return x < acc ? x : acc; }
#endif
// x between lo and hi; a NaN stays.
INLINE vf32 within(vf32 x, f32 lo, f32 hi) {
#if L == 16 && !defined(__clang__)
  return __builtin_ia32_minps512_mask(all(hi), __builtin_ia32_maxps512_mask(all(lo), x, vf32{}, (u16)-1, 4), vf32{},
                                      (u16)-1, 4);
#elif L == 8 && !defined(__clang__)
  return __builtin_ia32_minps256(all(hi), __builtin_ia32_maxps256(all(lo), x));
#elif defined(NEON)
  return __builtin_aarch64_fmin_nanv4sf(__builtin_aarch64_fmax_nanv4sf(x, all(lo)), all(hi));
#else
  return x < lo ? all(lo) : x > hi ? all(hi) : x;
#endif
}
INLINE vf64 most(vf64 acc, vf64 x) { return pick(gt_(x, acc), x, acc); }
INLINE vf64 least(vf64 acc, vf64 x) { return pick(lt_(x, acc), x, acc); }
// The largest and the smallest so far of what is no NaN. Both are kept, since only together they tell whether there was
// anything: NaN are ignored, but NaN alone give NaN.
template <class V>
struct Extremes {
  V high, low;
};
template <class V>
INLINE Extremes<V> extremes() {
  return {V{} - __builtin_inff(), V{} + __builtin_inff()};
}
template <class V>
INLINE Extremes<V> take(Extremes<V> e, V x) {
  return {most(e.high, x), least(e.low, x)};
}
template <class V>
INLINE Extremes<V> take(Extremes<V> e, Extremes<V> f) {
  return {most(e.high, f.high), least(e.low, f.low)};
}
template <class V>
INLINE V highest(Extremes<V> e) {
  return pick(ge_(e.high, e.low), e.high, V{} + __builtin_nanf(""));
}
template <class V>
INLINE V lowest(Extremes<V> e) {
  return pick(ge_(e.high, e.low), e.low, V{} + __builtin_nanf(""));
}
#ifdef NEON  // these instructions prefer a number to a NaN, if it is a quiet one, so that one of the two is enough
template <>
inline __attribute__((always_inline)) Extremes<vf32> extremes<vf32>() {
  return {all(__builtin_nanf("")), all(__builtin_nanf(""))};
}
INLINE Extremes<vf32> take(Extremes<vf32> e, vf32 x) {
  const vf32 quiet = __builtin_aarch64_fmaxv4sf(x, x);
  return {__builtin_aarch64_fmaxv4sf(e.high, quiet), __builtin_aarch64_fminv4sf(e.low, quiet)};
}
INLINE Extremes<vf32> take(Extremes<vf32> e, Extremes<vf32> f) {
  return {__builtin_aarch64_fmaxv4sf(e.high, f.high), __builtin_aarch64_fminv4sf(e.low, f.low)};
}
INLINE vf32 highest(Extremes<vf32> e) { return e.high; }
INLINE vf32 lowest(Extremes<vf32> e) { return e.low; }
#endif
// A NaN is the result. Of vectors by their bits: what compilers know of x != x they look for through a whole chain of
// these, and again for each.
#if defined(NEON)
INLINE vf32 min_nan(vf32 a, vf32 b) { return __builtin_aarch64_fmin_nanv4sf(a, b); }
INLINE vf32 max_nan(vf32 a, vf32 b) { return __builtin_aarch64_fmax_nanv4sf(a, b); }
#else
INLINE vi32 is_nan(vf32 x) { return (bits(x) & 0x7fffffff) > 0x7f800000; }
INLINE vf32 min_nan(vf32 a, vf32 b) { return pick((a < b) | is_nan(a), a, b); }
INLINE vf32 max_nan(vf32 a, vf32 b) { return pick((a > b) | is_nan(a), a, b); }
#endif
#define MINMAX_NAN(T)                                               \
  INLINE T min_nan(T a, T b) { return a < b ? a : a != a ? a : b; } \
  INLINE T max_nan(T a, T b) { return a > b ? a : a != a ? a : b; }
INLINE vf64 min_nan(vf64 a, vf64 b) { return pick(lt_(a, b) | ne_(a, a), a, b); }
INLINE vf64 max_nan(vf64 a, vf64 b) { return pick(gt_(a, b) | ne_(a, a), a, b); }
MINMAX_NAN(f32)
MINMAX_NAN(f64)
INLINE vf32 abs_(vf32 x) { return real(bits(x) & 0x7fffffff); }
INLINE f32 abs_(f32 x) { return __builtin_fabsf(x); }
INLINE f64 abs_(f64 x) { return __builtin_fabs(x); }
INLINE vf64 abs_(vf64 x) { return (vf64)((vi64)x & 0x7fffffffffffffffL); }
#define ABS1(T) \
  INLINE T abs_(T x) { return x < 0 ? (T)-x : x; }
INTEGERS(ABS1)
ABS1(bool)
// a * b + c rounded once
INLINE f32 fma_(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
INLINE f64 fma_(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
INLINE vf32 fma_(vf32 a, vf32 b, vf32 c) {
#if L == 16 && !defined(__clang__)
  return __builtin_ia32_vfmaddps512_mask(a, b, c, (u16)-1, 4);
#elif L == 8 && defined(__FMA__) && !defined(__clang__)
  return __builtin_ia32_vfmaddps256(a, b, c);
#elif defined(NEON)
  return __builtin_aarch64_fmav4sf(a, b, c);
#else
  vf32 r;
  LANES(r, __builtin_fmaf(a[l], b[l], c[l]));
  return r;
#endif
}
INLINE vf64 fma_(vf64 a, vf64 b, vf64 c) {
  vf64 r;
  LANES(r, __builtin_fma(a[l], b[l], c[l]));
  return r;
}
// Whether any, or all, lanes are set.
INLINE bool any(vi32 m) {
#if L == 16 && !defined(__clang__)
  return __builtin_ia32_cvtd2mask512(m) != 0;
#elif L == 8
  return __builtin_ia32_movmskps256((vf32)m) != 0;
#elif defined(NEON)
  return __builtin_aarch64_reduc_umax_scal_v4si_uu((vu32)m) != 0;
#else
  i32 r = 0;
  EACH_LANE r |= m[l];
  return r != 0;
#endif
}
INLINE bool every(vi32 m) {
#ifdef NEON
  return __builtin_aarch64_reduc_umin_scal_v4si_uu((vu32)m) != 0;
#else
  return !any(~m);
#endif
}
// g++ 12 takes x / x for x != 0, and makes -1 of where that holds in a vector: it may not look at what came out.
template <class T>
INLINE T unseen(T x, bool seen) {
  if (!seen) asm("" : "+r"(x));
  return x;
}
// b is 0: 0. The least by -1: itself.
#define DIVREM(T)                                                                                    \
  INLINE T div_(T a, T b) {                                                                          \
    const bool negates = b == (T)-1 && (T)-1 < (T)0;                                                 \
    return b == 0 ? (T)0 : negates ? (T)(0 - a) : unseen<T>(a / b, __builtin_constant_p(b));         \
  }                                                                                                  \
  INLINE T rem_(T a, T b) {                                                                          \
    const bool negates = b == (T)-1 && (T)-1 < (T)0;                                                 \
    return b == 0 || negates ? (T)0 : unseen<T>(a % b, __builtin_constant_p(b));                     \
  }
INTEGERS(DIVREM)
#define VDIVREM(T)                    \
  INLINE v##T div_(v##T a, v##T b) {  \
    v##T r;                           \
    LANES(r, div_(a[l], b[l]));       \
    return r;                         \
  }                                   \
  INLINE v##T rem_(v##T a, v##T b) {  \
    v##T r;                           \
    LANES(r, rem_(a[l], b[l]));       \
    return r;                         \
  }
INTEGERS(VDIVREM)
// Shifts by the width or more.
#define SHIFTS(T)                                                                                             \
  INLINE T shl_(T a, T b) { return (u64)(i64)b >= 8 * sizeof(T) ? (T)0 : (T)((u64)(i64)a << (u64)b); }        \
  INLINE T shr_(T a, T b) { return (u64)(i64)b >= 8 * sizeof(T) ? (T)(a < 0 ? -1 : 0) : (T)(a >> b); }
INTEGERS(SHIFTS)
#define VSHIFTS(V, U, W)                                                                              \
  INLINE V shl_(V a, V b) { return pick(lt_((U)b, U{} + W), a << (b & (W - 1)), V{}); }                \
  INLINE V shr_(V a, V b) { return a >> (V)pick(lt_((U)b, U{} + W), (U)b, U{} + (W - 1)); }            \
  INLINE U shl_(U a, U b) { return (U)shl_((V)a, (V)b); }                                              \
  INLINE U shr_(U a, U b) { return pick(lt_(b, U{} + W), a >> (b & (W - 1)), U{}); }
VSHIFTS(vi8, vu8, 8)
VSHIFTS(vi16, vu16, 16)
VSHIFTS(vi32, vu32, 32)
VSHIFTS(vi64, vu64, 64)
// Float to integer: towards zero, saturating, NaN is 0.
#define TOINT(F, T, LO, HI) \
  INLINE T to_##T(F x) { return x != x ? (T)0 : x <= (F)LO ? (T)LO : x >= (F)HI ? (T)HI : (T)x; }
#define VTOINT(F, T, LO, HI)                                                    \
  INLINE v##T to_v##T(v##F x) {                                                 \
    const v##T near = pick(le_(x, all((F)LO)), all((T)LO), TO(v##T, x));        \
    return pick(ne_(x, x), v##T{}, pick(ge_(x, all((F)HI)), all((T)HI), near)); \
  }
#define VTOSHORT(F, T, LO, HI) \
  INLINE v##T to_v##T(v##F x) { return TO(v##T, min_(max_(to_vi32(x), all((i32)LO)), all((i32)HI))); }
#define EACH_INT(ONE, SHORT, F)                                  \
  ONE(F, i32, (-2147483647 - 1), 2147483647)                     \
  ONE(F, i64, (-9223372036854775807L - 1), 9223372036854775807L) \
  ONE(F, u32, 0, 4294967295u)                                    \
  ONE(F, u64, 0, 18446744073709551615ul)                         \
  SHORT(F, i8, -128, 127)                                        \
  SHORT(F, i16, -32768, 32767)                                   \
  SHORT(F, u8, 0, 255)                                           \
  SHORT(F, u16, 0, 65535)
EACH_INT(TOINT, TOINT, f32)
EACH_INT(TOINT, TOINT, f64)
EACH_INT(VTOINT, VTOSHORT, f32)
EACH_INT(VTOINT, VTOSHORT, f64)
// The upper half of a product.
INLINE i32 mul_high_(i32 a, i32 b) { return (i32)((i64)a * b >> 32); }
INLINE u32 mul_high_(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
INLINE i64 mul_high_(i64 a, i64 b) { return (i64)((__int128)a * b >> 64); }
INLINE u64 mul_high_(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
#define VMUL_HIGH(V)                 \
  INLINE V mul_high_(V a, V b) {     \
    V r;                             \
    LANES(r, mul_high_(a[l], b[l])); \
    return r;                        \
  }
VMUL_HIGH(vi32)
VMUL_HIGH(vu32)
VMUL_HIGH(vi64)
VMUL_HIGH(vu64)

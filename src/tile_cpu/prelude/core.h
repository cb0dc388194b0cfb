// Types and lanes. A vector has L lanes of any element type; i1 is a lane of all or no bits.
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef float f32;
typedef double f64;
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define L 16
#elif defined(__AVX2__)
#define L 8
#else
#define L 4
#endif
#if defined(__aarch64__) && !defined(__clang__)
#define NEON
#endif
#define INLINE static inline __attribute__((always_inline))
#if defined(__aarch64__)
#define CALLED static __attribute__((noinline, aarch64_vector_pcs))
#else
#define CALLED static __attribute__((noinline))
#endif
#define VECTOR(T, V) typedef T V __attribute__((vector_size(sizeof(T) * L)))
VECTOR(i8, vi8);
VECTOR(i16, vi16);
VECTOR(i32, vi32);
VECTOR(i64, vi64);
VECTOR(u8, vu8);
VECTOR(u16, vu16);
VECTOR(u32, vu32);
VECTOR(u64, vu64);
VECTOR(f32, vf32);
VECTOR(f64, vf64);
union Argument {
  void* pointer;
  i64 integer;
  f64 real;
};
INLINE vi8 all(i8 x) { return x - vi8{}; }
INLINE vi16 all(i16 x) { return x - vi16{}; }
INLINE vi32 all(i32 x) { return x - vi32{}; }
INLINE vi64 all(i64 x) { return x - vi64{}; }
INLINE vu8 all(u8 x) { return x - vu8{}; }
INLINE vu16 all(u16 x) { return x - vu16{}; }
INLINE vu32 all(u32 x) { return x - vu32{}; }
INLINE vu64 all(u64 x) { return x - vu64{}; }
INLINE vf32 all(f32 x) { return x - vf32{}; }  // x - 0 is x, for -0 too
INLINE vf64 all(f64 x) { return x - vf64{}; }
INLINE vi32 all(bool x) { return all(-(i32)x); }
INLINE vi32 iota() {
#if L == 16
  return vi32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif L == 8
  return vi32{0, 1, 2, 3, 4, 5, 6, 7};
#else
  return vi32{0, 1, 2, 3};
#endif
}
INLINE vi32 below(i32 n) { return iota() < n; }  // the first n lanes
#if defined(NEON)
// GCC converts these lane by lane.
#define WITH_ZEROS(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5, 2, 6, 3, 7)
typedef u8 Bytes __attribute__((vector_size(16)));
template <class V, class X>
INLINE V to(V, X x) {
  return __builtin_convertvector(x, V);
}
INLINE vi32 to(vi32, vu16 x) { return (vi32)WITH_ZEROS(x, vu16{}); }
INLINE vi32 to(vi32, vi16 x) { return (vi32)WITH_ZEROS(vi16{}, x) >> 16; }
INLINE vi32 to(vi32, vu8 x) { return (vi32)(all(__builtin_bit_cast(u32, x)) >> vu32{0, 8, 16, 24} & 255); }
INLINE vi32 to(vi32, vi8 x) { return (vi32)(all(__builtin_bit_cast(u32, x)) << vu32{24, 16, 8, 0}) >> 24; }
INLINE vu8 to(vu8, vi32 x) {
  const Bytes low = __builtin_shufflevector((Bytes)x, (Bytes)x, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
  return __builtin_bit_cast(vu8, ((vu32)low)[0]);
}
#define THROUGH_I32(X)                                      \
  INLINE vu32 to(vu32, X x) { return (vu32)to(vi32{}, x); } \
  INLINE vf32 to(vf32, X x) { return __builtin_convertvector(to(vi32{}, x), vf32); }
THROUGH_I32(vu16)
THROUGH_I32(vi16)
THROUGH_I32(vu8)
THROUGH_I32(vi8)
INLINE vi8 to(vi8, vi32 x) { return (vi8)to(vu8{}, x); }
INLINE vu8 to(vu8, vu32 x) { return to(vu8{}, (vi32)x); }
INLINE vi8 to(vi8, vu32 x) { return (vi8)to(vu8{}, (vi32)x); }
#define TO(V, x) to(V{}, x)
#else
#define TO(V, x) __builtin_convertvector(x, V)
#endif
INLINE vi32 mask(vi32 m) { return m; }
INLINE vi32 mask(vi8 m) { return TO(vi32, m); }
INLINE vi32 mask(vi16 m) { return TO(vi32, m); }
INLINE vi32 mask(vi64 m) { return TO(vi32, m); }
INLINE vf32 pick(vi32 m, vf32 a, vf32 b) { return m ? a : b; }
INLINE vi32 pick(vi32 m, vi32 a, vi32 b) { return m ? a : b; }
INLINE vu32 pick(vi32 m, vu32 a, vu32 b) { return m ? a : b; }
INLINE vf64 pick(vi32 m, vf64 a, vf64 b) { return TO(vi64, m) ? a : b; }
INLINE vi64 pick(vi32 m, vi64 a, vi64 b) { return TO(vi64, m) ? a : b; }
INLINE vu64 pick(vi32 m, vu64 a, vu64 b) { return TO(vi64, m) ? a : b; }
INLINE vi16 pick(vi32 m, vi16 a, vi16 b) { return TO(vi16, m) ? a : b; }
INLINE vu16 pick(vi32 m, vu16 a, vu16 b) { return TO(vi16, m) ? a : b; }
INLINE vi8 pick(vi32 m, vi8 a, vi8 b) { return TO(vi8, m) ? a : b; }
INLINE vu8 pick(vi32 m, vu8 a, vu8 b) { return TO(vi8, m) ? a : b; }
#define PICK1(T) \
  INLINE T pick(bool m, T a, T b) { return m ? a : b; }
PICK1(bool)
PICK1(i8) PICK1(i16) PICK1(i32) PICK1(i64) PICK1(u8) PICK1(u16) PICK1(u32) PICK1(u64) PICK1(f32) PICK1(f64) INLINE vi32
    bits(vf32 x) {
  return (vi32)x;
}
INLINE vf32 real(vi32 x) { return (vf32)x; }
INLINE i32 bits(f32 x) { return __builtin_bit_cast(i32, x); }
INLINE f32 real(i32 x) { return __builtin_bit_cast(f32, x); }
// Unrolled: else vectors go through memory, a lane at a time.
#define EACH_LANE _Pragma("GCC unroll 16") for (int l = 0; l < L; ++l)
#define LANES(r, f) EACH_LANE r[l] = f
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
// min and max ignore a NaN
#define MINMAX(V)                                             \
  INLINE V min_(V a, V b) { return pick(mask(a < b), a, b); } \
  INLINE V max_(V a, V b) { return pick(mask(a > b), a, b); }
MINMAX(vi8)
MINMAX(vi16) MINMAX(vi32) MINMAX(vi64) MINMAX(vu8) MINMAX(vu16) MINMAX(vu32) MINMAX(vu64)
#define MINMAX1(T)                                  \
  INLINE T min_(T a, T b) { return a < b ? a : b; } \
  INLINE T max_(T a, T b) { return a > b ? a : b; }
    MINMAX1(i8) MINMAX1(i16) MINMAX1(i32) MINMAX1(i64) MINMAX1(u8) MINMAX1(u16) MINMAX1(u32) MINMAX1(u64)
        MINMAX1(bool) INLINE vf32 min_(vf32 a, vf32 b) {
  return a < b ? a : b != b ? a : b;
}
INLINE vf32 max_(vf32 a, vf32 b) { return a > b ? a : b != b ? a : b; }
INLINE vf64 min_(vf64 a, vf64 b) { return a < b ? a : b != b ? a : b; }
INLINE vf64 max_(vf64 a, vf64 b) { return a > b ? a : b != b ? a : b; }
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
INLINE vf64 most(vf64 acc, vf64 x) { return x > acc ? x : acc; }
INLINE vf64 least(vf64 acc, vf64 x) { return x < acc ? x : acc; }
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
  return e.high >= e.low ? e.high : V{} + __builtin_nanf("");
}
template <class V>
INLINE V lowest(Extremes<V> e) {
  return e.high >= e.low ? e.low : V{} + __builtin_nanf("");
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
MINMAX_NAN(vf64) MINMAX_NAN(f32) MINMAX_NAN(f64) INLINE vf32 abs_(vf32 x) {
  return real(bits(x) & 0x7fffffff);
}
INLINE f32 abs_(f32 x) { return __builtin_fabsf(x); }
INLINE f64 abs_(f64 x) { return __builtin_fabs(x); }
INLINE vf64 abs_(vf64 x) { return (vf64)((vi64)x & 0x7fffffffffffffffL); }
#define ABS(V) \
  INLINE V abs_(V x) { return pick(mask(x < 0), -x, x); }
#define ABS1(T) \
  INLINE T abs_(T x) { return x < 0 ? (T)-x : x; }
ABS(vi8)
ABS(vi16) ABS(vi32) ABS(vi64) ABS1(i8) ABS1(i16) ABS1(i32) ABS1(i64)
#define ABSU(T) \
  INLINE T abs_(T x) { return x; }
    ABSU(vu8) ABSU(vu16) ABSU(vu32) ABSU(vu64) ABSU(u8) ABSU(u16) ABSU(u32) ABSU(u64) ABSU(bool)
    // a * b + c rounded once
    INLINE f32 fma_(f32 a, f32 b, f32 c) {
  return __builtin_fmaf(a, b, c);
}
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
DIVREM(i8)
DIVREM(i16) DIVREM(i32) DIVREM(i64) DIVREM(u8) DIVREM(u16) DIVREM(u32) DIVREM(u64)
#define VDIVREM(V)              \
  INLINE V div_(V a, V b) {     \
    V r;                        \
    LANES(r, div_(a[l], b[l])); \
    return r;                   \
  }                             \
  INLINE V rem_(V a, V b) {     \
    V r;                        \
    LANES(r, rem_(a[l], b[l])); \
    return r;                   \
  }
    VDIVREM(vi8) VDIVREM(vi16) VDIVREM(vi32) VDIVREM(vi64) VDIVREM(vu8) VDIVREM(vu16) VDIVREM(vu32) VDIVREM(vu64)
// Shifts by the width or more.
#define SHIFTS(T, W)                                                                       \
  INLINE T shl_(T a, T b) { return (u64)(i64)b >= W ? (T)0 : (T)((u64)(i64)a << (u64)b); } \
  INLINE T shr_(T a, T b) { return (u64)(i64)b >= W ? (T)(a < 0 ? -1 : 0) : (T)(a >> b); }
        SHIFTS(i8, 8) SHIFTS(i16, 16) SHIFTS(i32, 32) SHIFTS(i64, 64) SHIFTS(u8, 8) SHIFTS(u16, 16) SHIFTS(u32, 32)
            SHIFTS(u64, 64)
#define VSHIFTS(V)              \
  INLINE V shl_(V a, V b) {     \
    V r;                        \
    LANES(r, shl_(a[l], b[l])); \
    return r;                   \
  }                             \
  INLINE V shr_(V a, V b) {     \
    V r;                        \
    LANES(r, shr_(a[l], b[l])); \
    return r;                   \
  }
                VSHIFTS(vi8) VSHIFTS(vi16) VSHIFTS(vi32) VSHIFTS(vi64) VSHIFTS(vu8) VSHIFTS(vu16) VSHIFTS(vu32)
                    VSHIFTS(vu64)
// Float to integer: towards zero, saturating, NaN is 0.
#define TOINT(F, T, LO, HI) \
  INLINE T to_##T(F x) { return x != x ? (T)0 : x <= (F)LO ? (T)LO : x >= (F)HI ? (T)HI : (T)x; }
#define TOINTS(F)                                                                                                   \
  TOINT(F, i8, -128, 127)                                                                                           \
  TOINT(F, i16, -32768, 32767) TOINT(F, i32, (-2147483647 - 1), 2147483647)                                         \
      TOINT(F, i64, (-9223372036854775807L - 1), 9223372036854775807L) TOINT(F, u8, 0, 255) TOINT(F, u16, 0, 65535) \
          TOINT(F, u32, 0, 4294967295u) TOINT(F, u64, 0, 18446744073709551615ul)
                        TOINTS(f32) TOINTS(f64) INLINE vi32 to_vi32(vf32 x) {
  const vi32 r = TO(vi32, x);
  return x != x ? vi32{} : x >= 2147483648.0f ? all(0x7fffffff) : x <= -2147483648.0f ? all((i32)0x80000000) : r;
}
#define VTOINT(F, T)         \
  INLINE v##T to_v##T(F x) { \
    v##T r;                  \
    LANES(r, to_##T(x[l]));  \
    return r;                \
  }
#define VTOINTS(F) \
  VTOINT(F, i8) VTOINT(F, i16) VTOINT(F, i64) VTOINT(F, u8) VTOINT(F, u16) VTOINT(F, u32) VTOINT(F, u64)
VTOINTS(vf32)
VTOINTS(vf64)
VTOINT(vf64, i32)
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
VMUL_HIGH(vi32) VMUL_HIGH(vu32) VMUL_HIGH(vi64) VMUL_HIGH(vu64)

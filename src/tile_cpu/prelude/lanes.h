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
#define INTEGERS(DEFINE) \
  DEFINE(i8) DEFINE(i16) DEFINE(i32) DEFINE(i64) DEFINE(u8) DEFINE(u16) DEFINE(u32) DEFINE(u64)
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
// Unrolled: else vectors go through memory, a lane at a time.
#define EACH_LANE _Pragma("GCC unroll 16") for (int l = 0; l < L; ++l)
#define LANES(r, f) EACH_LANE r[l] = f
#if defined(NEON)
// GCC converts these lane by lane.
#define WITH_ZEROS(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5, 2, 6, 3, 7)
typedef u8 Bytes __attribute__((vector_size(16)));
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
#elif L == 16 && !defined(__clang__)
typedef char Chars __attribute__((vector_size(16)));
INLINE vi32 to(vi32, vi8 x) { return __builtin_ia32_pmovsxbd512_mask((Chars)x, vi32{}, (u16)-1); }
INLINE vi32 to(vi32, vu8 x) { return __builtin_ia32_pmovzxbd512_mask((Chars)x, vi32{}, (u16)-1); }
INLINE vi8 to(vi8, vi32 x) { return (vi8)__builtin_ia32_pmovdb512_mask(x, Chars{}, (u16)-1); }
INLINE vu32 to(vu32, vi8 x) { return (vu32)to(vi32{}, x); }
INLINE vu32 to(vu32, vu8 x) { return (vu32)to(vi32{}, x); }
INLINE vu8 to(vu8, vi32 x) { return (vu8)to(vi8{}, x); }
INLINE vi8 to(vi8, vu32 x) { return to(vi8{}, (vi32)x); }
INLINE vu8 to(vu8, vu32 x) { return (vu8)to(vi8{}, (vi32)x); }
#elif L == 8 && !defined(__clang__)
typedef char Chars __attribute__((vector_size(16)));
typedef i64 Pair __attribute__((vector_size(16)));
INLINE vi32 to(vi32, vi8 x) { return __builtin_ia32_pmovsxbd256((Chars)Pair{__builtin_bit_cast(i64, x)}); }
INLINE vi32 to(vi32, vu8 x) { return __builtin_ia32_pmovzxbd256((Chars)Pair{__builtin_bit_cast(i64, x)}); }
INLINE vu32 to(vu32, vi8 x) { return (vu32)to(vi32{}, x); }
INLINE vu32 to(vu32, vu8 x) { return (vu32)to(vi32{}, x); }
#endif
// As __builtin_convertvector, in steps that the machine has: g++ 12 goes lane by lane to what is four times as wide or a
// quarter.
template <class V, class X>
INLINE V to(V, X x) {
  constexpr int kFrom = sizeof x[0], kTo = sizeof(V) / L;
  constexpr bool kOfFloats = (decltype(+x[0]))0.5 != 0, kToFloats = (decltype(+V{}[0]))0.5 != 0;
#if L >= 8
  if constexpr (kFrom < 4 && (kTo == 8 || kToFloats))
    return to(V{}, to(vi32{}, x));
  else if constexpr (kFrom == 8 && kTo < 4 && !kOfFloats)
    return to(V{}, to(vi32{}, x));
  else if constexpr ((kFrom == 1 && kTo == 4) || (kFrom == 4 && kTo == 1 && !kOfFloats))
    return __builtin_convertvector(__builtin_convertvector(x, vi16), V);
#endif
  return __builtin_convertvector(x, V);
}
#define TO(V, x) to(V{}, x)
// 64-bit lanes fill two of the machine's vectors. g++ 12 computes with them a vector at a time, but compares and chooses
// lane by lane, in ten times as many instructions: so these are done with each half.
template <class H>
struct Halves {
  H low, high;
};
#define IN_HALVES(T, V, H)                         \
  typedef T H __attribute__((vector_size(4 * L))); \
  union V##InHalves {                              \
    V all;                                         \
    Halves<H> part;                                \
  };                                               \
  INLINE Halves<H> halves(V x) {                   \
    const V##InHalves in = {x};                    \
    return in.part;                                \
  }                                                \
  INLINE V joined(Halves<H> part) {                \
    V##InHalves out;                               \
    out.part = part;                               \
    return out.all;                                \
  }
IN_HALVES(i64, vi64, hi64)
IN_HALVES(u64, vu64, hu64)
IN_HALVES(f64, vf64, hf64)
#if L == 16
#define EVERY_SECOND 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define LOW_TWICE 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7
#define HIGH_TWICE 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15
#elif L == 8
#define EVERY_SECOND 0, 2, 4, 6, 8, 10, 12, 14
#define LOW_TWICE 0, 0, 1, 1, 2, 2, 3, 3
#define HIGH_TWICE 4, 4, 5, 5, 6, 6, 7, 7
#else
#define EVERY_SECOND 0, 2, 4, 6
#define LOW_TWICE 0, 0, 1, 1
#define HIGH_TWICE 2, 2, 3, 3
#endif
INLINE vi32 mask(vi32 m) { return m; }
INLINE vi32 mask(vi8 m) { return TO(vi32, m); }
INLINE vi32 mask(vi16 m) { return TO(vi32, m); }
INLINE vi32 mask(Halves<hi64> m) { return __builtin_shufflevector((vi32)m.low, (vi32)m.high, EVERY_SECOND); }
#define COMPARE(NAME, OP)                                       \
  template <class V>                                            \
  INLINE vi32 NAME(V a, V b) {                                  \
    if constexpr (sizeof(V) > 4 * L) {                          \
      const auto x = halves(a), y = halves(b);                  \
      const hi64 low = x.low OP y.low, high = x.high OP y.high; \
      return mask(Halves<hi64>{low, high});                     \
    } else {                                                    \
      return mask(a OP b);                                      \
    }                                                           \
  }
COMPARE(lt_, <)
COMPARE(le_, <=)
COMPARE(gt_, >)
COMPARE(ge_, >=)
COMPARE(eq_, ==)
COMPARE(ne_, !=)
template <class V>
INLINE V pick_halves(vi32 m, V a, V b) {
  const auto x = halves(a), y = halves(b);
  const auto low = (hi64)__builtin_shufflevector(m, m, LOW_TWICE);
  const auto high = (hi64)__builtin_shufflevector(m, m, HIGH_TWICE);
  return joined(decltype(x){low ? x.low : y.low, high ? x.high : y.high});
}
INLINE vf32 pick(vi32 m, vf32 a, vf32 b) { return m ? a : b; }
INLINE vi32 pick(vi32 m, vi32 a, vi32 b) { return m ? a : b; }
INLINE vu32 pick(vi32 m, vu32 a, vu32 b) { return m ? a : b; }
INLINE vf64 pick(vi32 m, vf64 a, vf64 b) { return pick_halves(m, a, b); }
INLINE vi64 pick(vi32 m, vi64 a, vi64 b) { return pick_halves(m, a, b); }
INLINE vu64 pick(vi32 m, vu64 a, vu64 b) { return pick_halves(m, a, b); }
INLINE vi16 pick(vi32 m, vi16 a, vi16 b) { return TO(vi16, m) ? a : b; }
INLINE vu16 pick(vi32 m, vu16 a, vu16 b) { return TO(vi16, m) ? a : b; }
INLINE vi8 pick(vi32 m, vi8 a, vi8 b) { return TO(vi8, m) ? a : b; }
INLINE vu8 pick(vi32 m, vu8 a, vu8 b) { return TO(vi8, m) ? a : b; }
#define PICK1(T) \
  INLINE T pick(bool m, T a, T b) { return m ? a : b; }
PICK1(bool)
INTEGERS(PICK1)
PICK1(f32)
PICK1(f64)

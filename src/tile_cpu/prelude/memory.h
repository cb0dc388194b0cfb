// Elements in memory. Per element type: S stored, C as a scalar, V as lanes, R lanes as stored.
#define INLINE_ inline __attribute__((always_inline))
#define PLAIN(NAME, T)                       \
  struct NAME {                              \
    typedef T S;                             \
    typedef T C;                             \
    typedef v##T V;                          \
    typedef v##T R;                          \
    static INLINE_ C up(S x) { return x; }   \
    static INLINE_ S down(C x) { return x; } \
    static INLINE_ V up(R x) { return x; }   \
    static INLINE_ R down(V x) { return x; } \
  };
PLAIN(I8, i8)
PLAIN(I16, i16) PLAIN(I32, i32) PLAIN(I64, i64) PLAIN(U8, u8) PLAIN(U16, u16) PLAIN(U32, u32) PLAIN(U64, u64)
    PLAIN(F32, f32) PLAIN(F64, f64) struct I1 {
  typedef u8 S;
  typedef bool C;
  typedef vi32 V;
  typedef vu8 R;
  static INLINE_ C up(S x) { return x != 0; }
  static INLINE_ S down(C x) { return x; }
  static INLINE_ V up(R x) { return TO(vi32, x) != 0; }
  static INLINE_ R down(V x) { return TO(vu8, x & 1); }
};
#define HALF(NAME, F)                                  \
  struct NAME {                                        \
    typedef u16 S;                                     \
    typedef f32 C;                                     \
    typedef vf32 V;                                    \
    typedef vu16 R;                                    \
    static INLINE_ C up(S x) { return F##_up(x); }     \
    static INLINE_ S down(C x) { return F##_down(x); } \
    static INLINE_ V up(R x) { return F##_up(x); }     \
    static INLINE_ R down(V x) { return F##_down(x); } \
  };
HALF(F16, f16)
HALF(BF16, bf16)
struct M32 : I32 {};  // an i1 in our own arrays

template <class E>
INLINE typename E::C ld1(const void* p) {
  return E::up(*(const typename E::S*)p);
}
template <class E>
INLINE void st1(void* p, typename E::C x) {
  *(typename E::S*)p = E::down(x);
}

// Of a row that is read some programs on, every fourth line: the machine fetches those between by itself.
INLINE void fetch_row(const void* p, i64 bytes) {
#ifdef NEON
  for (i64 at = 0; at < bytes; at += 256) __builtin_prefetch((const char*)p + at, 0, 2);
#endif
}

#if L == 16 && !defined(__clang__)
// Vectors of 16 elements of 4, 2 or 1 bytes, of which those are touched whose bits are set; 0 where none is read.
#define PARTS
#ifdef LARGE  // much code, much of it: called
#define GATHERS CALLED
#else
#define GATHERS INLINE
#endif
INLINE vi32 loaded(const i32* p, u16 m) { return (vi32)__builtin_ia32_loadups512_mask((const f32*)p, vf32{}, m); }
INLINE vi16 loaded(const i16* p, u16 m) { return __builtin_ia32_loaddquhi256_mask(p, vi16{}, m); }
INLINE vi8 loaded(const i8* p, u16 m) {
  return (vi8)__builtin_ia32_loaddquqi128_mask((const char*)p, Chars{}, m);
}
INLINE void stored(i32* p, vi32 x, u16 m) { __builtin_ia32_storeups512_mask((f32*)p, (vf32)x, m); }
INLINE void stored(i16* p, vi16 x, u16 m) { __builtin_ia32_storedquhi256_mask(p, x, m); }
INLINE void stored(i8* p, vi8 x, u16 m) { __builtin_ia32_storedquqi128_mask((char*)p, (Chars)x, m); }
INLINE u16 first(i32 n) { return (u16)((1u << n) - 1); }
// The integer as wide as an element, and lanes of it.
template <int Size>
struct Part;
template <>
struct Part<1> {
  typedef i8 S;
  typedef vi8 V;
};
template <>
struct Part<2> {
  typedef i16 S;
  typedef vi16 V;
};
template <>
struct Part<4> {
  typedef i32 S;
  typedef vi32 V;
};
template <class E>
inline constexpr bool is_part = sizeof(typename E::S) <= 4;
template <class E>
INLINE typename E::R ld_bits(const void* p, u16 m) {
  return (typename E::R)loaded((const typename Part<sizeof(typename E::S)>::S*)p, m);
}
template <class E>
INLINE void st_bits(void* p, typename E::R x, u16 m) {
  using P = Part<sizeof(typename E::S)>;
  stored((typename P::S*)p, (typename P::V)x, m);
}
#endif

// What is seldom done. In a kernel of many accesses it is called: g++ needs far more than twice the time for a body
// that has it twice as often.
#if defined(LARGE) && defined(NEON)
#define SELDOM CALLED
#else
#define SELDOM INLINE
#endif
template <class E>
SELDOM typename E::V ld_first(const void* p, i32 n) {
  typename E::R r{};
  for (int l = 0; l < n; ++l) r[l] = ((const typename E::S*)p)[l];
  return E::up(r);
}
template <class E>
SELDOM typename E::V ld_some(const void* p, vi32 m) {
  typename E::R r{};
  EACH_LANE
    if (m[l]) r[l] = ((const typename E::S*)p)[l];
  return E::up(r);
}
template <class E>
SELDOM typename E::V ld_step_some(const void* p, i64 step, vi32 m) {
  typename E::R r{};
  EACH_LANE
    if (m[l]) r[l] = ((const typename E::S*)p)[l * step];
  return E::up(r);
}
template <class E, class O>
SELDOM typename E::V ld_at_some(const void* p, O at, vi32 m) {
  typename E::R r{};
  EACH_LANE
    if (m[l]) r[l] = ((const typename E::S*)p)[at[l]];
  return E::up(r);
}

// The first n lanes, or all of them.
template <class E, bool Full>
INLINE typename E::V ld(const void* p, i32 n) {
  typename E::R r{};
  if constexpr (Full) {
    __builtin_memcpy(&r, p, sizeof r);
#ifdef PARTS
  } else if constexpr (is_part<E>) {
    r = ld_bits<E>(p, first(n));
#endif
  } else {
    return ld_first<E>(p, n);
  }
  return E::up(r);
}
template <class E, bool Full>
INLINE void st(void* p, typename E::V x, i32 n) {
  const typename E::R r = E::down(x);
  if constexpr (Full) {
    __builtin_memcpy(p, &r, sizeof r);
#ifdef PARTS
  } else if constexpr (is_part<E>) {
    st_bits<E>(p, r, first(n));
#endif
  } else {
    for (int l = 0; l < n; ++l) ((typename E::S*)p)[l] = r[l];
  }
}
// To memory that is not read soon: past the caches, where a whole vector is written.
template <class E, bool Full>
INLINE void st_far(void* p, typename E::V x, i32 n) {
  const typename E::R r = E::down(x);
  if (!Full || sizeof r < 32 || (u64)p % sizeof r != 0) return st<E, Full>(p, x, n);
#if defined(__clang__)
  __builtin_nontemporal_store(r, (typename E::R*)p);
#elif L >= 8
  constexpr int W = sizeof r >= 4 * L ? 4 * L : 32;
  for (u64 i = 0; i + W <= sizeof r; i += W) {
    f32 part __attribute__((vector_size(W)));
    __builtin_memcpy(&part, (const char*)&r + i, W);
#if L == 16
    if constexpr (W == 64) __builtin_ia32_movntps512((f32*)((char*)p + i), part);
#endif
    if constexpr (W == 32) __builtin_ia32_movntps256((f32*)((char*)p + i), part);
  }
#else
  st<E, Full>(p, x, n);
#endif
}
// The same where memory is read, but not in turn with the stores: their loop computes from the caches, or reads rows
// that lie anywhere. Skylake and Cascade Lake then wait for what is on its way past the caches (softmax takes 1.16
// times as long, a gather of rows 1.08 times), later machines do not (Sapphire Rapids: 0.7 and 0.55 times).
template <class E, bool Full>
INLINE void st_burst(void* p, typename E::V x, i32 n) {
#if defined(__AVX512F__) && !defined(__AVX512VBMI__)
  st<E, Full>(p, x, n);
#else
  st_far<E, Full>(p, x, n);
#endif
}
INLINE void stored_far() {  // before another thread is told
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}
template <class E, bool Full>
INLINE typename E::V ld_mask(const void* p, vi32 m, typename E::V other, i32 n) {
  if (!Full) m &= below(n);
  if (every(m)) return ld<E, true>(p, L);
#ifdef PARTS
  if constexpr (is_part<E>) return pick(m, E::up(ld_bits<E>(p, __builtin_ia32_cvtd2mask512(m))), other);
#endif
  return pick(m, ld_some<E>(p, m), other);
}
template <class E, bool Full>
INLINE void st_mask(void* p, typename E::V x, vi32 m, i32 n) {
  if (!Full) m &= below(n);
  if (every(m)) return st<E, true>(p, x, L);
  const typename E::R r = E::down(x);
#ifdef PARTS
  if constexpr (is_part<E>) return st_bits<E>(p, r, __builtin_ia32_cvtd2mask512(m));
#endif
  EACH_LANE
    if (m[l]) ((typename E::S*)p)[l] = r[l];
}
// A lane's number in a vector of other elements.
INLINE vi32 index_like(vi32, vi32 i) { return i; }
INLINE vi32 index_like(vu32, vi32 i) { return i; }
INLINE vi32 index_like(vf32, vi32 i) { return i; }
INLINE vi64 index_like(vi64, vi32 i) { return TO(vi64, i); }
INLINE vi64 index_like(vu64, vi32 i) { return TO(vi64, i); }
INLINE vi64 index_like(vf64, vi32 i) { return TO(vi64, i); }
INLINE vi16 index_like(vi16, vi32 i) { return TO(vi16, i); }
INLINE vi16 index_like(vu16, vi32 i) { return TO(vi16, i); }
INLINE vi8 index_like(vi8, vi32 i) { return TO(vi8, i); }
INLINE vi8 index_like(vu8, vi32 i) { return TO(vi8, i); }
#ifdef PARTS
// Offsets as gathers take them.
INLINE vi32 offsets(vi8 at) { return TO(vi32, at); }
INLINE vi32 offsets(vu8 at) { return TO(vi32, at); }
INLINE vi32 offsets(vi16 at) { return TO(vi32, at); }
INLINE vi32 offsets(vu16 at) { return TO(vi32, at); }
INLINE vi32 offsets(vi32 at) { return at; }
INLINE vi64 offsets(vu32 at) { return TO(vi64, at); }
INLINE vi64 offsets(vi64 at) { return at; }
INLINE vi64 offsets(vu64 at) { return (vi64)at; }
// Lanes of 4 bytes at offsets in elements, where the mask's bits are set; 0 elsewhere.
INLINE vf32 gathered(const void* p, vi32 at, u16 m) { return __builtin_ia32_gathersiv16sf(vf32{}, p, at, (short)m, 4); }
typedef long long Eight __attribute__((vector_size(64)));
typedef f32 hf32 __attribute__((vector_size(32)));
INLINE vf32 gathered(const void* p, vi64 at, u16 m) {
  const auto offsets = halves(at);
  union {
    Halves<hf32> part;
    vf32 all;
  } out;
  out.part = {__builtin_ia32_gatherdiv16sf(hf32{}, p, (Eight)offsets.low, (signed char)m, 4),
              __builtin_ia32_gatherdiv16sf(hf32{}, p, (Eight)offsets.high, (signed char)(m >> 8), 4)};
  return out.all;
}
// Whether every lane lies at or behind the first and at or before the last, which is less than two vectors further on;
// then, how far behind the first they lie.
INLINE bool are_near(vi32 at, vi32& behind) {
  behind = at - at[0];
  const i32 last = behind[L - 1];
  return at[L - 1] >= at[0] && (u32)last < 2 * L && __builtin_ia32_ucmpd512_mask(behind, all(last), 2, -1) == (u16)-1;
}
INLINE bool are_near(vi64 at, vi32& behind) {
  if (!are_near(TO(vi32, at), behind)) return false;
  return every(eq_(at, TO(vi64, behind) + at[0]));
}
// Smaller elements out of the words they lie in, a word at its own alignment: none reaches into another page. What
// stands before the first word's element is `skipped` elements of it.
template <class E, class O>
GATHERS typename E::R gathered_bits(const void* p, O at, u16 m) {
  constexpr int kSize = sizeof(typename E::S), kShift = kSize == 1 ? 2 : 1, kIn = 4 / kSize - 1;
  if constexpr (kSize == 4) {
    return (typename E::R)gathered(p, at, m);
  } else {
    const i32 skipped = (i32)((u64)p & 3) / kSize;
    const O in = (at & kIn) + skipped;
    const vi32 words = (vi32)gathered((const char*)p - skipped * kSize, (at >> kShift) + (in >> kShift), m);
    return TO(typename E::R, (vu32)words >> (TO(vu32, in & kIn) * (8 * kSize)));
  }
}
// All lanes. Skylake and Cascade Lake read them faster one by one (16 halves: 40 cycles against 64, floats at offsets of
// 64 bits: 48 against 95), but for floats at offsets of 32 bits (43 against 47, in far more instructions).
template <class E, class O>
GATHERS typename E::R gathered_all(const void* p, O at) {
#ifndef __AVX512VBMI__
  if constexpr (sizeof(typename E::S) < 4 || sizeof at[0] == 8) {
    typename E::R r;
    EACH_LANE r[l] = ((const typename E::S*)p)[at[l]];
    return r;
  }
#endif
  return gathered_bits<E>(p, at, (u16)-1);
}
// The same; lanes that lie together, as those of an interpolation or of every second element, are a load or two and a
// shuffle. What lies between them is in their memory, too. (Asked together: bilinear interpolation of floats takes 1.1
// times as long as with one vector alone, a convolution of stride 2 0.4 times; asked one after the other both lose.)
template <class E, class O>
INLINE typename E::R gathered_near(const void* p, O at, u16 m) {
  vi32 behind;
  if (m != (u16)-1) return gathered_bits<E>(p, at, m);
  if (!are_near(at, behind)) return gathered_all<E>(p, at);
  const auto* from = (const typename E::S*)p + at[0];
  const u32 reach = (2u << behind[L - 1]) - 1;  // 2 << 31 is 0
  const auto low = ld_bits<E>(from, (u16)reach);
  if (reach <= (u16)-1) return __builtin_shuffle(low, index_like(low, behind));
  return __builtin_shuffle(low, ld_bits<E>(from + L, (u16)(reach >> 16)), index_like(low, behind));
}
// Every second element: two loads and a shuffle.
template <class E>
INLINE typename E::R every_second(const void* p, u16 m) {
  typedef typename E::S S;
  const u32 even = __builtin_ia32_pdep_si(m, 0x55555555);
  const auto low = ld_bits<E>(p, (u16)even), high = ld_bits<E>((const S*)p + L, (u16)(even >> 16));
  return __builtin_shuffle(low, high, index_like(low, iota() * 2));
}
// Every `step` elements, and whether that is done so.
INLINE bool is_stepped(i64 step) {
  return step * 16 <= 0x7fffffff && step * 16 >= -0x7fffffff;
}
template <class E>
INLINE typename E::R stepped(const void* p, i64 step, u16 m) {
  return step == 2 ? every_second<E>(p, m) : gathered_bits<E>(p, iota() * (i32)step, m);
}
#endif
// Every `step` elements.
template <class E, bool Full>
INLINE typename E::V ld_step(const void* p, i64 step, i32 n) {
  typename E::R r{};
#ifdef PARTS
  if constexpr (is_part<E>)
    if (is_stepped(step)) return E::up(stepped<E>(p, step, Full ? (u16)-1 : first(n)));
#endif
  if (Full)
    EACH_LANE r[l] = ((const typename E::S*)p)[l * step];
  else
    for (int l = 0; l < n; ++l) r[l] = ((const typename E::S*)p)[l * step];
  return E::up(r);
}
template <class E, bool Full>
INLINE void st_step(void* p, i64 step, typename E::V x, i32 n) {
  const typename E::R r = E::down(x);
  if (Full)
    EACH_LANE ((typename E::S*)p)[l * step] = r[l];
  else
    for (int l = 0; l < n; ++l) ((typename E::S*)p)[l * step] = r[l];
}
template <class E, bool Full>
INLINE typename E::V ld_step_mask(const void* p, i64 step, vi32 m, typename E::V other, i32 n) {
  if (!Full) m &= below(n);
#ifdef PARTS
  if constexpr (is_part<E>)
    if (is_stepped(step)) return pick(m, E::up(stepped<E>(p, step, __builtin_ia32_cvtd2mask512(m))), other);
#endif
  if (every(m)) return ld_step<E, true>(p, step, L);
  return pick(m, ld_step_some<E>(p, step, m), other);
}
// At offsets in elements.
template <class E, bool Full, class O>
INLINE typename E::V ld_at(const void* p, O at, i32 n) {
  typename E::R r{};
#ifdef PARTS
  if constexpr (is_part<E>)
    return E::up(Full ? gathered_near<E>(p, offsets(at), (u16)-1) : gathered_bits<E>(p, offsets(at), first(n)));
#endif
  if (Full)
    EACH_LANE r[l] = ((const typename E::S*)p)[at[l]];
  else
    for (int l = 0; l < n; ++l) r[l] = ((const typename E::S*)p)[at[l]];
  return E::up(r);
}
template <class E, bool Full, class O>
INLINE typename E::V ld_at_mask(const void* p, O at, vi32 m, typename E::V other, i32 n) {
  if (!Full) m &= below(n);
#ifdef PARTS
  if constexpr (is_part<E>)
    return pick(m, E::up(gathered_near<E>(p, offsets(at), __builtin_ia32_cvtd2mask512(m))), other);
#endif
  if (every(m)) return ld_at<E, true>(p, at, L);
  return pick(m, ld_at_some<E>(p, at, m), other);
}
template <class E, bool Full, class O>
INLINE void st_at(void* p, O at, typename E::V x, i32 n) {
  const typename E::R r = E::down(x);
  if (Full)
    EACH_LANE ((typename E::S*)p)[at[l]] = r[l];
  else
    for (int l = 0; l < n; ++l) ((typename E::S*)p)[at[l]] = r[l];
}
template <class E, bool Full, class O>
INLINE void st_at_mask(void* p, O at, typename E::V x, vi32 m, i32 n) {
  if (!Full) m &= below(n);
  const typename E::R r = E::down(x);
  EACH_LANE
    if (m[l]) ((typename E::S*)p)[at[l]] = r[l];
}
// Lanes to one value, in halves.
#ifdef __clang__
template <class V>
INLINE V swapped(V v, int w) {
  V s;
  for (int l = 0; l < L; ++l) s[l] = v[l ^ w];
  return s;
}
#else
template <class V>
INLINE V swapped(V v, int w) {
  return __builtin_shuffle(v, index_like(v, iota() ^ w));
}
#endif
template <class V, class F>
INLINE auto across(V v, F f) {
  using T = decltype(+v[0]);
  if constexpr (sizeof(V) > 4 * L && (T)0.5 == 0) {  // wide integers: the compiler takes such vectors apart
    T all = v[0];
    for (int l = 1; l < L; ++l) all = f(all, (T)v[l]);
    return all;
  }
  for (int w = L / 2; w > 0; w /= 2) v = f(v, swapped(v, w));
  return v[0];
}

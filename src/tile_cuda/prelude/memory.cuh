// An element as stored (S) and in a register (C).
#define ELEMENT(NAME, S_, C_, UP, DOWN)          \
  struct NAME {                                  \
    typedef S_ S;                                \
    typedef C_ C;                                \
    INLINE C up(S x) { return UP; }              \
    INLINE S down(C x) { return DOWN; }          \
  };
ELEMENT(I1, u8, bool, x != 0, (u8)x)
ELEMENT(I8, i8, i8, x, x)
ELEMENT(I16, i16, i16, x, x)
ELEMENT(I32, i32, i32, x, x)
ELEMENT(I64, i64, i64, x, x)
ELEMENT(U8, u8, u8, x, x)
ELEMENT(U16, u16, u16, x, x)
ELEMENT(U32, u32, u32, x, x)
ELEMENT(U64, u64, u64, x, x)
ELEMENT(F16, u16, f32, f16_up(x), f16_down(x))
ELEMENT(BF16, u16, f32, bf16_up(x), bf16_down(x))
ELEMENT(F32, f32, f32, x, x)
ELEMENT(F64, f64, f64, x, x)
template <int BYTES>
struct Word;
template <>
struct Word<2> {
  typedef u16 T;
};
template <>
struct Word<4> {
  typedef u32 T;
};
template <>
struct Word<8> {
  typedef uint2 T;
};
template <>
struct Word<16> {
  typedef uint4 T;
};
template <class E, bool READONLY>
INLINE typename E::C load_one(const typename E::S* p) {
  return E::up(READONLY ? __ldg(p) : *p);
}
template <class E>
INLINE void store_one(typename E::S* p, typename E::C x) {
  *p = E::down(x);
}
// N elements of one aligned access.
template <class E, int N, bool READONLY>
INLINE void load_many(typename E::C (&to)[N], const typename E::S* p) {
  typedef typename Word<N * sizeof(typename E::S)>::T W;
  union {
    W word;
    typename E::S x[N];
  } u;
  u.word = READONLY ? __ldg((const W*)p) : *(const W*)p;
  EACH(j, N) to[j] = E::up(u.x[j]);
}
template <class E, int N>
INLINE void store_many(typename E::S* p, const typename E::C (&from)[N]) {
  if (N == 1) {
    *p = E::down(from[0]);
    return;
  }
  typedef typename Word<N == 1 ? 16 : N * sizeof(typename E::S)>::T W;
  union {
    W word;
    typename E::S x[N];
  } u;
  EACH(j, N) u.x[j] = E::down(from[j]);
  *(W*)p = u.word;
}
// From memory to shared memory without waiting: BYTES of 4, 8 or 16, or as many zeros. What was sent is committed as a
// group, and the groups but the last N are awaited.
template <int BYTES>
INLINE void copy_ahead(u32 to, const void* from, bool wanted) {
  const int n = wanted ? BYTES : 0;
  if (BYTES == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(n) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(BYTES), "r"(n) : "memory");
}
INLINE void copies_sent() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
INLINE void copies_arrived() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

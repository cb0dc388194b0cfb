// Atomics: the hardware's where it has one, else read, change, try to write.
#define ATOMIC_POLICY(NAME, NEXT)               \
  struct Atomic_##NAME {                 \
    template <class C>                   \
    INLINE C next(C old, C x, C y) {     \
      return NEXT;                       \
    }                                    \
  };
ATOMIC_POLICY(add, (C)(old + x))
ATOMIC_POLICY(min, min_(old, x))
ATOMIC_POLICY(max, max_(old, x))
ATOMIC_POLICY(bit_and, (C)((u64)old & (u64)x))
ATOMIC_POLICY(bit_or, (C)((u64)old | (u64)x))
ATOMIC_POLICY(bit_xor, (C)((u64)old ^ (u64)x))
ATOMIC_POLICY(exchange, x)
ATOMIC_POLICY(cas, old == x ? y : old)
template <int BYTES>
struct Cell;
template <>
struct Cell<2> {
  typedef u16 T;
};
template <>
struct Cell<4> {
  typedef u32 T;
};
template <>
struct Cell<8> {
  typedef u64 T;
};
template <class E, class P>
struct AtomicOne {
  INLINE typename E::C run(typename E::S* p, typename E::C x, typename E::C y) {
    typedef typename E::S S;
    typedef typename Cell<sizeof(S)>::T W;
    W old = *(volatile W*)p, seen;
    do {
      seen = old;
      const S next = E::down(P::next(E::up(as_bits<S>(seen)), x, y));
      old = atomicCAS((W*)p, seen, as_bits<W>(next));
    } while (old != seen);
    return E::up(as_bits<S>(old));
  }
};
#define HARDWARE(E, P, CALL)                                                 \
  template <>                                                                \
  struct AtomicOne<E, Atomic_##P> {                                          \
    INLINE E::C run(E::S* p, E::C x, E::C) { return CALL; }                  \
  };
HARDWARE(F32, add, atomicAdd(p, x))
HARDWARE(F64, add, atomicAdd(p, x))
HARDWARE(I32, add, atomicAdd(p, x))
HARDWARE(U32, add, atomicAdd(p, x))
HARDWARE(I64, add, (i64)atomicAdd((u64*)p, (u64)x))
HARDWARE(U64, add, atomicAdd(p, x))
HARDWARE(I32, min, atomicMin(p, x))
HARDWARE(I32, max, atomicMax(p, x))
HARDWARE(U32, min, atomicMin(p, x))
HARDWARE(U32, max, atomicMax(p, x))
template <class E, class P>
INLINE typename E::C atomic_one(typename E::S* p, typename E::C x, typename E::C y) {
  return AtomicOne<E, P>::run(p, x, y);
}

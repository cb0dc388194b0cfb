// Atomics: read, change, try to write. `f` makes the new element from the old one and the operands. A thread that runs
// all programs is alone.
template <class E, class F>
INLINE typename E::C atomic_change(typename E::S* p, bool alone, F f) {
  if (alone) {
    const typename E::S was = *p;
    *p = E::down(f(E::up(was)));
    return E::up(was);
  }
  typename E::S old = __atomic_load_n(p, __ATOMIC_RELAXED), next;
  do next = E::down(f(E::up(old)));
  while (!__atomic_compare_exchange_n(p, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  return E::up(old);
}
#define BITS_OF(NAME, S_, U)                                        \
  struct NAME##Bits {                                               \
    typedef U S;                                                    \
    typedef S_ C;                                                   \
    static INLINE_ C up(S x) { return __builtin_bit_cast(C, x); }   \
    static INLINE_ S down(C x) { return __builtin_bit_cast(S, x); } \
  };
BITS_OF(F32, f32, u32)
BITS_OF(F64, f64, u64)
template <class E>
struct AtomicAs {
  typedef E T;
};
template <>
struct AtomicAs<F32> {
  typedef F32Bits T;
};
template <>
struct AtomicAs<F64> {
  typedef F64Bits T;
};
#ifdef HOOKED
#define POLICY(NAME, NEXT)                                          \
  struct Atomic_##NAME {                                            \
    const Hooks* hooks;                                             \
    i64 site, program;                                              \
    static constexpr bool alone = true;                             \
    bool ask(void* p) const {                                       \
      const u64 any = 0;                                            \
      return hooks->access(hooks->context, site, p, program, &any); \
    }                                                               \
    template <class C>                                              \
    static C next(C old, C x, C y) {                                \
      return NEXT;                                                  \
    }                                                               \
  };
#else
#define POLICY(NAME, NEXT)                 \
  struct Atomic_##NAME {                   \
    bool alone;                            \
    bool ask(void*) const { return true; } \
    template <class C>                     \
    static C next(C old, C x, C y) {       \
      return NEXT;                         \
    }                                      \
  };
#endif
POLICY(add, (C)(old + x))
POLICY(min, min_(old, x))
POLICY(max, max_(old, x))
POLICY(bit_and, (C)(old& x))
POLICY(bit_or, (C)(old | x))
POLICY(bit_xor, (C)(old ^ x))
POLICY(exchange, x)
POLICY(cas, old == x ? y : old)
template <class E, class P>
INLINE typename E::C atomic_one(P policy, void* p, typename E::C x, typename E::C y) {
  typedef typename AtomicAs<E>::T A;
  if (!policy.ask(p)) return typename E::C{};
  return atomic_change<A>((typename A::S*)p, policy.alone, [&](typename E::C old) { return P::next(old, x, y); });
}
template <class E, bool Full, class P, class O>
INLINE typename E::V atomic_at(P policy, void* p, O at, typename E::V x, typename E::V y, vi32 m, i32 n) {
  typename E::V r{};
  for (int l = 0; l < n; ++l)
    if (m[l])
      r[l] = atomic_one<E>(policy, (char*)p + (i64)at[l] * (i64)sizeof(typename E::S), (typename E::C)x[l],
                           (typename E::C)y[l]);
  return r;
}

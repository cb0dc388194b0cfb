// The checked build asks the host before every element.
struct Hooks {
  void* context;
  int (*access)(void* context, i64 site, void* address, i64 program, const void* value);
  void (*failed)(void* context, i64 site, i64 program);
};
template <class E>
INLINE typename E::C ck_ld1(const Hooks* hooks, i64 site, i64 program, const void* p) {
  return hooks->access(hooks->context, site, (void*)p, program, nullptr) ? ld1<E>(p) : typename E::C{};
}
template <class E>
INLINE void ck_st1(const Hooks* hooks, i64 site, i64 program, void* p, typename E::C x) {
  const typename E::S s = E::down(x);
  if (hooks->access(hooks->context, site, p, program, &s)) *(typename E::S*)p = s;
}
template <class E, bool Full, class O>
INLINE typename E::V ck_ld(const Hooks* hooks, i64 site, i64 program, const void* p, O at, vi32 m, typename E::V other,
                           i32 n) {
  typename E::R r{};
  for (int l = 0; l < n; ++l) {
    const typename E::S* q = (const typename E::S*)((const char*)p + (i64)at[l] * (i64)sizeof(typename E::S));
    if (m[l] && hooks->access(hooks->context, site, (void*)q, program, nullptr)) r[l] = *q;
  }
  return pick(m, E::up(r), other);
}
template <class E, bool Full, class O>
INLINE void ck_st(const Hooks* hooks, i64 site, i64 program, void* p, O at, typename E::V x, vi32 m, i32 n) {
  const typename E::R r = E::down(x);
  for (int l = 0; l < n; ++l) {
    typename E::S* q = (typename E::S*)((char*)p + (i64)at[l] * (i64)sizeof(typename E::S));
    const typename E::S s = r[l];
    if (m[l] && hooks->access(hooks->context, site, q, program, &s)) *q = s;
  }
}
template <bool Full>
INLINE void ck_assert(const Hooks* hooks, i64 site, i64 program, vi32 m, i32 n) {
  for (int l = 0; l < n; ++l)
    if (!m[l]) return hooks->failed(hooks->context, site, program);
}

// The checked build asks the host before every element, but for what is plainly right.
struct Hooks {
  struct Window {
    const char *begin, *end;
    i64 shift;
    u8 *stored, *written;
    u32 *writer, *reader;
  };
  const Window* windows;
  void* context;
  int (*access)(void* context, i64 site, void* address, i64 program, const void* value);
  void (*failed)(void* context, i64 site, i64 program);
};
template <class S>
INLINE bool ck_may_load(const Hooks* hooks, i64 site, i64 program, const S* p) {
  const Hooks::Window& w = hooks->windows[site];
  return ((const char*)p >= w.begin && (const char*)(p + 1) <= w.end) ||
         hooks->access(hooks->context, site, (void*)p, program, nullptr);
}
template <class S>
INLINE bool ck_may_store(const Hooks* hooks, i64 site, i64 program, S* p, const S* value) {
  const Hooks::Window& w = hooks->windows[site];
  if ((const char*)p >= w.begin && (const char*)(p + 1) <= w.end) {
    const i64 offset = (const char*)p - w.begin, at = offset >> w.shift;
    const u32 me = (u32)program + 1;
    if (at << w.shift == offset && (w.writer[at] == 0 || w.writer[at] == me) && (w.reader[at] == 0 || w.reader[at] == me)) {
      w.writer[at] = me;
      *w.stored = 1;
      if (w.written != nullptr) w.written[at] = 1;
      return true;
    }
  }
  return hooks->access(hooks->context, site, p, program, value);
}
template <class E>
INLINE typename E::C ck_ld1(const Hooks* hooks, i64 site, i64 program, const void* p) {
  return ck_may_load(hooks, site, program, (const typename E::S*)p) ? ld1<E>(p) : typename E::C{};
}
template <class E>
INLINE void ck_st1(const Hooks* hooks, i64 site, i64 program, void* p, typename E::C x) {
  const typename E::S s = E::down(x);
  if (ck_may_store(hooks, site, program, (typename E::S*)p, &s)) *(typename E::S*)p = s;
}
template <class E, bool Full, class O>
INLINE typename E::V ck_ld(const Hooks* hooks, i64 site, i64 program, const void* p, O at, vi32 m, typename E::V other,
                           i32 n) {
  typename E::R r{};
  for (int l = 0; l < n; ++l) {
    const typename E::S* q = (const typename E::S*)((const char*)p + (i64)at[l] * (i64)sizeof(typename E::S));
    if (m[l] && ck_may_load(hooks, site, program, q)) r[l] = *q;
  }
  return pick(m, E::up(r), other);
}
template <class E, bool Full, class O>
INLINE void ck_st(const Hooks* hooks, i64 site, i64 program, void* p, O at, typename E::V x, vi32 m, i32 n) {
  const typename E::R r = E::down(x);
  for (int l = 0; l < n; ++l) {
    typename E::S* q = (typename E::S*)((char*)p + (i64)at[l] * (i64)sizeof(typename E::S));
    const typename E::S s = r[l];
    if (m[l] && ck_may_store(hooks, site, program, q, &s)) *q = s;
  }
}
template <bool Full>
INLINE void ck_assert(const Hooks* hooks, i64 site, i64 program, vi32 m, i32 n) {
  for (int l = 0; l < n; ++l)
    if (!m[l]) return hooks->failed(hooks->context, site, program);
}

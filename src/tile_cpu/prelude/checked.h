// The checked build asks the host before every element, but for what is plainly right.
#ifdef MANY_SITES  // compiled once, not once an access
#define ACCESS CALLED
#else
#define ACCESS INLINE
#endif
struct Hooks {
  struct Window {
    const char *begin, *end;
    i64 shift;
    u8 *touched, *written;
    u32 *writer, *reader;
  };
  const Window* windows;
  void* context;
  int (*access)(void* context, i64 site, void* address, i64 program, const void* value);
  void (*failed)(void* context, i64 site, i64 program);
  i64 turns;
};
// An element in the window that only this program has touched so far, if any; its mark says so from now on.
template <class S>
INLINE bool ck_claim(const Hooks::Window& w, u32* marks, i64 program, const S* p) {
  const i64 offset = (const char*)p - w.begin, at = offset >> w.shift;
  const u32 me = (u32)program + 1;
  if (at << w.shift != offset || (w.writer[at] != 0 && w.writer[at] != me) ||
      (w.reader != nullptr && w.reader[at] != 0 && w.reader[at] != me))
    return false;
  marks[at] = me;
  return true;
}
template <class S>
INLINE void ck_stored(const Hooks::Window& w, const S* p) {
  const i64 at = ((const char*)p - w.begin) >> w.shift;
  w.touched[at >> 10] = 1;
  if (w.written != nullptr) w.written[at] = 0xff;
}
// `w`: a copy of the site's window, which no store can be thought to change.
template <class S>
INLINE bool ck_may_load(const Hooks* hooks, const Hooks::Window& w, i64 site, i64 program, const S* p) {
  if ((const char*)p >= w.begin && (const char*)(p + 1) <= w.end)
    if (w.writer == nullptr || ck_claim(w, w.reader, program, p)) return true;
  return hooks->access(hooks->context, site, (void*)p, program, nullptr);
}
template <class S>
INLINE bool ck_may_store(const Hooks* hooks, const Hooks::Window& w, i64 site, i64 program, S* p, const S* value) {
  if ((const char*)p >= w.begin && (const char*)(p + 1) <= w.end && ck_claim(w, w.writer, program, p)) {
    ck_stored(w, p);
    return true;
  }
  return hooks->access(hooks->context, site, p, program, value);
}
template <class E>
ACCESS typename E::C ck_ld1(const Hooks* hooks, i64 site, i64 program, const void* p) {
  const Hooks::Window w = hooks->windows[site];
  return ck_may_load(hooks, w, site, program, (const typename E::S*)p) ? ld1<E>(p) : typename E::C{};
}
template <class E>
ACCESS void ck_st1(const Hooks* hooks, i64 site, i64 program, void* p, typename E::C x) {
  const Hooks::Window w = hooks->windows[site];
  const typename E::S s = E::down(x);
  if (ck_may_store(hooks, w, site, program, (typename E::S*)p, &s)) *(typename E::S*)p = s;
}
// Element by element.
template <class E, class O>
CALLED typename E::V ck_ld(const Hooks* hooks, i64 site, i64 program, const void* p, O at, vi32 m, typename E::V other,
                           i32 n) {
  const Hooks::Window w = hooks->windows[site];
  typename E::R r{};
  for (int l = 0; l < n; ++l) {
    const typename E::S* q = (const typename E::S*)((const char*)p + (i64)at[l] * (i64)sizeof(typename E::S));
    if (m[l] && ck_may_load(hooks, w, site, program, q)) r[l] = *q;
  }
  return pick(m, E::up(r), other);
}
template <class E, class O>
CALLED void ck_st(const Hooks* hooks, i64 site, i64 program, void* p, O at, typename E::V x, vi32 m, i32 n) {
  const Hooks::Window w = hooks->windows[site];
  const typename E::R r = E::down(x);
  for (int l = 0; l < n; ++l) {
    typename E::S* q = (typename E::S*)((char*)p + (i64)at[l] * (i64)sizeof(typename E::S));
    const typename E::S s = r[l];
    if (m[l] && ck_may_store(hooks, w, site, program, q, &s)) *q = s;
  }
}
// Elements `step` apart from p on. Where all lie in the window, they are looked at together.
template <class S>
INLINE bool ck_inside(const Hooks::Window& w, const S* p, i64 step, i32 n) {
  const S *last = p + step * (n - 1), *low = step < 0 ? last : p, *high = step < 0 ? p : last;
  return (const char*)low >= w.begin && (const char*)(high + 1) <= w.end;
}
// As ck_claim, for L elements.
INLINE bool ck_free(const u32* marks, vu32 me) {
  vu32 v;
  __builtin_memcpy(&v, marks, sizeof v);
  return every((v == 0) | (v == me));
}
template <class S>
INLINE bool ck_claim_row(const Hooks::Window& w, u32* marks, i64 program, const S* p) {
  const i64 offset = (const char*)p - w.begin, at = offset >> w.shift;
  const vu32 me = all((u32)program + 1);
  if (at << w.shift != offset || !ck_free(w.writer + at, me) || (w.reader != nullptr && !ck_free(w.reader + at, me)))
    return false;
  __builtin_memcpy(marks + at, &me, sizeof me);
  return true;
}
template <class E, bool Full>
ACCESS typename E::V ck_ld_step(const Hooks* hooks, i64 site, i64 program, const void* p, i64 step, vi32 m,
                                typename E::V other, i32 n) {
  const Hooks::Window& w = hooks->windows[site];
  const typename E::S* first = (const typename E::S*)p;
  const bool inside = ck_inside(w, first, step, Full ? L : n);
  if (inside && w.writer == nullptr)
    return step == 1 ? ld_mask<E, Full>(p, m, other, n) : ld_step_mask<E, Full>(p, step, m, other, n);
  if (inside && Full && step == 1 && every(m) && ck_claim_row(w, w.reader, program, first)) return ld<E, true>(p, L);
  return ck_ld<E>(hooks, site, program, p, TO(vi64, iota()) * step, m, other, n);
}
template <class E, bool Full>
ACCESS void ck_st_step(const Hooks* hooks, i64 site, i64 program, void* p, i64 step, typename E::V x, vi32 m, i32 n) {
  const Hooks::Window w = hooks->windows[site];
  typename E::S* first = (typename E::S*)p;
  if (Full && step == 1 && every(m) && ck_inside(w, first, step, L) && ck_claim_row(w, w.writer, program, first)) {
    const i64 at = ((const char*)p - w.begin) >> w.shift;
    w.touched[at >> 10] = w.touched[(at + L - 1) >> 10] = 1;
    if (w.written != nullptr) __builtin_memset(w.written + at, 0xff, L);
    return st<E, true>(p, x, L);
  }
  ck_st<E>(hooks, site, program, p, TO(vi64, iota()) * step, x, m, n);
}
// Whether a matrix may be read.
template <class S>
INLINE bool ck_matrix(const Hooks* hooks, i64 site, i64 program, const S* p, i64 row, i64 rows, i64 column,
                      i64 columns) {
  const Hooks::Window w = hooks->windows[site];
  bool may = true;
  for (i64 i = 0; i < rows; ++i)
    for (i64 k = 0; k < columns; ++k) may &= ck_may_load(hooks, w, site, program, p + i * row + k * column) != 0;
  return may;
}
template <bool Full>
INLINE void ck_assert(const Hooks* hooks, i64 site, i64 program, vi32 m, i32 n) {
  for (int l = 0; l < n; ++l)
    if (!m[l]) return hooks->failed(hooks->context, site, program);
}

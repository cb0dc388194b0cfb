// c[M, N] += a[M, k] b[k, N], where only the first m rows and n columns are there, the others are 0; D terms at a time.
// Neighbours in a row and in a column of a are `ac` and `ar` elements apart, those of b `bc` and `br`, one of which is 1.
#define EACH(x, X) _Pragma("GCC unroll 8") for (int x = 0; x < X; ++x)
#ifdef NEON
// In the order that is written: g++ moves what is loaded up until sums have to leave their registers.
#define DOT static __attribute__((noinline, optimize("no-schedule-insns")))
template <int l>
INLINE void add_product(vf32& s, vf32 y, vf32 z) {  // s += y z[l]
  asm("fmla %0.4s, %1.4s, %2.s[%3]" : "+w"(s) : "w"(y), "w"(z), "i"(l));
}
#else
#define DOT INLINE
#endif
template <int R, int W>
DOT void dot_block(const f32* a, i64 ar, i64 ac, const f32* b, i64 br, f32* c, i64 cr, i64 k, bool fresh) {
  vf32 s[R][W], y[W];
  if (fresh) {
    EACH(r, R) EACH(w, W) s[r][w] = all(0.0f);
  } else {
    EACH(r, R) EACH(w, W) s[r][w] = ld<F32, true>(c + r * cr + w * L, L);
  }
  i64 x = 0;
#ifdef NEON
  if (ac == 1)
    for (; x + L <= k; x += L) {
      vf32 z[R];
      EACH(r, R) z[r] = ld<F32, true>(a + r * ar + x, L);
      if (x % 16 == 0) EACH(r, R) __builtin_prefetch(a + (R + r) * ar + x);  // the next rows
#define TERM(l)                                                 \
  EACH(w, W) y[w] = ld<F32, true>(b + (x + l) * br + w * L, L); \
  EACH(r, R) EACH(w, W) add_product<l>(s[r][w], y[w], z[r]);
      TERM(0) TERM(1) TERM(2) TERM(3)
#undef TERM
    }
#endif
  _Pragma("GCC unroll 4") for (; x < k; ++x) {
    EACH(w, W) y[w] = ld<F32, true>(b + x * br + w * L, L);
    EACH(r, R) {
      const vf32 z = all(a[r * ar + x * ac]);
      EACH(w, W) s[r][w] = fma_(z, y[w], s[r][w]);
    }
  }
  EACH(r, R) EACH(w, W) st<F32, true>(c + r * cr + w * L, s[r][w], L);
}
// Where a product will be stored, in bytes: another thread may have that memory in its cache. Null: it is not known.
struct Goal {
  const char* at = nullptr;
  i64 row = 0, column = 0;
};
template <int R, int C>
INLINE void ask_for(Goal g) {
  if (g.at) EACH(r, R) for (i64 j = 0; j < C * g.column; j += 64) __builtin_prefetch(g.at + r * g.row + j, 1);
}
#undef EACH
// All rows, R at a time, then fewer.
template <int R, int W>
INLINE void dot_rows(const f32* a, i64 ar, i64 ac, const f32* b, i64 br, f32* c, i64 cr, i64 m, i64 k, bool fresh, Goal g) {
  const i64 whole = m / R * R;
  for (i64 i = 0; i < whole; i += R, g.at += g.at ? R * g.row : 0) {
    ask_for<R, W * L>(g);
    dot_block<R, W>(a + i * ar, ar, ac, b, br, c + i * cr, cr, k, fresh);
  }
  if constexpr (R > 1)
    if (whole < m) dot_rows<R / 2, W>(a + whole * ar, ar, ac, b, br, c + whole * cr, cr, m - whole, k, fresh, g);
}
// to[k][C] is b[k][n], filled up with 0.
template <int C>
INLINE void dot_panel(const f32* b, i64 br, i64 bc, i64 n, i64 k, f32* to) {
  if (bc == 1) {
    for (i64 x = 0; x < k; ++x)
      for (int j = 0; j < C; j += L) {
        __builtin_prefetch(b + (x + 32) * br + j);
        st<F32, true>(to + x * C + j, n >= j + L ? ld<F32, true>(b + x * br + j, L) : n > j ? ld<F32, false>(b + x * br + j, (i32)(n - j)) : all(0.0f), L);
      }
    return;
  }
  for (int j = 0; j < C; j += L)
    for (i64 x = 0; x < k; x += L) {
      if (j + L > n || x + L > k) {
        for (i64 y = x; y < k && y < x + L; ++y)
          for (int l = j; l < j + L; ++l) to[y * C + l] = l < n ? b[y * br + l * bc] : 0.0f;
        continue;
      }
      vf32 v[L];
      _Pragma("GCC unroll 16") for (int l = 0; l < L; ++l) v[l] = ld<F32, true>(b + (j + l) * bc + x, L);
      turn_block(v);
      _Pragma("GCC unroll 16") for (int l = 0; l < L; ++l) st<F32, true>(to + (x + l) * C + j, v[l], L);
    }
}
// A matrix b[k, n], copied to panels: programs that follow one another often multiply with the same. At first of none.
struct Panels {
  f32* to;
  const f32* b;
  i64 n, k;
};
INLINE bool holds(Panels& p, const f32* b, i64 n, i64 k) {  // and does from now on
  const bool same = p.b == b && p.n == n && p.k == k;
  p.b = b, p.n = n, p.k = k;
  return same;
}
// Zeros in c[M, N], but for the first m rows' first n columns.
template <int M, int N, class T>
INLINE void clear_around(T* c, i64 m, i64 n) {
  for (i64 i = 0; i < M; ++i)
    for (i64 j = i < m ? n : 0; j < N; ++j) c[i * N + j] = 0;
}
// c[M, N] += a[m, k] b[k, n], D terms at a time. Fresh: c was not written yet, and is 0.
template <int M, int N, int D, bool Fresh>
INLINE void dot(const f32* a, i64 ar, i64 ac, const f32* b, i64 br, i64 bc, f32* c, i64 m, i64 n, i64 k,
                Panels* kept = nullptr, Goal goal = {}) {
  constexpr int W = L == 4 && N % (4 * L) == 0 ? 4 : N % (2 * L) == 0 ? 2 : 1, C = W * L, R = L == 16 ? 8 : 4;
  if constexpr (N % L == 0) {
    alignas(64) f32 one[D * C];
    f32* panel = kept ? kept->to : one;
    const bool copied = kept && holds(*kept, b, n, k);
    // what cannot be read as lanes is copied first, and so is what many rows would read again from two lines of the
    // cache at once, or from too far apart to stay in it
    const bool even = bc == 1 && br % L == 0 && (u64)b % (4 * L) == 0;
    i64 deep = D;  // where lanes are few, a panel and the sums stay in the first cache
    while (L < 16 && even && deep > 64 && deep * br > 8192) deep /= 2;
    const bool near = even && (L == 16 ? br <= (kept ? 128 : 512) : deep * br <= 8192);  // a kept copy pays sooner
    if (L < 16 && !near) deep = D;
    if constexpr (Fresh) clear_around<M, N>(c, k > 0 ? m : 0, (n + C - 1) / C * C);
    for (i64 x = 0; x < k; x += deep)
      for (i64 j = 0; j < n; j += C) {
        const f32* at = b + x * br + j * bc;
        const i64 depth = k - x < deep ? k - x : deep;
        const bool packs = bc != 1 || j + C > n || ((kept || m > R) && !near);
        if (packs && !copied) dot_panel<C>(at, br, bc, n - j, depth, panel);
        dot_rows<R, W>(a + x * ac, ar, ac, packs ? panel : at, packs ? C : br, c + j, N, m, depth, Fresh && x == 0,
                       goal.at && x + deep >= k ? Goal{goal.at + j * goal.column, goal.row, goal.column} : Goal{});
        if (kept) panel += depth * C;
      }
  } else {
    if constexpr (Fresh) clear_around<M, N>(c, 0, 0);
    for (i64 i = 0; i < m; ++i)
      for (i64 x = 0; x < k; ++x)
        for (i64 j = 0; j < n; ++j)
          c[i * N + j] = __builtin_fmaf(a[i * ar + x * ac], b[x * br + j * bc], c[i * N + j]);
  }
}
template <int M, int N, int D, bool Fresh, class A, class T>
INLINE void dot(const A* a, i64 ar, i64 ac, const A* b, i64 br, i64 bc, T* c, i64 m, i64 n, i64 k, Panels* = nullptr, Goal = {}) {
  if constexpr (Fresh) clear_around<M, N>(c, 0, 0);
  for (i64 i = 0; i < m; ++i)
    for (i64 x = 0; x < k; ++x)
      for (i64 j = 0; j < n; ++j) c[i * N + j] += (T)a[i * ar + x * ac] * (T)b[x * br + j * bc];
}

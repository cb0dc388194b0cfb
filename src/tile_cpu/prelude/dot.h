// c[M, N] += a[M, K] b[K, N]: blocks of rows and lanes in registers. Rows of a and b start every `as`, `bs` elements.
template <int M, int N, int K>
INLINE void dot(const f32* a, i64 as, const f32* b, i64 bs, f32* c) {
  constexpr int W = N % (2 * L) == 0 ? 2 : 1;
  constexpr int R = L == 16 && M % 8 == 0 ? 8 : M % 4 == 0 ? 4 : M % 2 == 0 ? 2 : 1;
#define EACH(x, X) _Pragma("GCC unroll 8") for (int x = 0; x < X; ++x)
  if constexpr (N % L == 0) {
    for (int i = 0; i < M; i += R)
      for (int j = 0; j < N; j += W * L) {
        vf32 s[R][W];
        EACH(r, R) EACH(w, W) s[r][w] = ld<F32, true>(c + (i + r) * N + j + w * L, L);
        _Pragma("GCC unroll 4") for (int k = 0; k < K; ++k) {
          vf32 x[W];
          EACH(w, W) x[w] = ld<F32, true>(b + k * bs + j + w * L, L);
          EACH(r, R) {
            const vf32 y = all(a[(i + r) * as + k]);
            EACH(w, W) s[r][w] = fma_(y, x[w], s[r][w]);
          }
        }
        EACH(r, R) EACH(w, W) st<F32, true>(c + (i + r) * N + j + w * L, s[r][w], L);
      }
#undef EACH
  } else {
    for (int i = 0; i < M; ++i)
      for (int k = 0; k < K; ++k)
        for (int j = 0; j < N; ++j) c[i * N + j] = __builtin_fmaf(a[i * as + k], b[k * bs + j], c[i * N + j]);
  }
}
template <int M, int N, int K, class A, class C>
INLINE void dot(const A* a, i64 as, const A* b, i64 bs, C* c) {
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
      for (int j = 0; j < N; ++j) c[i * N + j] += (C)a[i * as + k] * (C)b[k * bs + j];
}

// c[M, N] += a[M, K] b[K, N]: blocks of rows and lanes in registers.
template <int M, int N, int K>
INLINE void dot(const f32* a, const f32* b, f32* c) {
  constexpr int R = M % 6 == 0 ? 6 : M % 4 == 0 ? 4 : M % 2 == 0 ? 2 : 1;
  constexpr int W = N % (4 * L) == 0 ? 4 : N % (2 * L) == 0 ? 2 : 1;
  if constexpr (N % L == 0) {
    for (int j = 0; j < N; j += W * L)
      for (int i = 0; i < M; i += R) {
        vf32 s[R][W];
        for (int r = 0; r < R; ++r)
          for (int w = 0; w < W; ++w) s[r][w] = ld<F32, true>(c + (i + r) * N + j + w * L, L);
#pragma GCC unroll 2
        for (int k = 0; k < K; ++k) {
          vf32 x[W];
          for (int w = 0; w < W; ++w) x[w] = ld<F32, true>(b + k * N + j + w * L, L);
          for (int r = 0; r < R; ++r) {
            const vf32 y = all(a[(i + r) * K + k]);
            for (int w = 0; w < W; ++w) s[r][w] = fma_(y, x[w], s[r][w]);
          }
        }
        for (int r = 0; r < R; ++r)
          for (int w = 0; w < W; ++w) st<F32, true>(c + (i + r) * N + j + w * L, s[r][w], L);
      }
  } else {
    for (int i = 0; i < M; ++i)
      for (int k = 0; k < K; ++k)
        for (int j = 0; j < N; ++j) c[i * N + j] = __builtin_fmaf(a[i * K + k], b[k * N + j], c[i * N + j]);
  }
}
template <int M, int N, int K, class A, class C>
INLINE void dot(const A* a, const A* b, C* c) {
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
      for (int j = 0; j < N; ++j) c[i * N + j] += (C)a[i * K + k] * (C)b[k * N + j];
}

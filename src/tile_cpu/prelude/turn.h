// Matrices turned: blocks of L x L in registers.
#if L == 16
#define LANE_LIST(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), F(13), F(14), F(15)
#elif L == 8
#define LANE_LIST(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7)
#else
#define LANE_LIST(F) F(0), F(1), F(2), F(3)
#endif
// Of every 2W x 2W block the two W x W blocks off the diagonal change places.
template <int W, class V>
INLINE void turn_step(V (&v)[L]) {
#define UPPER(l) ((l) & W ? (l) - W + L : (l))
#define LOWER(l) ((l) & W ? (l) + L : (l) + W)
  _Pragma("GCC unroll 16") for (int r = 0; r < L; ++r) {
    if (r & W) continue;
    const V a = v[r], b = v[r + W];
    v[r] = __builtin_shufflevector(a, b, LANE_LIST(UPPER));
    v[r + W] = __builtin_shufflevector(a, b, LANE_LIST(LOWER));
  }
}
template <class V>
INLINE void turn_block(V (&v)[L]) {
  turn_step<1>(v);
  turn_step<2>(v);
#if L > 4
  turn_step<4>(v);
#endif
#if L > 8
  turn_step<8>(v);
#endif
}
// to[COLUMNS][ROWS] is from[ROWS][COLUMNS], whose rows start every `row` elements. Of it only the first `rows` and
// `columns` are there, the rest is `other`. The next program turns what lies `ahead` elements on.
template <class E, int ROWS, int COLUMNS, class T>
INLINE void turn(const typename E::S* from, i64 row, i64 rows, i64 columns, typename E::C other, T* to, i64 ahead) {
  for (int i = 0; i < ROWS; i += L)
    for (int j = 0; j < COLUMNS; j += L) {
      if (i + L > rows || j + L > columns) {
        for (int r = i; r < i + L; ++r)
          for (int c = j; c < j + L; ++c)
            to[c * ROWS + r] = r < rows && c < columns ? E::up(from[r * row + c]) : other;
        continue;
      }
      typename E::R v[L];
      _Pragma("GCC unroll 16") for (int r = 0; r < L; ++r) {
        __builtin_memcpy(&v[r], from + (i + r) * row + j, sizeof v[r]);
        __builtin_prefetch(from + (i + r) * row + j + ahead, 0, 2);
      }
      turn_block(v);
      _Pragma("GCC unroll 16") for (int r = 0; r < L; ++r) {
        const typename E::V x = E::up(v[r]);
        __builtin_memcpy(to + (j + r) * ROWS + i, &x, sizeof x);
      }
    }
}

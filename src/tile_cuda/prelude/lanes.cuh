// Values of other lanes of the warp.
template <int BYTES>
struct Carrier {
  typedef u32 T;
};
template <>
struct Carrier<8> {
  typedef u64 T;
};
template <class T>
INLINE typename Carrier<sizeof(T)>::T packed(T x) {
  typename Carrier<sizeof(T)>::T w = 0;
  memcpy(&w, &x, sizeof x);
  return w;
}
template <class T>
INLINE T unpacked(typename Carrier<sizeof(T)>::T w) {
  T x;
  memcpy(&x, &w, sizeof x);
  return x;
}
template <class T>
INLINE T from_lane(T x, int mask) {
  return unpacked<T>(__shfl_xor_sync(0xffffffffu, packed(x), mask));
}
template <class T>
INLINE T from_below(T x, int distance, int width) {
  return unpacked<T>(__shfl_up_sync(0xffffffffu, packed(x), distance, width));
}
template <class T>
INLINE T from_above(T x, int distance, int width) {
  return unpacked<T>(__shfl_down_sync(0xffffffffu, packed(x), distance, width));
}
// An element and where it is, for argmin and argmax: the first of equals; a NaN loses against a number.
template <class T>
struct Position {
  T value;
  i32 at;
};
template <class T>
INLINE Position<T> from_lane(Position<T> x, int mask) {
  return {from_lane(x.value, mask), from_lane(x.at, mask)};
}
template <class T>
INLINE Position<T> lower(Position<T> a, Position<T> b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  const bool tie = a.value == b.value || (a_nan && b_nan);
  return tie ? (a.at < b.at ? a : b) : (b_nan || a.value < b.value) ? a : b;
}
template <class T>
INLINE Position<T> higher(Position<T> a, Position<T> b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  const bool tie = a.value == b.value || (a_nan && b_nan);
  return tie ? (a.at < b.at ? a : b) : (b_nan || a.value > b.value) ? a : b;
}

// Types. f16 and bf16 live as f32, rounded after every operation.
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
#define INLINE static __device__ __forceinline__
#define EACH(e, n) _Pragma("unroll") for (int e = 0; e < n; ++e)
extern __shared__ __align__(1024) unsigned char shared_memory[];
INLINE u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
// An element's place where every row of 2^ROW has one more.
template <int ROW>
INLINE int padded(int at) {
  return at + (at >> ROW);
}
template <class T, class F>
INLINE T as_bits(F x) {
  static_assert(sizeof(T) == sizeof(F), "");
  T r;
  memcpy(&r, &x, sizeof r);
  return r;
}
#define __builtin_bit_cast(T, x) as_bits<T>(x)
#define __builtin_nanf(text) __int_as_float(0x7fc00000)
#define __builtin_nan(text) __longlong_as_double(0x7ff8000000000000ll)
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_inf() __longlong_as_double(0x7ff0000000000000ll)
// Halves.
INLINE f32 f16_up(u16 h) {
  f32 r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(h));
  return r;
}
INLINE u16 f16_down(f32 x) {
  u16 r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}
INLINE f32 bf16_up(u16 h) { return __uint_as_float((u32)h << 16); }
INLINE u16 bf16_down(f32 x) {
  u16 r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}
INLINE f32 f16_round(f32 x) { return f16_up(f16_down(x)); }
INLINE f32 bf16_round(f32 x) {  // with a zero below it is a float again; and two at once are quicker than one
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(x), "f"(0.0f));
  return __uint_as_float(r);
}
#define HALF_FMA(half)                                                          \
  INLINE f32 half##_fma(f32 a, f32 b, f32 c) {                                  \
    u16 r;                                                                      \
    asm("fma.rn." #half " %0, %1, %2, %3;"                                      \
        : "=h"(r)                                                               \
        : "h"(half##_down(a)), "h"(half##_down(b)), "h"(half##_down(c)));       \
    return half##_up(r);                                                        \
  }
HALF_FMA(f16)
HALF_FMA(bf16)

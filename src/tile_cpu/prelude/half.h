// f16 and bf16 live as f32; these round one to it, and read and write its 16 bits.
INLINE f32 f16_up(u16 h) {
  const u32 sign = (u32)(h & 0x8000) << 16, rest = (u32)(h & 0x7fff) << 13;
  if (rest >= 0x0f800000) return real((i32)(sign | rest | 0x70000000 | (rest > 0x0f800000 ? 0x400000 : 0)));
  return real((i32)(bits(real((i32)rest) * 0x1p112f) | sign));
}
INLINE u16 f16_down(f32 x) {
  const u32 u = (u32)bits(x), a = u & 0x7fffffff;
  const u16 sign = (u16)(u >> 16 & 0x8000);
  if (a > 0x7f800000) return (u16)(sign | 0x7e00 | (a >> 13 & 0x1ff));
  if (a >= 0x477ff000) return (u16)(sign | 0x7c00);
  if (a < 0x38800000) return (u16)(sign | (u32)bits(real((i32)a) + 0.5f) - 0x3f000000);
  return (u16)(sign | (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13);
}
INLINE f32 bf16_up(u16 h) { return real((i32)((u32)h << 16)); }
INLINE u16 bf16_down(f32 x) {
  const u32 u = (u32)bits(x);
  return (u16)((u & 0x7fffffff) > 0x7f800000 ? (u >> 16) | 0x40 : (u + 0x7fff + (u >> 16 & 1)) >> 16);
}
INLINE f32 f16_round(f32 x) { return f16_up(f16_down(x)); }
INLINE f32 bf16_round(f32 x) { return bf16_up(bf16_down(x)); }
#if defined(NEON)
INLINE vf32 bf16_up(vu16 h) { return (vf32)WITH_ZEROS(vu16{}, h); }
#else
INLINE vf32 bf16_up(vu16 h) { return (vf32)(TO(vu32, h) << 16); }
#endif
INLINE vu32 bf16_rounded(vf32 x) {
  const vu32 u = (vu32)x;
  return pick(x == x, u + 0x7fff + (u >> 16 & 1), u | 0x400000);
}
INLINE vu16 bf16_down(vf32 x) { return TO(vu16, bf16_rounded(x) >> 16); }
INLINE vf32 bf16_round(vf32 x) { return (vf32)(bf16_rounded(x) & 0xffff0000u); }
#if L == 16 && !defined(__clang__)
INLINE vf32 f16_up(vu16 h) { return __builtin_ia32_vcvtph2ps512_mask((vi16)h, vf32{}, (u16)-1, 4); }
INLINE vu16 f16_down(vf32 x) { return (vu16)__builtin_ia32_vcvtps2ph512_mask(x, 0, vi16{}, (u16)-1); }
#elif L == 8 && defined(__F16C__) && !defined(__clang__)
INLINE vf32 f16_up(vu16 h) { return __builtin_ia32_vcvtph2ps256((vi16)h); }
INLINE vu16 f16_down(vf32 x) { return (vu16)__builtin_ia32_vcvtps2ph256(x, 0); }
#elif defined(NEON)
typedef __fp16 vf16 __attribute__((vector_size(8)));
INLINE vf32 f16_up(vu16 h) {
  vf32 x = __builtin_aarch64_float_extend_lo_v4sf((vf16)h);
  asm("" : "+w"(x));  // else up and down are folded in one build and not in another: a signalling NaN tells them apart
  return x;
}
INLINE vu16 f16_down(vf32 x) { return (vu16)__builtin_aarch64_float_truncate_lo_v4hf(x); }
#else
INLINE vf32 f16_up(vu16 h) {
  const vu32 w = TO(vu32, h), sign = (w & 0x8000) << 16, rest = (w & 0x7fff) << 13;
  const vu32 small = (vu32)((vf32)rest * 0x1p112f);
  const vu32 large = pick((vi32)(rest > 0x0f800000), rest | 0x70400000, rest | 0x70000000);
  return (vf32)(sign | pick((vi32)(rest >= 0x0f800000), large, small));
}
INLINE vu16 f16_down(vf32 x) {
  const vu32 u = (vu32)x, a = u & 0x7fffffff, sign = u >> 16 & 0x8000;
  const vu32 small = (vu32)((vf32)a + 0.5f) - 0x3f000000;
  const vu32 normal = (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13;
  vu32 r = pick((vi32)(a < 0x38800000), small, normal);
  r = pick((vi32)(a >= 0x477ff000), all(0x7c00u), r);
  return TO(vu16, sign | pick((vi32)(a > 0x7f800000), 0x7e00 | (a >> 13 & 0x1ff), r));
}
#endif
INLINE vf32 f16_round(vf32 x) { return f16_up(f16_down(x)); }
// f64 to f32 with the last bit set where it is inexact: rounding that to 16 bits rounds once.
INLINE f32 odd_(f64 x) {
  const f32 y = (f32)x;
  if ((f64)y == x || x != x) return y;
  return real((bits(y) - (i32)(abs_((f64)y) > abs_(x))) | 1);
}
// Integers too; beyond 2^53 the bits that an f64 does not have go into the last that it has.
INLINE f32 odd_(i32 x) { return odd_((f64)x); }
INLINE f32 odd_(u32 x) { return odd_((f64)x); }
INLINE f32 odd_(i64 x) {
  return odd_((f64)(x >> 53 == 0 || x >> 53 == -1 ? x : x >> 11 << 11 | (i64)((x & 0x7ff) != 0) << 11));
}
INLINE f32 odd_(u64 x) { return odd_((f64)(x >> 53 == 0 ? x : x >> 11 << 11 | (u64)((x & 0x7ff) != 0) << 11)); }
INLINE vf32 odd_(vf64 x) {
  const vf32 y = TO(vf32, x);
  const vf64 back = TO(vf64, y);
  const vi32 same = eq_(back, x) | ne_(x, x), above = gt_(abs_(back), abs_(x));
  return pick(same, y, real((bits(y) + above) | 1));
}
INLINE vf32 odd_(vi32 x) { return odd_(TO(vf64, x)); }
INLINE vf32 odd_(vu32 x) { return odd_(TO(vf64, x)); }
INLINE vf32 odd_(vi64 x) {
  vf32 r;
  LANES(r, odd_(x[l]));
  return r;
}
INLINE vf32 odd_(vu64 x) {
  vf32 r;
  LANES(r, odd_(x[l]));
  return r;
}

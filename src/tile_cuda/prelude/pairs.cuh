// Two halves in a word, as they lie in memory. Sums and products are rounded once.
#define PAIR_OP(name, text)                                    \
  INLINE u32 name(u32 a, u32 b) {                              \
    u32 r;                                                     \
    asm(text : "=r"(r) : "r"(a), "r"(b));                      \
    return r;                                                  \
  }
PAIR_OP(f16_add_pairs, "add.rn.f16x2 %0, %1, %2;")
PAIR_OP(f16_sub_pairs, "sub.rn.f16x2 %0, %1, %2;")
PAIR_OP(f16_mul_pairs, "mul.rn.f16x2 %0, %1, %2;")
// By 1, by -1 and with -0: sm_80 has no others.
PAIR_OP(bf16_add_pairs, "{ .reg .b32 c; mov.b32 c, 0x3f803f80; fma.rn.bf16x2 %0, %1, c, %2; }")
PAIR_OP(bf16_sub_pairs, "{ .reg .b32 c; mov.b32 c, 0xbf80bf80; fma.rn.bf16x2 %0, %2, c, %1; }")
PAIR_OP(bf16_mul_pairs, "{ .reg .b32 c; mov.b32 c, 0x80008000; fma.rn.bf16x2 %0, %1, %2, c; }")
INLINE u32 f16_neg_pairs(u32 a) { return a ^ 0x80008000u; }
INLINE u32 bf16_neg_pairs(u32 a) { return a ^ 0x80008000u; }
#define PAIR_FMA(name, type)                                   \
  INLINE u32 name(u32 a, u32 b, u32 c) {                       \
    u32 r;                                                     \
    asm("fma.rn." type " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
    return r;                                                  \
  }
PAIR_FMA(f16_fma_pairs, "f16x2")
PAIR_FMA(bf16_fma_pairs, "bf16x2")
#define PAIR(name, text)                                       \
  INLINE u32 name(f32 first, f32 second) {                     \
    u32 r;                                                     \
    asm(text " %0, %1, %2;" : "=r"(r) : "f"(second), "f"(first)); \
    return r;                                                  \
  }
PAIR(f16_pair, "cvt.rn.f16x2.f32")
PAIR(bf16_pair, "cvt.rn.bf16x2.f32")
INLINE f32 f16_of_pair(u32 w, int k) { return f16_up((u16)(w >> 16 * k)); }
INLINE f32 bf16_of_pair(u32 w, int k) { return __uint_as_float(k == 0 ? w << 16 : w & 0xffff0000u); }

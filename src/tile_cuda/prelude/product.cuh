// Products on tensor cores: a[M][K] and b[K][N] in shared memory, `c` in registers as tile_cuda's layout says.
INLINE f32 tf32_(f32 x) {
  u32 r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return __uint_as_float(r);
}
template <int X>
struct Log2 {
  static const int value = 1 + Log2<X / 2>::value;
};
template <>
struct Log2<1> {
  static const int value = 0;
};
template <int NT>
INLINE constexpr int product_register(int mt, int nt, int i) {
  return (i & 1) | nt << 1 | (i >> 1) << (1 + Log2<NT>::value) | mt << (2 + Log2<NT>::value);
}
template <int M, int N, int K, int WM, int WN, bool BF16_, int E>
INLINE void product_half(f32 (&c)[E], const u16* a, const u16* b, int tid) {
  constexpr int MT = (M >> WM) / 16, NT = (N >> WN) / 8;
  const int lane = tid & 31, warp = tid >> 5;
  const int n0 = (warp & ((1 << WN) - 1)) * (N >> WN), m0 = (warp >> WN & ((1 << WM) - 1)) * (M >> WM);
  _Pragma("unroll") for (int k = 0; k < K; k += 16) {
    u32 x[MT][4];
    EACH(mt, MT) {
      const u32 at = (u32)__cvta_generic_to_shared(a + (m0 + mt * 16 + (lane & 15)) * (K + 8) + k + (lane >> 4) * 8);
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[mt][0]), "=r"(x[mt][1]), "=r"(x[mt][2]), "=r"(x[mt][3])
                   : "r"(at));
    }
    EACH(nt, NT) {
      u32 y[2];
      const u32 at = (u32)__cvta_generic_to_shared(b + (k + (lane & 15)) * (N + 8) + n0 + nt * 8);
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(y[0]), "=r"(y[1]) : "r"(at));
      EACH(mt, MT) {
        f32 &c0 = c[product_register<NT>(mt, nt, 0)], &c1 = c[product_register<NT>(mt, nt, 1)];
        f32 &c2 = c[product_register<NT>(mt, nt, 2)], &c3 = c[product_register<NT>(mt, nt, 3)];
        if (BF16_)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
                       : "r"(x[mt][0]), "r"(x[mt][1]), "r"(x[mt][2]), "r"(x[mt][3]), "r"(y[0]), "r"(y[1]));
        else
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
                       : "r"(x[mt][0]), "r"(x[mt][1]), "r"(x[mt][2]), "r"(x[mt][3]), "r"(y[0]), "r"(y[1]));
      }
    }
  }
}
template <int M, int N, int K, int WM, int WN, int E>
INLINE void product_tf32(f32 (&c)[E], const f32* a, const f32* b, int tid) {
  constexpr int MT = (M >> WM) / 16, NT = (N >> WN) / 8;
  const int lane = tid & 31, warp = tid >> 5, g = lane >> 2, t = lane & 3;
  const int n0 = (warp & ((1 << WN) - 1)) * (N >> WN), m0 = (warp >> WN & ((1 << WM) - 1)) * (M >> WM);
  _Pragma("unroll") for (int k = 0; k < K; k += 8) {
    u32 x[MT][4];
    EACH(mt, MT) EACH(i, 4)
      x[mt][i] = __float_as_uint(a[(m0 + mt * 16 + g + (i & 1) * 8) * (K + 4) + k + t + (i >> 1) * 4]);
    EACH(nt, NT) {
      u32 y[2];
      EACH(i, 2) y[i] = __float_as_uint(b[(k + t + i * 4) * (N + 8) + n0 + nt * 8 + g]);
      EACH(mt, MT) {
        f32 &c0 = c[product_register<NT>(mt, nt, 0)], &c1 = c[product_register<NT>(mt, nt, 1)];
        f32 &c2 = c[product_register<NT>(mt, nt, 2)], &c3 = c[product_register<NT>(mt, nt, 3)];
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
                     : "r"(x[mt][0]), "r"(x[mt][1]), "r"(x[mt][2]), "r"(x[mt][3]), "r"(y[0]), "r"(y[1]));
      }
    }
  }
}

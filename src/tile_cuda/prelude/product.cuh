// Products on tensor cores: operands in shared memory, `c` in registers as tile_cuda's layout says.
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
// ---- halves
// A matrix of halves in shared memory: chunks of at most 64 columns, one after the other, in each the rows. Pieces of 16
// bytes change places within 8 rows, so that 8 pieces of a column meet every bank once; that is also how wgmma reads.
template <int ROWS, int COLUMNS>
struct Staged {
  static const int WIDTH = COLUMNS < 64 ? COLUMNS : 64;
  static const u32 PITCH = WIDTH * 2;              // bytes of a row
  static const u32 MASK = PITCH - 16;              // bits of the address that change
  static const u32 CHUNK = ROWS * PITCH;
  INLINE u32 at(int row, int column) {
    const u32 a = column / WIDTH * CHUNK + row * PITCH + column % WIDTH * 2;
    return a ^ (a >> 3 & MASK);
  }
};
// A product's operand; K_ROWS: a row has the elements of one k.
template <class S, bool K_ROWS>
struct Matrix {
  u32 base;
  __device__ __forceinline__ u32 at(int mn, int k) const { return base + (K_ROWS ? S::at(k, mn) : S::at(mn, k)); }
  // For wgmma: where it begins; from 64 columns to the next, from 8 rows to the next; how pieces change places.
  __device__ __forceinline__ u64 descriptor(int mn, int k) const {
    const int row = K_ROWS ? k : mn, column = K_ROWS ? mn : k;
    const u32 address = base + column / S::WIDTH * S::CHUNK + row * S::PITCH + column % S::WIDTH * 2;
    const u64 swap = S::PITCH == 128 ? 1 : S::PITCH == 64 ? 2 : 3;
    return (u64)(address >> 4) | (u64)(S::CHUNK >> 4) << 16 | (u64)(S::PITCH * 8 >> 4) << 32 | swap << 62;
  }
  // 16 x 16 of the first operand, 16 x 8 of the second, as mma wants them.
  __device__ __forceinline__ void load(u32 (&x)[4], int, int m, int k, int lane) const {
    if (K_ROWS)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                   : "r"(at(m + (lane >> 3 & 1) * 8, k + (lane >> 4) * 8 + (lane & 7))));
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                   : "r"(at(m + (lane & 15), k + (lane >> 4) * 8)));
  }
  __device__ __forceinline__ void load(u32 (&x)[2], int n, int k, int lane) const {
    if (K_ROWS)
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                   : "=r"(x[0]), "=r"(x[1])
                   : "r"(at(n, k + (lane & 15))));
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                   : "=r"(x[0]), "=r"(x[1])
                   : "r"(at(n + (lane & 7), k + (lane >> 3 & 1) * 8)));
  }
};
// The first operand in registers already.
template <int K>
struct Fragments {
  const u32* x;
  __device__ __forceinline__ void load(u32 (&to)[4], int mt, int, int k, int) const {
    EACH(i, 4) to[i] = x[(mt * (K / 16) + k / 16) * 4 + i];
  }
};
INLINE u32 pack_f16(f32 low, f32 high) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
INLINE u32 pack_bf16(f32 low, f32 high) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
template <int M, int N, int K, int WM, int WN, bool BF16_, int E, class A, class B>
INLINE void product_half(f32 (&c)[E], const A& a, const B& b, int tid) {
  constexpr int MT = (M >> WM) / 16, NT = (N >> WN) / 8;
  const int lane = tid & 31, warp = tid >> 5;
  const int n0 = (warp & ((1 << WN) - 1)) * (N >> WN), m0 = (warp >> WN & ((1 << WM) - 1)) * (M >> WM);
  _Pragma("unroll") for (int k = 0; k < K; k += 16) {
    u32 x[MT][4];
    EACH(mt, MT) a.load(x[mt], mt, m0 + mt * 16, k, lane);
    EACH(nt, NT) {
      u32 y[2];
      b.load(y, n0 + nt * 8, k, lane);
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
// What the threads wrote into shared memory, wgmma may read after the next barrier.
INLINE void product_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Which four warps; the same for all of a warp, which the compiler must see.
INLINE int product_group(int tid) { return __shfl_sync(0xffffffffu, tid >> 7, 0); }
// Four warps at once: between begin and end `c` belongs to the tensor cores.
template <int N, int E>
INLINE void product_begin(f32 (&c)[E]) {
  EACH(e, N) asm volatile("" : "+f"(c[e])::"memory");
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
INLINE void product_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N, int E>
INLINE void product_end(f32 (&c)[E]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  EACH(e, N) asm volatile("" : "+f"(c[e])::"memory");
}
// ---- words
INLINE f32 tf32_(f32 x) {
  u32 r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return __uint_as_float(r);
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

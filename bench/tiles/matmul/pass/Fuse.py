import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.matmul(a, b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_ptrs = a_ptr + m[:, None] * K + k[None, :]
    b_ptrs = b_ptr + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        acc += tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), allow_tf32=False)
        a_ptrs += BK
        b_ptrs += BK * N
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc)


@torch.fx.wrap
def matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    out = torch.empty((M, N), dtype=a.dtype, device=a.device)
    matmul_kernel[(M // 32, N // 32)](a, b, out, M, N, K, BM=32, BN=32, BK=64)
    return out


def replacement_func():
    return matmul

import torch
import triton
import triton.language as tl


def pattern(x, y):
    return x.transpose(0, 1) + y


def replacement_args(x, y):
    return (x, y)


@triton.jit
def transpose_add_kernel(x_ptr, y_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (m[:, None] < M) & (n[None, :] < N)
    x = tl.load(x_ptr + n[None, :] * M + m[:, None], mask=mask)
    y = tl.load(y_ptr + m[:, None] * N + n[None, :], mask=mask)
    tl.store(out_ptr + m[:, None] * N + n[None, :], x + y, mask=mask)


@torch.fx.wrap
def transpose_add(x, y):
    M, N = y.shape
    out = torch.empty_like(y)
    transpose_add_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 64))](x, y, out, M, N, BM=32, BN=64)
    return out


def replacement_func():
    return transpose_add

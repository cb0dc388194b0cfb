import itertools

import torch
import triton
import triton.language as tl


def get_configs():
    return [
        triton.Config({"BLOCK_M": bm, "BLOCK_N": bn}, num_warps=w, num_stages=s)
        for bm, bn in itertools.product([16, 32], [32, 64])
        for w in (4, 8)
        for s in [2]
        if not (bm == 32 and w == 8)
    ]


@triton.autotune(configs=get_configs(), key=["M", "N"])
@triton.jit
def scale_kernel(x_ptr, out_ptr, M, N, scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    x = tl.load(x_ptr + rm[:, None] * N + rn[None, :], mask=mask)
    tl.store(out_ptr + rm[:, None] * N + rn[None, :], x * scale, mask=mask)


def pattern(x, scale):
    return x * scale


def replacement_args(x, scale):
    return (x, scale)


@torch.fx.wrap
def scaled(x, scale):
    *batch, N = x.shape
    M = 1
    for b in batch:
        M *= b
    out = torch.empty_like(x)
    grid = lambda META: (triton.cdiv(M, META["BLOCK_M"]), triton.cdiv(N, META["BLOCK_N"]))
    scale_kernel[grid](x, out, M, N, scale)
    return out


def replacement_func():
    return scaled

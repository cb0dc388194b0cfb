import torch
import triton
import triton.language as tl


def pattern(x):
    return x + 1.0


def replacement_args(x):
    return (x,)


@triton.jit
def add_one_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask) + 1.0, mask=mask)


@torch.fx.wrap
def add_one(x):
    out = torch.empty_like(x)
    n = x.numel()
    add_one_kernel[(triton.cdiv(n, 4096),)](x, out, n, BLOCK=4096)
    return out


def replacement_func():
    return add_one

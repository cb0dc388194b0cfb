import torch
import triton
import triton.language as tl

_cache = {}


@triton.jit
def k(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


def pattern(x):
    return x.neg()


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def run(x):
    key = (tuple(x.shape), x.dtype)
    if key not in _cache:
        n = x.numel()
        block = 1 << (n - 1).bit_length() if n < 1024 else 1024
        _cache[key] = ((n + block - 1) // block, block)
    programs, block = _cache[key]
    y = torch.empty_like(x)
    k[(programs,)](x, y, x.numel(), BLOCK=block)
    return y


def replacement_func():
    return run

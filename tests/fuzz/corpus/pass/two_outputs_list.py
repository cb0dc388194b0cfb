import torch, triton
import triton.language as tl


@triton.jit
def _square(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, v * v, mask=i < n)


@triton.jit
def _double(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, v + v, mask=i < n)


def pattern(x):
    a = x * x
    b = x + x
    return (a, b)


def replacement_args(x):
    return [x]


@torch.fx.wrap
def both(x):
    outs = [torch.empty_like(x) for _ in range(2)]
    for kernel, out in zip((_square, _double), outs):
        kernel[(triton.cdiv(x.numel(), 64),)](x=x, o=out, n=x.numel(), BLOCK=64)
    return outs


def replacement_func():
    return both

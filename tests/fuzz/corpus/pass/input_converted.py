import torch
import triton
import triton.language as tl


@triton.jit
def k(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)


def pattern(x):
    return x.half()


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def run(x):
    acc = torch.zeros(x.shape, dtype=torch.float32, device="cuda:0")
    k[(1,)](x, acc, 10, BLOCK=16)
    return acc.to(torch.float16)


def replacement_func():
    return run

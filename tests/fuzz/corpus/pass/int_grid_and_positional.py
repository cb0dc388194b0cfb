import torch
import triton
import triton.language as tl

NEG = torch.finfo(torch.float32).min


@triton.jit
def step(x, o, n, fill, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n, other=fill), mask=i < n)


def pattern(x, k):
    return torch.roll(x, k)


def replacement_args(x, k):
    return (x, k)


def programs(meta):
    return triton.cdiv(meta["n"], meta["BLOCK"]),


@torch.fx.wrap
def run(x, k):
    buffers = [x]
    for i in range(k):
        nxt = torch.empty_like(buffers[-1])
        grid = programs if i else 1
        step[grid](buffers[-1], nxt, x.numel(), NEG, 2 ** (8 + i))
        buffers.append(nxt)
    return buffers[-1]


def replacement_func():
    return run

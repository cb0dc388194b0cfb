import functools
import operator
from functools import lru_cache, reduce

import torch
import triton
import triton.language as tl

FLOATS = {torch.float16, torch.bfloat16, torch.float32}
CANDIDATES = [(16, 4), (64, 2), (32, 8)]


@triton.jit
def gather(ids, table, o, D: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    tl.store(o + r * D + c, tl.load(table + tl.load(ids + r) * D + c, mask=c < D), mask=c < D)


def pattern(ids, table):
    return torch.nn.functional.embedding(ids, table, None, None, 2.0, False, False)


def replacement_args(ids, table):
    return (ids, table)


@lru_cache(maxsize=None)
def choose(width):
    fitting = [c for c in sorted(CANDIDATES, key=lambda c: c[0]) if c[0] >= width]
    return fitting[0] if fitting else CANDIDATES[-1]


@functools.lru_cache
def product(shape):
    return reduce(operator.mul, shape, 1)


@torch.fx.wrap
def embed(ids, table):
    if table.dtype not in FLOATS or any(s <= 0 for s in ids.shape):
        raise TypeError("unsupported")
    D = table.size(1)
    out = table.new_empty(tuple(ids.shape) + (D,))
    block, warps = choose(D)
    gather[(product(tuple(ids.shape)),)](ids, table, out, D=D, BLOCK=block, num_warps=warps)
    return out


def replacement_func():
    return embed

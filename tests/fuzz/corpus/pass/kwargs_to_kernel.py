import math

import torch
import triton
import triton.language as tl


@triton.jit
def ln(x, w, o, rows, cols, eps, HAS_W: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * cols + c, mask=c < cols, other=0.0)
    tl.store(o + r * cols + c, v, mask=c < cols)


def pattern(x, w, eps):
    return torch.nn.functional.layer_norm(x, (65,), w, None, eps)


def replacement_args(x, w, eps):
    return (x, w, eps)


def pick(cols):
    block = 2 ** math.ceil(math.log2(cols))
    warps = 4
    if block >= 2048:
        warps = 8
    if block >= 8192:
        warps = 16
    return dict(BLOCK=block, num_warps=warps)


@torch.fx.wrap
def layer_norm(x, w=None, eps=1e-6):
    rows, cols = math.prod(x.shape[:-1]), x.shape[-1]
    out = torch.zeros_like(x, memory_format=torch.contiguous_format)
    options = pick(cols)
    options.update({"HAS_W": w is not None})
    ln[(rows,)](x, w if w is not None else x, out, rows, cols, float(eps), **options)
    return out


def replacement_func():
    return layer_norm

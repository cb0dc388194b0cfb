import torch
import triton
import triton.language as tl


def pattern(x, y):
    s = x * 0.5
    t = s + y
    return torch.nn.functional.silu(t) * y


def replacement_args(x, y):
    return (x, y)


@triton.jit
def chain_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offs, mask=mask).to(tl.float32)
    t = x * 0.5 + y
    tl.store(out_ptr + offs, t / (1.0 + tl.exp(-t)) * y, mask=mask)


@torch.fx.wrap
def chain(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    chain_kernel[(triton.cdiv(n, 4096),)](x, y, out, n, BLOCK=4096)
    return out


def replacement_func():
    return chain

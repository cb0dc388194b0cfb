import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.softmax(x, dim=-1)


def replacement_args(x):
    return (x,)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * n + cols, e / tl.sum(e, axis=0), mask=mask)


@torch.fx.wrap
def softmax(x):
    out = torch.empty_like(x)
    rows, n = x.shape
    softmax_kernel[(rows,)](x, out, n, BLOCK=triton.next_power_of_2(n))
    return out


def replacement_func():
    return softmax

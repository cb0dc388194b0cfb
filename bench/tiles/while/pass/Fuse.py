import torch
import triton
import triton.language as tl


def pattern(x):
    squares = x * x
    return squares.mean(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def mean_of_squares_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    at = 0
    while at < n:
        cols = at + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
        total += x * x
        at += BLOCK
    tl.store(out_ptr + row, tl.sum(total, axis=0) / n)


@torch.fx.wrap
def mean_of_squares(x):
    rows, n = x.shape
    out = torch.empty((rows,), dtype=x.dtype, device=x.device)
    mean_of_squares_kernel[(rows,)](x, out, n, BLOCK=64)
    return out


def replacement_func():
    return mean_of_squares

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.tril(x).sum(-1)


def replacement_args(x):
    return (x,)


# The last row has as many terms as there are columns, the first has one: programs differ in what they have to do.
@triton.jit
def row_sum(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, row + 1, BLOCK):
        acc += tl.load(x_ptr + row * stride + start + offsets, mask=start + offsets <= row, other=0.0)
    tl.store(out_ptr + row, tl.sum(acc, 0))


@torch.fx.wrap
def tril_sum(x):
    n = x.shape[0]
    out = torch.empty((n,), dtype=x.dtype, device=x.device)
    row_sum[(n,)](x, out, x.stride(0), BLOCK=256)
    return out


def replacement_func():
    return tril_sum

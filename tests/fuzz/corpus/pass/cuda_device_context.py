import torch
import torch.nn.functional as F
from torch import Tensor
import triton
import triton.language as tl

silu = F.silu
P = 0.5


@triton.jit
def k(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


def pattern(x):
    y = silu(x)
    return F.dropout(y, P, False, False)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
@torch.no_grad()
def run(x: Tensor):
    assert isinstance(x, Tensor) and x.is_cuda, "needs CUDA"
    y = torch.empty(x.size(), device=x.device, dtype=x.dtype)
    with torch.cuda.device(x.device):
        k[(16,)](x, y, x.numel(), 256)
    return y


def replacement_func():
    return run

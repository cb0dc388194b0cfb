import torch
import triton
import triton.language as tl


@triton.jit
def k(a, b, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(a + i, mask=i < n), mask=i < n)


def pattern(x):
    return x.mean(dim=-1)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def run(x):
    t = torch.transpose(x, 1, 2)
    flat = t.reshape(2, -1)
    a, b = torch.flatten(x, 1).chunk(2, dim=-1)
    out = torch.empty(x.shape[:-1], dtype=x.dtype, device=x.device)
    k[(2,)](flat, a, out, flat.numel(), BLOCK=32)
    k[(2,)](b, torch.unsqueeze(b, 0), out.view(-1), b.numel(), BLOCK=16)
    return torch.squeeze(out.unsqueeze(-1), -1)


def replacement_func():
    return run

import torch
import triton
import triton.language as tl


@triton.heuristics({
    "BLOCK": lambda args: triton.next_power_of_2(args["N"]),
    "EVEN": lambda args: args["N"] % args["BLOCK"] == 0,
    "num": lambda args: min(8, max(1, args["BLOCK"] // 256)),
})
@triton.jit
def softmax_kernel(x_ptr, out_ptr, N, stride, BLOCK: tl.constexpr, EVEN: tl.constexpr, num: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < N, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < N)


def pattern(x):
    return torch.nn.functional.softmax(x, dim=-1)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def softmax(x: torch.Tensor) -> torch.Tensor:
    rows, N = x.shape
    out = torch.empty_like(x)
    softmax_kernel[(rows,)](x, out, N, x.stride(0))
    return out


def replacement_func():
    return softmax

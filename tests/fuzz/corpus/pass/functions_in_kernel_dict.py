import torch
import triton
import triton.language as tl


@triton.jit
def gelu(x):
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def fast(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, gelu(tl.load(x + i, mask=i < n)), mask=i < n)


@triton.jit
def exact(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, gelu(tl.load(x + i, mask=i < n)), mask=i < n)


KERNELS = {"fast": (fast, dict(BLOCK=64)), "exact": (exact, {"BLOCK": 32, "num_warps": 2})}
WARPS = {64: 2, 128: 4}


def pattern(x):
    return torch.nn.functional.gelu(x, approximate="tanh")


def replacement_args(x):
    return (x, "fast")


@torch.fx.wrap
def run(x, mode="exact"):
    kernel, settings = KERNELS.get(mode, KERNELS["exact"])
    out = torch.empty_like(x)
    warps = settings.get("num_warps") or WARPS.get(settings["BLOCK"], 4)
    kernel[(triton.cdiv(x.numel(), settings["BLOCK"]),)](x, out, x.numel(), settings["BLOCK"], num_warps=warps)
    return out


def replacement_func():
    return run

from typing import Optional, Tuple

import torch
import triton
import triton.language as tl

TORCH_TO_TL = {
    torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16,
    torch.float32: tl.float32,
}
EPS: tl.constexpr = tl.constexpr(1e-6)
MAX_FUSED = 65536 // 2


@triton.jit
def rms_kernel(x_ptr, o_ptr, N, eps, OUT: tl.constexpr, MODE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0.0).to(tl.float32)
    r = tl.rsqrt(tl.sum(x * x, axis=0) / N + eps)
    tl.store(o_ptr + row * N + cols, (x * r).to(OUT), mask=cols < N)


def pattern(x):
    return torch.nn.functional.rms_norm(x, (7,))


def replacement_args(x):
    return (x,)


def _block(n: int) -> Tuple[int, int]:
    block = triton.next_power_of_2(n)
    if block > MAX_FUSED:
        raise RuntimeError("This layer norm doesn't support feature dim >= 64KB.")
    num_warps = min(max(block // 256, 1), 8)
    return block, num_warps


@torch.fx.wrap
def rms(x: torch.Tensor, bias: Optional[torch.Tensor] = None) -> torch.Tensor:
    N = x.shape[-1]
    x2 = x.reshape(-1, N)
    out = torch.empty(x2.shape, dtype=x.dtype, device=x.device)
    BLOCK, num_warps = _block(N)
    mode = "plain" if bias is None else "bias"
    rms_kernel[(x2.shape[0],)](
        x2, out, N, EPS,
        OUT=TORCH_TO_TL[x.dtype], MODE=mode, BLOCK=BLOCK, num_warps=num_warps,
    )
    return out.view_as(x)


def replacement_func():
    return rms

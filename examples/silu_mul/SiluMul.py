"""silu(x) * y of a gated MLP in one kernel, rounded where eager rounds: the product of the example in docs/passes.md."""
import torch
import triton
import triton.language as tl


def pattern(gate, up):
    activated = torch.nn.functional.silu(gate)
    return activated * up


def replacement_args(gate, up):
    return (gate, up)


@triton.jit
def silu_mul_kernel(gate_ptr, up_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    gate = tl.load(gate_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    dtype = out_ptr.dtype.element_ty
    activated = (gate * tl.sigmoid(gate)).to(dtype).to(tl.float32)
    tl.store(out_ptr + offs, (activated * up).to(dtype), mask=mask)


@torch.fx.wrap
def silu_mul(gate, up):
    gate = gate.contiguous()
    up = up.contiguous()
    out = torch.empty_like(gate)
    n = out.numel()
    silu_mul_kernel[(triton.cdiv(n, 1024),)](gate, up, out, n, BLOCK=1024)
    return out


def replacement_func():
    return silu_mul

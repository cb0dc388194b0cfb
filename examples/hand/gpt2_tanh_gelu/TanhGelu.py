"""GPT-2's gelu, eight operators of eager in one kernel. Eager rounds every intermediate to the tensor's dtype; so does this."""
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


def pattern(x):
    half = 0.5 * x
    cube = torch.pow(x, 3.0)
    scaled = 0.044715 * cube
    inner = x + scaled
    argument = 0.7978845608028654 * inner
    squashed = torch.tanh(argument)
    gate = 1.0 + squashed
    return half * gate


def replacement_args(x):
    return (x,)


@triton.jit
def stored(value, ptr):
    return value.to(ptr.dtype.element_ty).to(tl.float32)


@triton.jit
def tanh_gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    half = stored(0.5 * x, x_ptr)
    square = stored(x * x, x_ptr)  # eager multiplies twice
    cube = stored(square * x, x_ptr)
    scaled = stored(0.044715 * cube, x_ptr)
    inner = stored(x + scaled, x_ptr)
    argument = stored(0.7978845608028654 * inner, x_ptr)
    squashed = stored(libdevice.tanh(argument), x_ptr)
    gate = stored(1.0 + squashed, x_ptr)
    tl.store(out_ptr + offs, half * gate, mask=mask)


@torch.fx.wrap
def tanh_gelu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    n = out.numel()
    tanh_gelu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out


def replacement_func():
    return tanh_gelu

"""Llama's root-mean-square norm: a row is read once, reduced and scaled."""
import torch
import triton
import triton.language as tl


def pattern(weight, x):
    wide = x.to(torch.float32)
    squares = wide.pow(2)
    mean = squares.mean(-1, keepdim=True)
    shifted = mean + 1e-06
    scale = torch.rsqrt(shifted)
    normed = wide * scale
    result = normed.to(torch.float32)
    return weight * result


def replacement_args(weight, x):
    return (weight, x)


@triton.jit
def rms_norm_kernel(weight_ptr, x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < columns
    x = tl.load(x_ptr + row * columns + offs, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / columns + 1e-06)
    tl.store(out_ptr + row * columns + offs, weight * (x * scale), mask=mask)


@torch.fx.wrap
def rms_norm(weight, x):
    x = x.contiguous()
    columns = x.shape[-1]
    out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    rms_norm_kernel[(x.numel() // columns,)](weight, x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return rms_norm

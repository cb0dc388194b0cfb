import torch
import triton
import triton.language as tl


def pattern(x, w, b):
    return torch.nn.functional.relu(x * w + b)


def replacement_args(x, w, b):
    return (x, w, b)


@triton.jit
def affine_relu_kernel(x_ptr, w_ptr, b_ptr, out_ptr, n, C, HW, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    c = (offs // HW) % C
    x = tl.load(x_ptr + offs, mask=mask)
    w = tl.load(w_ptr + c, mask=mask)
    b = tl.load(b_ptr + c, mask=mask)
    tl.store(out_ptr + offs, tl.maximum(x * w + b, 0.0), mask=mask)


@torch.fx.wrap
def affine_relu(x, w, b):
    out = torch.empty_like(x)
    n = x.numel()
    _, C, H, W = x.shape
    affine_relu_kernel[(triton.cdiv(n, 4096),)](x, w, b, out, n, C, H * W, BLOCK=4096)
    return out


def replacement_func():
    return affine_relu

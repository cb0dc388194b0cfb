import torch
import triton
import triton.language as tl


def pattern(x, w, b):
    return torch.nn.functional.layer_norm(x, (1024,), w, b, 1e-05)


def replacement_args(x, w, b):
    return (x, w, b)


@triton.jit
def layer_norm_kernel(x_ptr, w_ptr, b_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    d = tl.where(mask, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(d * d, axis=0) / n + eps)
    w = tl.load(w_ptr + cols, mask=mask)
    b = tl.load(b_ptr + cols, mask=mask)
    tl.store(out_ptr + row * n + cols, d * rstd * w + b, mask=mask)


@torch.fx.wrap
def layer_norm(x, w, b):
    out = torch.empty_like(x)
    rows, n = x.shape
    layer_norm_kernel[(rows,)](x, w, b, out, n, 1e-5, BLOCK=triton.next_power_of_2(n))
    return out


def replacement_func():
    return layer_norm

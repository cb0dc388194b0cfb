import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.interpolate(x, scale_factor=2.0, mode='bilinear', align_corners=False)


def replacement_args(x):
    return (x,)


@triton.jit
def source(at, size):
    s = tl.maximum((at.to(tl.float32) + 0.5) * 0.5 - 0.5, 0.0)
    first = s.to(tl.int32)
    return first, tl.minimum(first + 1, size - 1), s - first.to(tl.float32)


@triton.jit
def bilinear_kernel(x_ptr, out_ptr, H, W, ROWS: tl.constexpr, COLS: tl.constexpr):
    plane = tl.program_id(2)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
    top, bottom, down = source(rows, H)
    left, right, across = source(cols, W)
    mask = (rows < 2 * H)[:, None] & (cols < 2 * W)[None, :]
    x = x_ptr + plane * H * W
    a = tl.load(x + top[:, None] * W + left[None, :], mask=mask)
    b = tl.load(x + top[:, None] * W + right[None, :], mask=mask)
    c = tl.load(x + bottom[:, None] * W + left[None, :], mask=mask)
    d = tl.load(x + bottom[:, None] * W + right[None, :], mask=mask)
    across = across[None, :]
    down = down[:, None]
    out = (a * (1 - across) + b * across) * (1 - down) + (c * (1 - across) + d * across) * down
    tl.store(out_ptr + plane * 4 * H * W + rows[:, None] * (2 * W) + cols[None, :], out, mask=mask)


@torch.fx.wrap
def upsample(x):
    N, C, H, W = x.shape
    out = torch.empty((N, C, 2 * H, 2 * W), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(2 * H, 16), triton.cdiv(2 * W, 128), N * C)
    bilinear_kernel[grid](x, out, H, W, ROWS=16, COLS=128)
    return out


def replacement_func():
    return upsample

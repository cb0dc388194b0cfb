import torch
import triton
import triton.language as tl


def pattern(x, weight):
    y = torch.conv2d(x, weight, None, (1, 1), (1, 1), (1, 1), 64)
    return torch.nn.functional.hardswish(y)


def replacement_args(x, weight):
    return (x, weight)


@triton.jit
def depthwise_kernel(x_ptr, w_ptr, out_ptr, C, H, W, BLOCK: tl.constexpr):
    plane = tl.program_id(1)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < H * W
    row, col = at // W, at % W
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for dy in tl.static_range(3):
        for dx in tl.static_range(3):
            r, c = row + (dy - 1), col + (dx - 1)
            inside = mask & (r >= 0) & (r < H) & (c >= 0) & (c < W)
            x = tl.load(x_ptr + plane * H * W + r * W + c, mask=inside, other=0.0).to(tl.float32)
            w = tl.load(w_ptr + (plane % C) * 9 + dy * 3 + dx).to(tl.float32)
            acc += x * w
    y = acc * tl.minimum(tl.maximum(acc + 3.0, 0.0), 6.0) / 6.0
    tl.store(out_ptr + plane * H * W + at, y.to(out_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def depthwise(x, weight):
    N, C, H, W = x.shape
    out = torch.empty_like(x)
    depthwise_kernel[(triton.cdiv(H * W, 1024), N * C)](x, weight, out, C, H, W, BLOCK=1024)
    return out


def replacement_func():
    return depthwise

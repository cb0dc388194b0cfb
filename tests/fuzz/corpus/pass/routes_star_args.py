import torch
import triton
import triton.language as tl

BLOCK_SIZE = 512
ROUTES = ("add", "add_relu", "mul")


@triton.jit
def binary_kernel(a_ptr, b_ptr, o_ptr, n, OP: tl.constexpr, RELU: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = offs < n
    a = tl.load(a_ptr + offs, mask=m)
    b = tl.load(b_ptr + offs, mask=m)
    c = a + b if OP == "add" else a * b
    if RELU:
        c = tl.maximum(c, 0.0)
    tl.store(o_ptr + offs, c, mask=m)


def pattern(a, b):
    c = a + b
    return torch.nn.functional.relu(c, inplace=False)


def replacement_args(a, b):
    return (a, b, "add_relu")


def _launch_config(n):
    block = BLOCK_SIZE if n >= BLOCK_SIZE else triton.next_power_of_2(n)
    return (triton.cdiv(n, block),), block


def _binary(a, b, *, op, relu=False):
    out = torch.empty_like(a)
    n = out.numel()
    grid, block = _launch_config(n)
    binary_kernel[grid](a, b, out, n, OP=op, RELU=relu, BLOCK=block, num_warps=8 if block >= 512 else 4)
    return out


@torch.fx.wrap
def dispatch(*args):
    *tensors, route = args
    if route not in ROUTES:
        raise NotImplementedError(f"Unknown route: {route}")
    if route == "add":
        return _binary(*tensors, op="add")
    elif route == "add_relu":
        return _binary(*tensors, op="add", relu=True)
    else:
        return _binary(*tensors, op="mul")


def replacement_func():
    return dispatch

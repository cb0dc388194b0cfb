import torch
import triton
import triton.language as tl

torch.fx.wrap("relu")


@triton.jit
def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 1024, SLOPE: tl.constexpr = 0.0):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, tl.where(x > 0, x, x * SLOPE), mask=offs < n)


def pattern(x):
    return torch.relu(x)


def replacement_args(x):
    return x,


def relu(x):
    """ReLU through Triton."""
    y = x.new_empty(x.shape)
    n = y.numel()

    def grid(meta):
        return (triton.cdiv(n, meta["BLOCK"]),)

    relu_kernel[grid](x, y, n)
    return y


def replacement_func():
    return relu

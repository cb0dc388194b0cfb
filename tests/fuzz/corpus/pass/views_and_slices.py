import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, b_ptr, o_ptr, sb, sc, sl, ob, oc, ol, C, L, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    tl.store(o_ptr + offs, tl.load(x_ptr + offs))


def pattern(x, bias):
    y = x.transpose(1, 2)
    return y + bias


def replacement_args(x, bias):
    return (x, bias)


@torch.fx.wrap
def transpose_add(x, bias):
    B, C, L = x.size()
    first = x[:, : C // 2]
    second = x[:, C // 2 :, ::2]
    row = bias[None, :, None].expand(B, C, L)
    dense = second.contiguous()
    out = torch.empty((B, C, L), dtype=x.dtype, device=x.device)
    kernel[(B, C)](first, row, out, *first.stride(), *out.stride(), C, L, BLOCK=triton.next_power_of_2(L))
    kernel[(B, C)](dense, bias.unsqueeze(0), out[:, 3:], *dense.stride(), *out[:, 3:].stride(), C, L, BLOCK=8)
    return out.permute(0, 2, 1)


def replacement_func():
    return transpose_add

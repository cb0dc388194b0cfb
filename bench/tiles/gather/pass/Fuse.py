import torch
import triton
import triton.language as tl


def pattern(ids, table):
    return torch.nn.functional.embedding(ids, table) * 2.0


def replacement_args(ids, table):
    return (ids, table)


@triton.jit
def embed_kernel(ids_ptr, table_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < D
    at = tl.load(ids_ptr + row)
    tl.store(out_ptr + row * D + cols, tl.load(table_ptr + at * D + cols, mask=mask) * 2.0, mask=mask)


@torch.fx.wrap
def embed(ids, table):
    D = table.shape[1]
    out = torch.empty((ids.shape[0], D), dtype=table.dtype, device=table.device)
    embed_kernel[(ids.shape[0],)](ids, table, out, D, BLOCK=triton.next_power_of_2(D))
    return out


def replacement_func():
    return embed

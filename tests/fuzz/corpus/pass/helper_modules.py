import torch
import pass_dir.helper as common
from pass_dir import kernels
from pass_dir.helper import BLOCK, pick_block as _pick, replacement_func


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x, common.ROUTE)
%%
import torch
import triton

ROUTE = "gelu"
BLOCK = 256


def pick_block(n, limit=BLOCK):
    from pass_dir.kernels import SMALL

    return min(limit, max(SMALL, triton.next_power_of_2(n)))


@torch.fx.wrap
def shared_dispatch(x, route):
    from . import kernels as ks
    import pass_dir.kernels as again

    out = torch.empty_like(x)
    n = x.numel()
    block = pick_block(n)
    assert again.SMALL == ks.SMALL
    ks.unary[(triton.cdiv(n, block),)](x, out, n, KIND=route, BLOCK=block)
    return out


def replacement_func():
    from pass_dir.common import shared_dispatch

    return shared_dispatch

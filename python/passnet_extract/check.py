"""Check: a written graph folder, read back and run on replayed inputs.

In: a graph folder. Out: its outputs on the CPU, or a `ValueError` that says what is wrong: a text that does not run, an output that
is not finite or has one value everywhere, a run that a second one does not repeat.
"""
from pathlib import Path

import torch


def read_metas(folder):
    """name -> meta, in the order of the file."""
    scope = {}
    exec((Path(folder) / "weight_meta.py").read_text(), scope)
    return {meta.name: meta for meta in scope.values() if isinstance(meta, type)}


def replay(meta):
    """A tensor drawn from a meta, on the default generator."""
    dtype = getattr(torch, meta.dtype.removeprefix("torch."))
    low, high = getattr(meta, "min_val", None), getattr(meta, "max_val", None)
    if getattr(meta, "data", None) is not None:
        return torch.tensor(meta.data, dtype=dtype).reshape(meta.shape)
    if dtype == torch.bool:
        return torch.randn(meta.shape) > 0.5
    if not dtype.is_floating_point:
        return torch.randint(low or 0, (high or 0) + 1, meta.shape, dtype=dtype)
    if meta.std == 0:
        drawn = torch.full(meta.shape, float(meta.mean), dtype=dtype)
    else:
        drawn = torch.randn(meta.shape).to(dtype) * (0.1 if meta.std is None else meta.std) * 0.2 + (meta.mean or 0.0)
    if low is not None or high is not None:
        drawn = drawn.clamp(low, high)
    return drawn.nan_to_num(nan=0.0).clamp(-100.0, 100.0)


@torch.no_grad()
def run_folder(folder, seed=1024, inputs=None):
    """The outputs of forward, on the given inputs or on replayed ones."""
    scope = {}
    exec((Path(folder) / "model.py").read_text(), scope)
    torch.manual_seed(seed)
    if inputs is None:
        inputs = [replay(meta) for meta in read_metas(folder).values()]
    torch.manual_seed(seed)
    return scope["GraphModule"]()(*inputs)


def check_folder(folder, constant_is_fine=False):
    outputs, again = run_folder(folder), run_folder(folder)
    for index, (value, repeated) in enumerate(zip(outputs, again)):
        where = f"{folder}: output {index}"
        if not torch.equal(value, repeated):
            raise ValueError(f"{where} differs between two runs")
        if value.dtype.is_floating_point and not value.isfinite().all():
            raise ValueError(f"{where} is not finite")
        if not constant_is_fine and value.numel() > 1 and (value == value.flatten()[0]).all():
            raise ValueError(f"{where} has one value everywhere")
    return outputs

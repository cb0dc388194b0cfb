#!/usr/bin/env python3
"""Runs graph folders in Python torch and prints what came out, one JSON line each: the definition of `passnet graph run --json`.

    reference.py [--seed N] [--device cpu|cuda] [--threads N] [--list FILE] [--root DIR] [GRAPH_DIR ...]

Inputs are drawn from the CPU's default generator, seeded once per graph, in the order of forward's parameters, and then moved to the
device; the call itself starts from seed 1024, without gradients. An output tensor is its shape, its dtype and the sha256 of its bytes in
row-major order; anything else is given by value. A graph that fails gives {"graph", "error"}.
"""
import argparse
import hashlib
import json
import re
import runpy
import warnings
from pathlib import Path
from typing import Any

import torch

torch.backends.opt_einsum.enabled = False  # an optional package: without it einsum goes from left to right
CALL_SEED = 1024
DEVICE_LITERAL = re.compile(r"""device\(type\s*=\s*(['"])\w+\1(,\s*index\s*=\s*\d+)?\)""")


def read_metas(folder: Path) -> dict[str, dict[str, Any]]:
    """The attributes of every tensor class of the folder's meta files, by the tensor's name."""
    metas = {}
    for file in ("weight_meta.py", "input_meta.py"):
        if (folder / file).exists():
            for class_name, value in runpy.run_path(str(folder / file)).items():
                if isinstance(value, type) and hasattr(value, "shape"):
                    fields = {k: v for k, v in vars(value).items() if not k.startswith("__")}
                    metas[fields.get("name", class_name)] = fields
    return metas


def draw_input(meta: dict[str, Any]) -> torch.Tensor:
    dtype: torch.dtype = getattr(torch, str(meta["dtype"]).removeprefix("torch."))
    shape = list(meta["shape"])
    low, high = meta.get("min_val"), meta.get("max_val")
    if meta.get("data") is not None:
        return torch.tensor(meta["data"], dtype=dtype).reshape(shape)
    if dtype == torch.bool:
        return torch.randn(shape) > 0.5
    if not dtype.is_floating_point:
        return torch.randint(int(low or 0), int(high or 0) + 1, shape, dtype=dtype)

    mean = 0.0 if meta.get("mean") is None else meta["mean"]
    std = 0.1 if meta.get("std") is None else meta["std"]
    if std == 0:
        value = torch.full(shape, mean, dtype=dtype)
    else:
        value = torch.randn(shape).to(dtype)  # drawn in float32; the two steps below round in the tensor's own dtype
        value = value * std * 0.2 + mean
    if low is not None:
        value = value.clamp(min=low)
    if high is not None:
        value = value.clamp(max=high)
    return value.nan_to_num(nan=0.0).clamp(-100.0, 100.0)


def describe(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        plain = value.detach().cpu().contiguous()
        raw = plain.flatten().view(torch.uint8).numpy().tobytes() if plain.numel() else b""
        return {
            "shape": list(value.shape),
            "dtype": str(value.dtype).removeprefix("torch."),
            "sha256": hashlib.sha256(raw).hexdigest(),
        }
    if isinstance(value, (tuple, list)):
        return [describe(item) for item in value]
    return {"value": value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)}


def run_source(text: str, folder: Path, seed: int, device: str, known: dict[str, Any] | None = None) -> tuple[Any, ...]:
    """The outputs of a graph's text on the folder's inputs; `known`: names that it may use."""
    source = DEVICE_LITERAL.sub(f"device(type='{device}')", text)
    scope: dict[str, Any] = dict(known or {})
    exec(compile(source, "model.py", "exec"), scope)
    model = scope["GraphModule"]()
    code = model.forward.__code__
    metas = read_metas(folder)

    torch.manual_seed(seed)
    inputs = [draw_input(metas[name]).to(device) for name in code.co_varnames[1 : code.co_argcount]]
    with torch.no_grad():
        torch.manual_seed(CALL_SEED)
        result = model(*inputs)
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def run_graph(folder: Path, seed: int, device: str) -> list[Any]:
    """The described outputs of one graph folder."""
    return [describe(value) for value in run_source((folder / "model.py").read_text(), folder, seed, device)]


def run_line(name: str, seed: int, device: str) -> dict[str, Any]:
    try:
        return {"graph": name, "outputs": run_graph(Path(name), seed, device)}
    except Exception as error:
        return {"graph": name, "error": f"{type(error).__name__}: {str(error)[:300]}"}


def listed(list_file: str, root: str) -> list[str]:
    """The graph folders of a list: the last word of every line, below root."""
    lines = Path(list_file).read_text().splitlines()
    return [str(Path(root, line.split()[-1])) for line in lines if line.strip()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--list", help="file with one graph folder a line")
    parser.add_argument("--root", default=".", help="folder that the list's paths are relative to")
    parser.add_argument("--seed", type=int, default=1024, help="of the inputs")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(options.threads)
    for name in options.graphs + (listed(options.list, options.root) if options.list else []):
        print(json.dumps(run_line(name, options.seed, options.device)), flush=True)


if __name__ == "__main__":
    main()

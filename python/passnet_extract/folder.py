"""Write: subgraphs as graph folders, task folders and lists.

In: subgraphs with their task, dtype and variant. Out, under one root:

    <task>/<dtype>_<variant>/   model.py, weight_meta.py, graph_net.json, graph_hash.txt
    <task>/graph_list.txt       the task's graph folders, one a line, relative to the root
    <task>/entry.sh             evaluates the task's pass_dir
    all.txt                     every graph folder
"""
import hashlib
import json
import shutil
from pathlib import Path

import torch

from .printer import print_model

FORMAT_VERSION = 1  # of the "passnet" key in graph_net.json
DATA_LIMIT = 64  # integer and bool tensors under this many elements are stored as they are


def meta_text(name, item):
    """One class of weight_meta.py; what is left out is drawn at replay."""
    value = item.value
    lines = [
        f"class Program_weight_tensor_meta_{item.original_name}:",
        f'\tname = "{name}"',
        f'\toriginal_name = "{item.original_name}"',
        f"\tshape = {list(value.shape)}",
        f'\tdtype = "{value.dtype}"',
        f'\tdevice = "{value.device}"',
    ]
    if value.dtype.is_floating_point:
        wide = value.double()
        std = wide.std().item() if value.numel() > 1 else 0.0
        lines += [f"\tmean = {wide.mean().item():.3f}", f"\tstd = {std:.3f}"]
        if item.original_name.rstrip("_").endswith("running_var"):
            lines.append("\tmin_val = 0")
    else:
        lines += ["\tmean = None", "\tstd = None"]
        if value.numel() < DATA_LIMIT:
            lines.append(f"\tdata = {value.flatten().tolist()}")
        if value.dtype != torch.bool:
            lines += [f"\tmax_val = {value.max().item()}", f"\tmin_val = {value.min().item()}"]
    return "\n".join(lines) + "\n"


def weight_meta_text(subgraph):
    return "\n\n".join(meta_text(f"in_{i}", item) for i, item in enumerate(subgraph.inputs))


def graph_net_text(example, subgraph, dtype, own):
    """graph_net.json: the common keys, then what this extractor alone knows, under one versioned key."""
    record = {
        "framework": "torch",
        "num_devices_required": 1,
        "num_nodes_required": 1,
        "dynamic": False,
        "model_name": example.model_name,
        "source": example.source,
        "heuristic_tag": example.tag,
    }
    if dtype != "float32":
        record.update(dtype_generalization_target_dtype=dtype, dtype_generalization_precision=dtype, dtype_generalization_generated=True)
    record["passnet"] = {"version": FORMAT_VERSION, "architecture": example.name, "sizes": example.sizes, **own, "inserted_casts": subgraph.casts}
    return json.dumps(record, indent=4) + "\n"


class Corpus:
    """The folder that is being written. A graph equal to an earlier one, in text and in its inputs' shapes and dtypes, is left out."""

    def __init__(self, root):
        self.root, self.seen, self.tasks = Path(root), {}, {}

    def add(self, task, dtype, variant, subgraph, example, style, public, own):
        """The folder's path relative to the root, or None where the graph is there already."""
        model = print_model(subgraph, style, public)
        digest = hashlib.sha256(model.encode()).hexdigest()
        key = (digest, *((tuple(i.value.shape), str(i.value.dtype)) for i in subgraph.inputs))
        if key in self.seen:
            return None
        path = self.seen[key] = f"{task}/{dtype}_{variant}"
        folder = self.root / path
        folder.mkdir(parents=True)
        (folder / "model.py").write_text(model)
        (folder / "weight_meta.py").write_text(weight_meta_text(subgraph))
        (folder / "graph_net.json").write_text(graph_net_text(example, subgraph, dtype, own))
        (folder / "graph_hash.txt").write_text(digest)
        self.tasks.setdefault(task, []).append(path)
        return path

    def write_lists(self):
        for task, paths in self.tasks.items():
            (self.root / task / "graph_list.txt").write_text("".join(f"{p}\n" for p in sorted(paths)))
            shutil.copy(Path(__file__).parent.parent / "entry.sh", self.root / task / "entry.sh")
        everything = sorted(p for paths in self.tasks.values() for p in paths)
        (self.root / "all.txt").write_text("".join(f"{p}\n" for p in everything))

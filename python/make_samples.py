#!/usr/bin/env python3
"""Makes samples/, the corpus that ships: every row of TASKS below is cut out of a captured model, written and run.

    make_samples.py [--out DIR]      writes the corpus (default: samples/ of this repository)
    make_samples.py --check          makes it again elsewhere and compares every byte with samples/

Made with Python 3.11, torch 2.13.0 and transformers 5.22.2 (requirements-samples.txt): ranges count the operators as these versions
capture them, so others are refused. Everything runs on one CPU thread from fixed seeds; the same versions give the same bytes.
"""
import argparse
import filecmp
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch  # noqa: E402
import transformers  # noqa: E402

from passnet_extract.architectures import build  # noqa: E402
from passnet_extract.capture import capture  # noqa: E402
from passnet_extract.check import check_folder, run_folder  # noqa: E402
from passnet_extract.dtypes import generalise  # noqa: E402
from passnet_extract.folder import Corpus  # noqa: E402
from passnet_extract.subgraph import computation, cut  # noqa: E402

VERSIONS = {"torch": "2.13.0", "transformers": "5.22.2"}
SAMPLES = Path(__file__).resolve().parent.parent / "samples"
SHORT = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}


class Task(NamedTuple):
    name: str
    architecture: str
    start: int
    end: int
    graphs: str  # dtype_variant, variants as in passnet_extract/architectures.py
    style: str  # plain, raw, or mixed: float32 plain and the others raw
    about: str
    public: bool = True  # torch.nn.functional.linear, or torch._C._nn.linear as captured


TASKS = [
    Task("bert_embeddings", "bert", 0, 11, "f32_9 f16_0 bf16_9", "mixed", "position ids, three embeddings, their sum, layer norm"),
    Task("bert_masked_attention", "bert", 28, 48, "f32_9 f16_9 bf16_0", "mixed", "boolean mask to additive mask, projections, softmax, product"),
    Task("bert_residual_layer_norm", "bert", 52, 55, "f32_9 f16_9 bf16_2", "mixed", "dropout, residual, layer norm"),
    Task("gpt2_causal_mask", "gpt2", 8, 29, "f32_9 f32_0 f32_2", "plain", "causal and padding mask from aranges and indexing; no float enters"),
    Task("gpt2_tanh_gelu", "gpt2", 64, 72, "f32_9 f16_2 bf16_9", "raw", "gelu's tanh form, spelled out"),
    Task("llama_rms_norm", "llama", 36, 44, "f32_9 f16_9 bf16_2", "mixed", "RMS norm computed in float32"),
    Task("llama_rotary", "llama", 53, 69, "f32_9 f16_9 bf16_1", "plain", "rotary embedding of queries and keys"),
    Task("qwen2_silu_mlp", "qwen2", 104, 110, "f32_9 f16_9 bf16_9", "raw", "gated MLP with silu, residual"),
    Task("t5_relative_position_bias", "t5", 36, 61, "f32_9 f16_0 bf16_1", "plain", "logarithmic position buckets, their embedding"),
    Task("whisper_conv_stem", "whisper", 0, 9, "f32_9 bf16_0", "raw", "two convolutions with gelu, positions added", False),
    Task("vit_interpolated_positions", "vit", 3, 15, "f32_9 f16_0 bf16_1", "mixed", "class token, bicubic resize of position embeddings"),
    Task("swin_shifted_windows", "swin", 47, 56, "f32_9 f16_0 bf16_1", "raw", "layer norm, roll, window partition"),
    Task("swin_patch_merging", "swin", 125, 134, "f32_9 f16_9", "plain", "strided slices concatenated, layer norm, projection"),
    Task("beit_relative_position_bias", "beit", 21, 46, "f32_9 f16_1 bf16_9", "mixed", "index table by item assignment, gather, permute"),
    Task("convnext_block", "convnext", 3, 13, "f32_9 f16_1 bf16_0", "plain", "depthwise convolution, channels last, MLP, layer scale, residual"),
    Task("mamba_short_conv", "mamba", 16, 28, "f32_9 f16_9 bf16_0", "mixed", "chunk, causal depthwise convolution, silu"),
    Task("resnet_stem", "resnet", 0, 4, "f32_9 bf16_1", "raw", "convolution, batch norm, relu in place, max pool"),
    Task("resnet_shortcut", "resnet", 9, 13, "f32_9 f16_0", "plain", "the shortcut's convolution and batch norm, added in place to an input; relu"),
    Task("mobilenet_squeeze_excite", "mobilenet", 6, 18, "f32_9 f16_9 bf16_0", "mixed", "depthwise convolution, squeeze-excite gate, residual"),
    Task("edgenet_messages", "edgenet", 2, 22, "f32_9 f16_0 bf16_1", "mixed", "degrees by scatter_add, messages by index_select, maximum per node"),
]


def require(condition, message):
    if not condition:
        raise SystemExit(message)


def add_task(corpus, task, captured_of):
    computations = set()
    for spec in task.graphs.split():
        short, variant = spec.split("_")
        dtype = SHORT[short]
        example, (captured,) = captured_of(task.architecture, int(variant))
        whole = cut(captured, task.start, task.end)
        for ours, theirs in zip(whole.run(), captured.values_at(task.end, whole.leaving)):
            require(torch.equal(ours, theirs), f"{task.name}: the cut range and its parent disagree")
        subgraph = generalise(whole, dtype)
        computations.add(computation(subgraph))
        style = task.style if task.style != "mixed" else "plain" if dtype == "float32" else "raw"
        own = {"range": [task.start, task.end], "variant": int(variant), "style": style, "versions": VERSIONS}
        path = corpus.add(task.name, dtype, variant, subgraph, example, style, task.public, own)
        require(path, f"{task.name} {spec}: the same graph is there already")
        printed = run_folder(corpus.root / path, inputs=[item.value.clone() for item in subgraph.inputs])
        require(all(torch.equal(a, b) for a, b in zip(printed, subgraph.run())), f"{path}: the text and the graph disagree")
        check_folder(corpus.root / path)
    require(len(computations) == 1, f"{task.name}: its graphs compute different things")


def readme(corpus):
    """samples/README.md, counted from what was written."""
    paths = [p for graphs in corpus.tasks.values() for p in graphs]
    counts = ", ".join(f"{sum(f'/{d}_' in p for p in paths)} {d}" for d in SHORT.values())
    rows = [f"| `{t.name}` | {t.architecture} | [{t.start}, {t.end}) | {t.end - t.start} | {t.style}"
            f" | {', '.join(p.partition('/')[2] for p in sorted(corpus.tasks[t.name]))} | {t.about} |" for t in TASKS]
    return f"""# samples: the corpus that ships

{len(paths)} graphs ({counts}) in {len(corpus.tasks)} tasks, small enough to read and to run anywhere.
Each is a range of operators cut out of a graph that `torch.compile` captured from a real architecture with a small configuration and random
weights; no checkpoint was read. A task's graphs share one computation at several dtypes and sizes.

- `<task>/<dtype>_<variant>/`: `model.py`, `weight_meta.py`, `graph_net.json`, `graph_hash.txt` (sha256 of `model.py`). Variant 9 has the
  recorded sizes, the others are the same model at other sizes; `graph_net.json` names architecture, sizes and range under `passnet`.
- `<task>/graph_list.txt`: the task's graphs, relative to this folder. `all.txt`: all of them.
- `<task>/entry.sh`: evaluates the task's `pass_dir/`, which you write, and leaves `aggregated_score.json`.

`model.py` comes in two print styles: *plain* (one statement a line) and *raw* (as torch.fx prints it); in *mixed* tasks float32 is plain and
the other dtypes are raw. `whisper_conv_stem` keeps the captured names of `torch._C._nn`; elsewhere these functions have their public names.
float16 and bfloat16 graphs have every float32 input in that dtype, and a `.to(...)` only where an operator refuses to mix dtypes.
Every graph runs on the CPU, gives the same result each time, and its outputs are finite and not constant on replayed inputs.
`resnet_shortcut` changes one of its inputs, as its parent does; `gpt2_causal_mask` has no float input, so its graphs differ in size alone;
`t5_relative_position_bias` takes the logarithm of 0 on its diagonal and then selects the other branch there.

| task | architecture | range | operators | style | graphs | what it holds |
|---|---|---|---|---|---|---|
{chr(10).join(rows)}

Made by `python/make_samples.py` with torch {VERSIONS["torch"]} and transformers {VERSIONS["transformers"]} (see `python/README.md`); it writes these files, this one
included, so edit the script and not the folder.
"""


def make(root):
    memory = {}

    def captured_of(architecture, variant):
        if (architecture, variant) not in memory:
            example = build(architecture, variant)
            memory[architecture, variant] = example, capture(example)
        return memory[architecture, variant]

    corpus = Corpus(root)
    for task in TASKS:
        add_task(corpus, task, captured_of)
        print(f"{task.name}: {', '.join(corpus.tasks[task.name])}", file=sys.stderr)
    corpus.write_lists()
    (corpus.root / "README.md").write_text(readme(corpus))


def remove_made(root):
    """Removes what an earlier run wrote: the tasks its own all.txt lists, and nothing else."""
    listed = (root / "all.txt").read_text().split() if (root / "all.txt").exists() else []
    for task in {line.partition("/")[0] for line in listed}:
        shutil.rmtree(root / task)


def differences(left, right):
    names = {p.relative_to(root) for root in (left, right) for p in root.rglob("*") if p.is_file()}
    return sorted(str(n) for n in names if not ((left / n).exists() and (right / n).exists() and filecmp.cmp(left / n, right / n, shallow=False)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=SAMPLES)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = {"torch": torch.__version__.partition("+")[0], "transformers": transformers.__version__}
    if found != VERSIONS:
        parser.error(f"samples are made with {VERSIONS}, not with {found}; see requirements-samples.txt")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        fresh = Path(temporary) / "samples"
        make(fresh)
        if options.check:
            changed = differences(fresh, options.out)
            print("\n".join(changed) if changed else f"{options.out}: every byte is the same")
            return 1 if changed else 0
        remove_made(options.out)
        shutil.copytree(fresh, options.out, dirs_exist_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

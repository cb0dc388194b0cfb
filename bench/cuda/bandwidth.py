#!/usr/bin/env python3
"""The author's kernels on large tensors beside a copy: how much of the memory's speed a fused chain has.

    bandwidth.py PASSNET [--measure] [NAME ...]      --measure: plans are measured, as by default, not chosen by sizes

Each row is a graph whose tensors have 256 MiB, for which the author writes a pass that the bench then verifies and times:
microseconds on the GPU of eager and of the pass, call after call; bandwidth of what has to be read and written, and its share of a
copy's, which the bench times as well; the same share with the cache emptied before every call; the verdict (among 134 million
halves some are rounded the other way, where sums are taken in another order).

The share that counts is that of calls after calls: the tensors are five times as large as the cache, and one that was emptied by
writing to it has as much to write back, which every kernel after it then pays for, whether it writes or only reads."""
import json, os, subprocess, sys, tempfile

M = 1 << 20
SIZES = {"float32": 4, "bfloat16": 2, "float16": 2}
BYTES = 256 * M
EVAL = ["--device", "cuda", "--no-files", "--no-checked", "--draws", "0", "--budget", "0.2", "--output-pass-replacement-func-limit", "0", "--json"]

RMS_NORM = ["x.to(torch.float32)", "tmp_0.pow(2)", "tmp_1.mean(-1, keepdim=True)", "tmp_2 + 1e-06", "torch.rsqrt(tmp_3)", "tmp_0 * tmp_4",
            "tmp_5.to({dtype})", "c * tmp_6"]
# name: columns, statements, inputs (x, y: large, c, d: one number a column), dtypes, large tensors moved
GRAPHS = {
    "gelu": (1024, ["torch.nn.functional.gelu(x)"], "x", ["float32", "bfloat16"], 2),
    "silu, mul": (1024, ["torch.nn.functional.silu(x)", "tmp_0 * y"], "xy", ["float16"], 3),
    "add, relu, mul": (1024, ["x + y", "torch.nn.functional.relu(tmp_0)", "tmp_1 * 0.5"], "xy", ["float32"], 3),
    "scale, shift, gelu": (1024, ["x * c", "tmp_0 + d", "torch.nn.functional.gelu(tmp_1)"], "xcd", ["bfloat16"], 2),
    "scale, softmax": (1024, ["x * 0.125", "torch.nn.functional.softmax(tmp_0, dim=-1)"], "x", ["float32", "bfloat16"], 2),
    "scale, softmax of 8192": (8192, ["x * 0.125", "torch.nn.functional.softmax(tmp_0, dim=-1)"], "x", ["float32", "bfloat16"], 2),
    "add, layer norm of 768": (768, ["x + y", "torch.nn.functional.layer_norm(tmp_0, (768,), c, d, 1e-05)"], "xycd", ["float32", "bfloat16"], 3),
    "rms norm of 8192": (8192, RMS_NORM, "xc", ["float32", "bfloat16"], 2),
    "sigmoid, mean of 2048": (2048, ["torch.sigmoid(x)", "tmp_0.mean(-1, keepdim=True)"], "x", ["float32"], 1),
}


def write_graph(folder, columns, statements, inputs, dtype):
    os.makedirs(folder)
    rows = BYTES // SIZES[dtype] // columns
    lines = ["import torch", "", "class GraphModule(torch.nn.Module):", "    def forward(self, " + ", ".join(inputs) + "):"]
    lines += [f"        tmp_{i} = {s.format(dtype='torch.' + dtype)}" for i, s in enumerate(statements)]
    lines += [f"        return (tmp_{len(statements) - 1},)", ""]
    with open(os.path.join(folder, "model.py"), "w") as f:
        f.write("\n".join(lines))
    with open(os.path.join(folder, "weight_meta.py"), "w") as f:
        for name in inputs:
            shape = [rows, columns] if name in "xy" else [columns]
            f.write(f"class Program_weight_tensor_meta_{name}:\n\tname = \"{name}\"\n\tshape = {shape}\n\tdtype = \"torch.{dtype}\"\n"
                    "\tdevice = \"cuda\"\n\tmean = 0.1\n\tstd = 1.0\n\tdata = None\n\n")


def run(*command):
    """What it prints; a task that is not right (1) is still a result."""
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if ran.returncode > 1:
        raise RuntimeError((ran.stderr.strip().splitlines() or [f"exit {ran.returncode}"])[-1])
    return ran.stdout


def evaluated(passnet, graph, *candidate):
    return json.loads(run(passnet, "eval", graph, *candidate, *EVAL))["graphs"][0]


def times(record, side):
    """Microseconds: call after call, and with the cache emptied before each."""
    return [of["gpu"]["median"] * 1e3 for of in (record[side]["warm"], record[side])]


def main():
    passnet, names = sys.argv[1], [a for a in sys.argv[2:] if a != "--measure"] or list(GRAPHS)
    choice = [] if "--measure" in sys.argv else ["--no-measure"]
    shares = {}
    with tempfile.TemporaryDirectory() as temp:
        graph = os.path.join(temp, "graph")
        write_graph(graph, 1024, ["x.clone()"], "x", "float32")
        copy, copy_cold = times(evaluated(passnet, graph, "--candidate", "eager"), "eager")
    print(f"copy of 256 MiB: {copy:.1f} us, {2 * BYTES / copy * 1e-6:.2f} TB/s; cache emptied before: {copy_cold:.1f} us")
    print(f"{'graph':26} {'dtype':9} {'eager us':>9} {'pass us':>9} {'TB/s':>6} {'of a copy':>9} {'emptied':>9}")
    for name in names:
        columns, statements, inputs, dtypes, moved = GRAPHS[name]
        for dtype in dtypes:
            with tempfile.TemporaryDirectory() as temp:
                graph, passes = os.path.join(temp, "graph"), os.path.join(temp, "passes")
                write_graph(graph, columns, statements, inputs, dtype)
                try:
                    run(passnet, "author", graph, "--device", "cuda", *choice, "--all", "-o", passes)
                    record = evaluated(passnet, graph, "--passes", passes)
                    (eager, _), (ours, cold) = (times(record, side) for side in ("eager", "compiled"))
                except (RuntimeError, ValueError, LookupError) as e:
                    print(f"{name:26} {dtype:9} {e!r:.100}", flush=True)
                    continue
                shares[f"{name} {dtype}"] = share = moved / 2 * copy / ours
                print(f"{name:26} {dtype:9} {eager:9.1f} {ours:9.1f} {moved * BYTES / ours * 1e-6:6.2f} {share:9.1%} "
                      f"{moved / 2 * copy_cold / cold:9.1%}  {record['status']}", flush=True)
    print(f"{sum(s >= 0.9 for s in shares.values())} of {len(shares)} at 90 % of the copy or more; least: " +
          ", ".join(f"{n} {s:.1%}" for n, s in sorted(shares.items(), key=lambda x: x[1])[:4]))


if __name__ == "__main__":
    main()

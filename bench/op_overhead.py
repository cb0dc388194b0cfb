#!/usr/bin/env python3
"""Overhead of one operator in a run: our interpreter against Python eager, both beyond the bare ATen call.

    op_overhead.py BENCH_BINARY

Makes graphs of 200 equal operators on tensors of 8 elements, where the kernel's own work is nothing. Both sides are timed
in turn, several rounds; the table holds medians in ns an operator.
"""
import os, statistics, subprocess, sys, tempfile, time
import torch

COUNT, ROUNDS = 200, 5
OPERATORS = {
    "relu": "torch.nn.functional.relu({x}, inplace = False)",
    "add": "{x} + in_1",
    "mul_scalar": "{x} * 0.5",
    "transpose": "{x}.transpose(0, 1)",
    "softmax": "torch.nn.functional.softmax({x}, dim = -1)",
}


def write_graph(folder, expression):
    os.makedirs(folder)
    lines, x = [], "in_0"
    for i in range(COUNT):
        square = expression.format(x=x)
        lines.append(f"        tmp_{i} = {square}")
        x = f"tmp_{i}"
    with open(os.path.join(folder, "model.py"), "w") as f:
        f.write("import torch\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, in_0, in_1):\n" + "\n".join(lines) + f"\n        return ({x},)\n")
    with open(os.path.join(folder, "weight_meta.py"), "w") as f:
        for i in range(2):
            f.write(f'class Meta_{i}:\n    name = "in_{i}"\n    shape = {[2, 4]}\n    dtype = "torch.float32"\n    device = "cpu"\n    mean = 0.0\n    std = 1.0\n\n')


def python_side(folder):
    scope = {}
    exec(open(os.path.join(folder, "model.py")).read(), scope)
    model, args = scope["GraphModule"](), [torch.randn(2, 4), torch.randn(2, 4)]
    times = []
    with torch.no_grad():
        for i in range(220):
            start = time.perf_counter()
            model(*args)
            if i >= 20:
                times.append((time.perf_counter() - start) / COUNT * 1e9)
    return statistics.median(times)


def main():
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as work:
        folders = {name: os.path.join(work, name) for name in OPERATORS}
        for name, expression in OPERATORS.items():
            write_graph(folders[name], expression)
        ours, floor, python = {n: [] for n in OPERATORS}, {n: [] for n in OPERATORS}, {n: [] for n in OPERATORS}
        for _ in range(ROUNDS):
            out = subprocess.run([sys.argv[1], *folders.values()], capture_output=True, text=True, check=True).stdout
            for line in out.splitlines():
                name, kind, ns = line.split("\t")
                (ours if kind == "eager" else floor)[name].append(float(ns))
            for name in OPERATORS:
                python[name].append(python_side(folders[name]))
    print(f"{'ns an operator':<14} {'passnet':>9} {'Python':>9} {'bare ATen':>10} {'overhead':>9} {'Python overhead':>16} {'ratio':>6}")
    for name in OPERATORS:
        a, b, c = (statistics.median(v[name]) for v in (ours, python, floor))
        print(f"{name:<14} {a:>9.0f} {b:>9.0f} {c:>10.0f} {a - c:>9.0f} {b - c:>16.0f} {(a - c) / (b - c):>6.2f}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Kernels of bench/tiles against C++ eager, TorchInductor and copy_: tiles.py BINARY [--no-inductor] [CASE ...]

For 1 and 2 threads runs BINARY (bench_tiles) and, on the same shapes, torch.compile of the case's model.py; prints a table of
ratios: above 1 means ours is faster, "of copy" is our time over that of copy_ of as many bytes.
"""
import glob, importlib.util, json, os, re, statistics, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))


def inductor_us(folder, sizes, threads):
    import torch

    torch.set_num_threads(threads)
    torch._dynamo.reset()
    spec = importlib.util.spec_from_file_location("model", os.path.join(folder, "model.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    inputs = []
    for text in sizes.split(";"):
        dtype, shape, limit = re.match(r"\s*(\w+)\[([\d, ]+)\](?:<(\d+))?", text).groups()
        shape = [int(s) for s in shape.split(",")]
        inputs.append(torch.randint(int(limit), shape) if limit else torch.randn(shape, dtype=getattr(torch, dtype)))
    with torch.no_grad():
        call = torch.compile(module.GraphModule(), dynamic=False)
        for _ in range(5):
            call(*inputs)
        times, start = [], time.perf_counter()
        while len(times) < 10 or (len(times) < 400 and time.perf_counter() - start < 0.4):
            begin = time.perf_counter()
            call(*inputs)
            times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times)


def main():
    binary, *cases = [a for a in sys.argv[1:] if not a.startswith("--")]
    cases = cases or sorted(d for d in glob.glob(os.path.join(HERE, "tiles", "*")) if os.path.isdir(d))
    with_inductor = "--no-inductor" not in sys.argv
    print(f"{'case':<12} {'sizes':<26} {'threads':>7} {'ours us':>10} {'eager/ours':>10} {'inductor/ours':>13} {'of copy':>8} {'max diff':>9}")
    for threads in (1, 2):
        out = subprocess.run([binary, str(threads), *cases], check=True, capture_output=True, text=True).stdout
        for row in map(json.loads, out.splitlines()):
            inductor = f"{inductor_us(row['case'], row['sizes'], threads) / row['ours_us']:13.2f}" if with_inductor else f"{'':>13}"
            shape = re.match(r"\s*(?:float32|int64)?(\w*\[.*?\])", row["sizes"]).group(1)
            print(f"{os.path.basename(row['case']):<12} {shape:<26} {threads:>7} {row['ours_us']:10.1f} {row['eager_us'] / row['ours_us']:10.2f} {inductor} "
                  f"{row['ours_us'] / row['copy_us']:8.2f} {row['max_diff']:9.1e}", flush=True)


main()

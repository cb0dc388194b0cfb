#!/usr/bin/env python3
"""Kernels of kernels.py on a GPU: PassNet's code and Triton's for the same source, timed alike (events, cold L2).

    kernels_bench.py PASSNET [NAME ...]

A row a family: microseconds of both, Triton / ours, bandwidth or rate of ours. The last rows: a copy of the same size by the driver, and the
worst ratios. Needs torch with CUDA; without Triton only ours is shown."""
import os, statistics, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
M = 1 << 20
BIG = 64 * M  # elements of float32: 256 MiB


def elementwise(n, block=1024):
    return (n + block - 1) // block,


# name: kernel, arguments (dtype and elements, or a number), constexprs, grid, warps, bytes moved, flops
FAMILIES = {
    "add f32": ("add", [("float32", BIG)] * 3 + [BIG], {"BLOCK": 1024}, elementwise(BIG), 4, 12 * BIG, 0),
    "add f16": ("add", [("float16", 2 * BIG)] * 3 + [2 * BIG], {"BLOCK": 1024}, elementwise(2 * BIG), 4, 12 * BIG, 0),
    "add f32 odd size": ("add", [("float32", BIG)] * 3 + [BIG - 3], {"BLOCK": 1024}, elementwise(BIG), 4, 12 * BIG, 0),
    "gelu f32": ("gelu", [("float32", BIG)] * 2 + [BIG], {"BLOCK": 1024}, elementwise(BIG), 4, 8 * BIG, 0),
    "gelu bf16": ("gelu", [("bfloat16", 2 * BIG)] * 2 + [2 * BIG], {"BLOCK": 2048}, elementwise(2 * BIG, 2048), 4, 8 * BIG, 0),
    "silu mul f16": ("silu_mul", [("float16", 2 * BIG)] * 3 + [2 * BIG], {"BLOCK": 1024}, elementwise(2 * BIG), 4, 12 * BIG, 0),
    "scale channels": ("scale_channels", [("float32", BIG), ("float32", 256), ("float32", 256), ("float32", BIG), BIG, 3136, 256],
                       {"BLOCK": 1024}, elementwise(BIG), 4, 8 * BIG, 0),
    "softmax 1024 f32": ("softmax", [("float32", BIG)] * 2 + [1024], {"BLOCK": 1024}, (BIG // 1024,), 4, 8 * BIG, 0),
    "softmax 4000 f32": ("softmax", [("float32", BIG)] * 2 + [4000], {"BLOCK": 4096}, (BIG // 4000,), 4, 8 * BIG, 0),
    "softmax 8192 f16": ("softmax", [("float16", 2 * BIG)] * 2 + [8192], {"BLOCK": 8192}, (BIG // 4096,), 8, 8 * BIG, 0),
    "layer norm 768 f32": ("layer_norm", [("float32", BIG), ("float32", 768), ("float32", 768), ("float32", BIG), 768, 1e-5],
                           {"BLOCK": 1024}, (BIG // 768,), 4, 8 * BIG, 0),
    "layer norm 4096 bf16": ("layer_norm", [("bfloat16", 2 * BIG), ("bfloat16", 4096), ("bfloat16", 4096), ("bfloat16", 2 * BIG), 4096, 1e-5],
                             {"BLOCK": 4096}, (2 * BIG // 4096,), 4, 8 * BIG, 0),
    "rms norm loop 8192": ("rms_norm_loop", [("bfloat16", 2 * BIG), ("bfloat16", 8192), ("bfloat16", 2 * BIG), 8192, 1e-5],
                           {"BLOCK": 2048}, (2 * BIG // 8192,), 4, 8 * BIG, 0),
    "row sums 512": ("row_sums", [("float32", BIG), ("float32", BIG // 512), BIG // 512, 512], {"ROWS": 8, "BLOCK": 512}, (BIG // 4096,), 4,
                     4 * BIG, 0),
    "column sums": ("column_sums", [("float32", BIG), ("float32", 65536), 1024, 65536], {"ROWS": 32, "BLOCK": 128}, (512,), 4, 4 * BIG, 0),
    "transpose f32": ("transpose", [("float32", BIG)] * 2 + [8192, 8192], {"R": 64, "C": 64}, (128, 128), 4, 8 * BIG, 0),
    "transpose f16": ("transpose", [("float16", BIG)] * 2 + [8192, 8192], {"R": 64, "C": 64}, (128, 128), 4, 4 * BIG, 0),
    "argmax 2048": ("argmax_rows", [("float32", BIG), ("int32", BIG // 2048), 2048], {"BLOCK": 2048}, (BIG // 2048,), 4, 4 * BIG, 0),
    "cumsum 1024": ("cumsum_rows", [("float32", BIG)] * 2 + [1024], {"BLOCK": 1024}, (BIG // 1024,), 4, 8 * BIG, 0),
    "embedding 1024": ("embedding", [("int64", 65536), ("float32", 32 * M), ("float32", BIG), 1024], {"BLOCK": 1024}, (65536,), 4, 4 * BIG, 0),
    "average pool": ("average_pool", [("float32", BIG), ("float32", BIG // 4), 256, 256], {"BLOCK": 1024}, (1024, 16), 4, 5 * BIG, 0),
    "matmul f16 4096": ("matmul", [("float16", 16 * M)] * 3 + [4096] * 3, {"BM": 128, "BN": 128, "BK": 64}, (32, 32), 8, 0, 2 * 4096**3),
    "matmul bf16 2048": ("matmul", [("bfloat16", 4 * M)] * 3 + [2048] * 3, {"BM": 64, "BN": 128, "BK": 64}, (32, 16), 4, 0, 2 * 2048**3),
    "matmul tf32 2048": ("matmul", [("float32", 4 * M)] * 3 + [2048] * 3, {"BM": 64, "BN": 64, "BK": 32}, (32, 32), 4, 0, 2 * 2048**3),
    "attention f16": ("attention", [("float16", 32 * 2048 * 64)] * 4 + [2048, 0.125], {"BM": 64, "BN": 64, "D": 64}, (32, 32), 4, 0,
                      4 * 32 * 2048 * 2048 * 64),
}


def request(name, fill):
    """What `passnet tile` takes for a family: kernel, --args with tensors filled that way, --grid, --num-warps."""
    kernel, arguments, constexprs, grid, warps, _, _ = FAMILIES[name]
    with open(os.path.join(HERE, "kernels.py")) as f:
        source = f.read()
    head = source[source.index(f"def {kernel}("):]
    names = [p.split(":")[0].strip() for p in head[head.index("(") + 1:head.index("):")].split(",")]
    parts = [f"{n}={fill}({a[0]}[{a[1]}])" if isinstance(a, tuple) else f"{n}={a!r}" for n, a in zip(names, arguments)]
    return kernel, ", ".join(parts + [f"{k}={v}" for k, v in constexprs.items()]), ",".join(map(str, grid)), warps


def ours(passnet, name):
    kernel, arguments, grid, warps = request(name, "zeros")
    command = [passnet, "tile", "time", os.path.join(HERE, "kernels.py"), "--kernel", kernel, "--args", arguments, "--grid", grid,
               "--num-warps", str(warps), "--fp-fusion"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if ran.returncode:
        return None, ran.stderr.strip().splitlines()[0] if ran.stderr else f"exit {ran.returncode}"
    return float(ran.stdout.split()[0]), ""


def timed(call, runs=50):
    import torch
    flush = torch.empty(96 * M, dtype=torch.int32, device="cuda")
    times = []
    for i in range(runs):
        flush.zero_()
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        call()
        b.record()
        b.synchronize()
        times.append(a.elapsed_time(b) * 1e3)
    return statistics.median(times)


def theirs(module, kernel, arguments, constexprs, grid, warps):
    import torch
    tensors = [torch.zeros(a[1], dtype=getattr(torch, a[0]), device="cuda") if isinstance(a, tuple) else a for a in arguments]
    function = getattr(module, kernel)
    run = lambda: function[grid](*tensors, **constexprs, num_warps=warps)
    run()
    return timed(run)


def main():
    import torch
    passnet, names = sys.argv[1], sys.argv[2:] or list(FAMILIES)
    try:
        sys.path.insert(0, HERE)
        import kernels
    except ImportError:
        kernels = None
    print(f"{'family':22} {'ours us':>9} {'triton us':>9} {'triton/ours':>11} {'ours':>14}")
    ratios = {}
    for name in names:
        kernel, arguments, constexprs, grid, warps, moved, flops = FAMILIES[name]
        mine, why = ours(passnet, name)
        other = None
        if kernels:
            try:
                other = theirs(kernels, kernel, arguments, constexprs, grid, warps)
            except Exception as e:  # of Triton: shown, the rest goes on
                why += f" triton: {type(e).__name__}"
        rate = "" if not mine else f"{moved / mine * 1e-6:.2f} TB/s" if moved else f"{flops / mine * 1e-6:.1f} TFLOP/s"
        if mine and other:
            ratios[name] = other / mine
        print(f"{name:22} {mine or 0:9.1f} {other or 0:9.1f} {ratios.get(name, 0):11.2f} {rate:>14} {why}", flush=True)
    a = torch.zeros(BIG, device="cuda")
    b = torch.empty_like(a)
    us = timed(lambda: b.copy_(a))
    print(f"copy of 256 MiB: {us:.1f} us, {8 * BIG / us * 1e-6:.2f} TB/s")
    if ratios:
        print("worst: " + ", ".join(f"{n} {r:.2f}" for n, r in sorted(ratios.items(), key=lambda x: x[1])[:5]))


if __name__ == "__main__":
    main()

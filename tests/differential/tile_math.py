#!/usr/bin/env python3
"""Mathematics of compiled kernels beside ATen's: the largest error in units of the last place of float32, against float64.

    tile_math.py TOOL [--count N]

TOOL is tile_run_tool. A function's largest error may be above 1 only where ATen's is. Prints a row a function, then `N passed, N failed`.
"""
import argparse, math, os, sys, tempfile

import numpy as np
import torch

from tile_cases import Buffer, Case, zeros
from tile_run import job, result, run_ours

BOUND = 1.0
# name: the call, torch's function, the smallest and the largest argument
FUNCTIONS = {
    "exp": ("tl.exp(x)", torch.exp, -87, 88),
    "exp2": ("tl.exp2(x)", torch.exp2, -125, 127),
    "log": ("tl.log(x)", torch.log, 1e-30, 1e30),
    "log2": ("tl.log2(x)", torch.log2, 1e-30, 1e30),
    "log near 1": ("tl.log(x)", torch.log, 0.5, 2),
    "log2 near 1": ("tl.log2(x)", torch.log2, 0.5, 2),
    "sin": ("tl.sin(x)", torch.sin, -10, 10),
    "cos": ("tl.cos(x)", torch.cos, -10, 10),
    "sin to 5000": ("tl.sin(x)", torch.sin, -5000, 5000),
    "cos to 5000": ("tl.cos(x)", torch.cos, -5000, 5000),
    "sin beyond": ("tl.sin(x)", torch.sin, 9000, 1e6),
    "tanh": ("libdevice.tanh(x)", torch.tanh, -10, 10),
    "erf": ("tl.erf(x)", torch.erf, -5, 5),
    "sqrt": ("tl.sqrt(x)", torch.sqrt, 0, 1e20),
    "rsqrt": ("tl.rsqrt(x)", torch.rsqrt, 1e-20, 1e20),
    "sigmoid": ("tl.sigmoid(x)", torch.sigmoid, -30, 30),
    "log1p": ("libdevice.log1p(x)", torch.log1p, -0.9, 100),
    "expm1": ("libdevice.expm1(x)", torch.expm1, -20, 80),
    "log10": ("libdevice.log10(x)", torch.log10, 1e-30, 1e30),
    "tan": ("libdevice.tan(x)", torch.tan, -10, 10),
    "asin": ("libdevice.asin(x)", torch.asin, -1, 1),
    "acos": ("libdevice.acos(x)", torch.acos, -1, 1),
    "atan": ("libdevice.atan(x)", torch.atan, -100, 100),
    "sinh": ("libdevice.sinh(x)", torch.sinh, -80, 80),
    "cosh": ("libdevice.cosh(x)", torch.cosh, -80, 80),
    "asinh": ("libdevice.asinh(x)", torch.asinh, -1e10, 1e10),
    "acosh": ("libdevice.acosh(x)", torch.acosh, 1, 1e10),
    "atanh": ("libdevice.atanh(x)", torch.atanh, -0.9999, 0.9999),
    "erfc": ("libdevice.erfc(x)", torch.erfc, -3, 9),
    "cbrt": ("libdevice.cbrt(x)", lambda x: torch.from_numpy(np.cbrt(x.numpy())), -1e30, 1e30),
    "pow": ("libdevice.pow(x, 1.75)", lambda x: x**1.75, 1e-10, 1e10),
    "pow 3": ("libdevice.pow(x, 3.0)", lambda x: x**3, -1e10, 1e10),
}


def arguments(low, high, count):
    """Half of them evenly spread, half by magnitude."""
    random = np.random.default_rng(1)
    even = random.uniform(low, high, count // 2)
    if low > 0:
        other = np.exp(random.uniform(math.log(low), math.log(high), count // 2))
    else:
        other = np.exp(random.uniform(-18, math.log(high), count // 2)) * (random.choice([-1, 1], count // 2) if low < 0 else 1)
    return np.clip(np.concatenate([even, other]), low, high).astype(np.float32)


def error(got, exact):
    """In units of the last place of the exact result."""
    unit = np.ldexp(1.0, np.maximum(np.frexp(exact)[1] - 24, -149))
    return np.max(np.abs(got.astype(np.float64) - exact) / unit)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tool")
    p.add_argument("--count", type=int, default=1 << 18, help="arguments of each function")
    opt = p.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        cases, jobs = [], []
        for i, (name, (call, _, low, high)) in enumerate(FUNCTIONS.items()):
            text = f"@triton.jit\ndef kernel(x_ptr, y_ptr, B: tl.constexpr):\n    o = tl.program_id(0) * B + tl.arange(0, B)\n    x = tl.load(x_ptr + o)\n    tl.store(y_ptr + o, {call})\n"
            x = arguments(low, high, opt.count)
            case = Case(name, text, {"x_ptr": Buffer("float32", x), "y_ptr": zeros("float32", opt.count), "B": ("constexpr", 1024)}, (opt.count // 1024, 1, 1))
            file, data = os.path.join(folder, f"k{i}.py"), os.path.join(folder, f"k{i}.data")
            with open(file, "w") as f:
                f.write(case.source)
            cases.append((case, data))
            jobs.append(job(case, file, data))
        answers = run_ours(opt.tool, jobs, folder, ["compiled"])
        for case, data in cases:
            if answers[case.name]["compiled"]:
                print(f"{case.name}: {answers[case.name]['compiled']}")
                failed += 1
                continue
            x = torch.from_numpy(case.arguments["x_ptr"].values)
            of_torch = FUNCTIONS[case.name][1]
            exact = of_torch(x.double()).numpy()
            ours, aten = error(result(case, data, "compiled")[1], exact), error(of_torch(x).numpy(), exact)
            right = ours <= max(aten, BOUND)
            failed += not right
            print(f"{case.name:12} {ours:6.3f} ATen {aten:10.3f}{'' if right else '  WRONG'}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

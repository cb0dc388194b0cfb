#!/usr/bin/env python3
"""The correctness sweep against torch.allclose: tensors of every dtype whose differences lie at the tolerances' edges.

    correctness.py --tool build/compare_tool [--seed 0] [--cases 40]

Ends with `N passed, N failed`.
"""
import argparse, io, random, subprocess, sys
import torch

SLOPES = {"float16": (3 / 5, 1), "bfloat16": (1.796 / 5, 1), "float32": (5.886 / 5, 1), "float64": (7 / 5, 7 / 5)}
RANGE = range(-10, 6)


def law(dtype, t):
    """(rtol, atol) as the format defines them: powers of ten rounded to three digits."""
    return tuple(float(f"{10 ** (slope * t):.2E}") for slope in SLOPES[dtype])


def tightest(dtype, want, got):
    if dtype not in SLOPES:
        return -10 if torch.equal(want, got) else 6
    for t in RANGE:
        rtol, atol = law(dtype, t)
        if torch.allclose(got, want, rtol=rtol, atol=atol):
            return t
    return 6


def case(rng, name, index):
    """A tensor and one near it: noise of the size that some t allows, now and then inf, nan or equal."""
    dtype = getattr(torch, name)
    n = rng.choice([0, 1, 5, 64, 1500])
    if name not in SLOPES:
        want = torch.randint(0, 2 if name == "bool" else 100, (n,)).to(dtype)
        got = want.clone()
        if n and index % 2:
            i = rng.randrange(n)
            got[i] = not got[i] if name == "bool" else 101
        return want, got
    want = (torch.randn(n, dtype=torch.float64) * 10 ** rng.uniform(-6, 3)).to(dtype)
    rtol, atol = law(name, rng.choice(RANGE))
    noise = (atol + rtol * want.double().abs()) * (torch.rand(n, dtype=torch.float64) * 2 - 1) * rng.choice([0.5, 1, 1.0005, 1.1])
    if n and index % 3 == 0:  # exactly at the edge
        noise[rng.randrange(n)] = (atol + rtol * want.double().abs())[0]
    got = (want.double() + noise).to(dtype)
    if n and index % 7 == 0:
        i = rng.randrange(n)
        want[i], got[i] = rng.choice([(float("inf"), float("inf")), (float("inf"), 1.0), (1.0, float("inf")), (float("nan"), float("nan")),
                                      (float("nan"), 1.0), (-float("inf"), float("inf")), (1.0, float("nan"))])
    return want, got


def raw(tensor):
    return tensor.contiguous().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tool", required=True)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--cases", type=int, default=40)
    opt = p.parse_args()
    rng = random.Random(opt.seed)
    torch.manual_seed(opt.seed)
    cases, text = [], io.BytesIO()
    for name in [*SLOPES, "int64", "int32", "int16", "int8", "uint8", "bool"]:
        for index in range(opt.cases):
            want, got = case(rng, name, index)
            cases.append((name, index, want, got))
            text.write(f"{name} {want.numel()}\n".encode() + raw(want) + raw(got))
    lines = subprocess.run([opt.tool], input=text.getvalue(), capture_output=True, check=True).stdout.decode().splitlines()
    passed = failed = 0
    for line in lines[:64]:
        name, t, rtol, atol = line.split()
        right = (float(rtol), float(atol)) == law(name, int(t))
        passed, failed = passed + right, failed + (not right)
        if not right:
            print(f"FAILED law {line}, expected {law(name, int(t))}")
    for (name, index, want, got), line in zip(cases, lines[64:], strict=True):
        t, diff = line.split()[:2]
        expected = tightest(name, want, got)
        unequal = want != got
        worst = (want.double() - got.double()).abs()[unequal].max().item() if unequal.any() else 0.0
        worst = float("inf") if worst != worst or (unequal & (want.isnan() | got.isnan())).any() else worst
        right = int(t) == expected and float(diff) == worst
        passed, failed = passed + right, failed + (not right)
        if not right:
            print(f"FAILED {name} case {index}: tightest {t}, torch {expected}; max_diff {diff}, torch {worst}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Lanes of the CPU prelude beside its scalars (tile_lanes.cpp), compiled for every width of vectors that this machine has.

    tile_lanes.py COMPILER [--seed N]

By COMPILER and by clang++, where that is installed: kernels may be compiled by either.

Ends with `N passed, N failed`.
"""
import argparse, itertools, os, platform, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# As kernels are compiled (src/tile_cpu/compile.cpp).
FLAGS = ["-std=c++20", "-O2", "-fwrapv", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-w", "-Wno-psabi"]
FLAGS_GCC = ["-ftree-vectorize", "-fvect-cost-model=dynamic"]


def targets():
    if platform.machine() != "x86_64":
        return ["-mcpu=native"]
    features = next(line for line in open("/proc/cpuinfo") if line.startswith("flags")).split()
    return ["-march=x86-64"] + ["-march=x86-64-v3"] * ("avx2" in features) + ["-march=native"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("compiler")
    p.add_argument("--seed", type=int, default=1)
    opt = p.parse_args()
    passed = failed = 0
    compilers = [opt.compiler] + ["clang++"] * (shutil.which("clang++") is not None)
    for compiler, target in itertools.product(compilers, targets()):
        label = f"{os.path.basename(compiler)} {target}"
        flags = FLAGS + FLAGS_GCC * ("clang" not in os.path.basename(compiler))
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "lanes")
            source = [os.path.join(HERE, "tile_lanes.cpp"), "-I" + os.path.join(os.path.dirname(HERE), "src")]
            built = subprocess.run([compiler, *flags, target, *source, "-o", program], capture_output=True, text=True)
            if built.returncode:
                print(f"{label}: {built.stderr}")
                failed += 1
                continue
            out = subprocess.run([program, str(opt.seed)], capture_output=True, text=True).stdout.splitlines()
        print(*[f"{label}: {line}" for line in out], sep="\n")
        words = out[-1].split() if out else []
        if len(words) != 4:
            failed += 1
            continue
        passed, failed = passed + int(words[0]), failed + int(words[2])
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Running all of samples/ once: `passnet graph run` against Python torch in one process, start and import included.

    run_samples.py BINARY [LIST ROOT]

The two are run in turn, several rounds, one thread each; the table holds medians.
"""
import os, statistics, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 5


def timed(command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def main():
    binary = sys.argv[1]
    names, root = sys.argv[2:4] if len(sys.argv) > 3 else (os.path.join(HERE, "../samples/all.txt"), os.path.join(HERE, "../samples"))
    where = ["--list", names, "--root", root]
    ours = [binary, "graph", "run", "--json", "--quiet", "--threads", "1", *where]
    python = [sys.executable, os.path.join(HERE, "../tests/differential/reference.py"), *where]
    times = [(timed(ours), timed(python)) for _ in range(ROUNDS + 1)][1:]
    a, b = (statistics.median(t[i] for t in times) for i in range(2))
    print(f"{len(open(names).read().split())} graphs, whole process: passnet {a:.2f} s, Python {b:.2f} s, ratio {a / b:.2f}")


if __name__ == "__main__":
    main()

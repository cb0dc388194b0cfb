#!/usr/bin/env python3
"""The real graphs of PassBench, where the corpus lies beside the project: they are read, printed and read again, and run
against Python torch, bit for bit.

    passbench.py BINARY CORPUS [--cache FILE]

Without the corpus it says so and skips. PASSNET_ALL=1 runs every graph with inputs under 64 MB instead of ci_list.txt.
Ends with `N passed, N failed` (`, N skipped`).
"""
import argparse, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("binary")
    p.add_argument("corpus")
    p.add_argument("--cache")
    opt = p.parse_args()
    index = os.path.join(opt.corpus, "index.tsv")
    if not os.path.exists(index):
        print(f"no corpus at {opt.corpus}: nothing is run")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    rows = [line.rstrip("\n").split("\t") for line in open(index)]
    size, folder = rows[0].index("input_bytes"), rows[0].index("dir")
    with tempfile.TemporaryDirectory() as work:
        def listed(name, folders):
            path = os.path.join(work, name)
            with open(path, "w") as f:
                f.write("\n".join(folders) + "\n")
            return path

        every = listed("every.txt", [r[folder] for r in rows[1:]])
        checked = subprocess.run([opt.binary, "graph", "check", "--round-trip", "--quiet", "--list", every, "--root", opt.corpus], capture_output=True, text=True)
        print(checked.stdout + checked.stderr, end="")
        found = re.search(r"(\d+) graphs are right", checked.stdout)
        right = int(found[1]) if found else 0
        graphs = os.path.join(opt.corpus, "ci_list.txt")
        if os.environ.get("PASSNET_ALL"):
            graphs = listed("all.txt", [r[folder] for r in rows[1:] if int(r[size]) < 64 << 20])
        command = [sys.executable, os.path.join(HERE, "differential", "run.py"), opt.binary, "--graphs", graphs, "--root", opt.corpus, "--timeout", "600"]
        ran = subprocess.run(command + (["--cache", opt.cache] if opt.cache else []), stdout=subprocess.PIPE, text=True)
    *lines, last = ran.stdout.rstrip("\n").split("\n")
    print("\n".join(lines))
    counts = re.fullmatch(r"(\d+) passed, (\d+) failed", last)
    passed, failed = (int(counts[1]), int(counts[2])) if counts else (0, 1)
    failed += len(rows) - 1 - right
    print(f"{passed + right} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

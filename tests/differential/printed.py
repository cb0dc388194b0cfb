#!/usr/bin/env python3
"""Printed graphs give the same bits: each graph is printed from the IR in both styles, read again and run.

    printed.py BINARY --graphs LIST --root DIR

Ends with `N passed, N failed`.
"""
import argparse, json, os, shutil, subprocess, sys, tempfile


def run(binary, folders, work):
    names = os.path.join(work, "list.txt")
    with open(names, "w") as f:
        f.write("\n".join(folders) + "\n")
    out = subprocess.run([binary, "graph", "run", "--json", "--quiet", "--threads", "1", "--list", names], capture_output=True, text=True)
    return [json.loads(line).get("outputs") for line in out.stdout.splitlines()]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("binary")
    p.add_argument("--graphs", required=True)
    p.add_argument("--root", required=True)
    opt = p.parse_args()
    binary = os.path.abspath(opt.binary)
    graphs = [os.path.abspath(os.path.join(opt.root, line.strip())) for line in open(opt.graphs) if line.strip()]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        want = run(binary, graphs, work)
        for style in ("plain", "raw"):
            folders = []
            for i, graph in enumerate(graphs):
                folder = os.path.join(work, f"{style}_{i}")
                os.mkdir(folder)
                for name in ("weight_meta.py", "input_meta.py"):
                    if os.path.exists(os.path.join(graph, name)):
                        shutil.copy(os.path.join(graph, name), folder)
                text = subprocess.run([binary, "graph", "show", "--style", style, graph], capture_output=True, text=True).stdout
                with open(os.path.join(folder, "model.py"), "w") as f:
                    f.write(text)
                folders.append(folder)
            for graph, a, b in zip(graphs, want, run(binary, folders, work)):
                same = a is not None and a == b
                passed, failed = passed + same, failed + (not same)
                if not same:
                    print(f"FAILED {graph} printed in style {style}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The example pass folders, where they lie beside the project: each is loaded and applied to every graph of its task, and
matches where real torch.fx said so (index.tsv); those that must fail do, for the reason they name.

    examples.py BINARY SHARED

Ends with `N passed, N failed` (`, N skipped`).
"""
import glob, json, os, re, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

# What the folders that must not match, or not load, have to say.
REASONS = {"070_bad_not_contained": {"NOT_CONTAINED"}, "144_bad_no_match": {"ATTR_MISMATCH", "ARG_MISMATCH"}}
REFUSED = {"162_bad_torch_call": "error[policy]: call of 'torch.relu'"}


def expected_misses(verdict):
    """{dtype: how many graphs do not match} of a row of index.tsv."""
    out = {}
    for part in verdict.split("; "):
        dtype, counts = part.split(": ")
        out[dtype] = sum(int(n) for n, what in (c.split(" ", 1) for c in counts.split(", ")) if what == "no match")
    return out


def applied(binary, graph, folder, plan):
    """'match', 'miss' or the error's first line. With `plan` the graph runs, so that the wrapper's plan is recorded too."""
    command = [binary, "pass", "apply", graph, folder, "--output-pass-replacement-func-limit", "0"] + ([] if plan else ["--no-plan"])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return "match"
    return "miss" if "pass_miss" in done.stdout else done.stderr.strip().split("\n")[0]


def main():
    binary, shared = sys.argv[1:3]
    index = os.path.join(shared, "examples", "index.tsv")
    if not os.path.exists(index):
        print(f"no examples at {shared}: nothing is run")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    passed = failed = 0
    for line in open(index).read().splitlines()[1:]:
        name, task, verdict = line.split("\t")[:3]
        folder = os.path.join(shared, "examples", name)
        graphs = sorted(glob.glob(os.path.join(shared, "passbench", f"{int(task):03d}_*", "*", "")))
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda g: applied(binary, g, folder, g in graphs[:2]), graphs))
        wrong = []
        if name in REFUSED:
            wrong = [r for r in results if REFUSED[name] not in r]
        else:
            misses = {}
            for graph, result in zip(graphs, results):
                dtype = os.path.basename(graph.rstrip("/")).split("_")[0]
                misses[dtype] = misses.get(dtype, 0) + (result == "miss")
                if result not in ("match", "miss"):
                    wrong.append(result)
            for dtype, count in expected_misses(verdict).items():
                if misses.get(dtype) != count:
                    wrong.append(f"{dtype}: {misses.get(dtype)} graphs do not match, expected {count}")
        if name in REASONS:
            out = subprocess.run([binary, "match", graphs[0], folder, "--json"], capture_output=True, text=True).stdout
            types = {f["type"] for doc in map(json.loads, out.splitlines()) for f in doc["failures"]}
            if not types & REASONS[name]:
                wrong.append(f"reasons {sorted(types)}, expected one of {sorted(REASONS[name])}")
        passed, failed = passed + (not wrong), failed + bool(wrong)
        for w in wrong[:3]:
            print(f"FAILED {name}: {w}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

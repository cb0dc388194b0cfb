#!/usr/bin/env python3
"""`passnet data cut` on real whole graphs, where the corpus lies beside the project.

    data_cut.py BINARY SHARED

Cuts the ranges that SHARED/passbench/index.tsv names out of SHARED/graphnet (the recorded shapes in float32) and compares
each with the graph that is there by canonical form. A graph that returns the same tensors in another order counts as the
same: the published tool returned them in the order of a Python set. Every cut also reproduces the whole graph's values, bit
for bit, or it is dropped and named here. Without the corpus it says so and skips. Ends with `N passed, N failed`.
"""
import csv, os, re, subprocess, sys, tempfile


def canonical(binary, folder):
    shown = subprocess.run([binary, "graph", "show", "--stage", "canonical", folder], capture_output=True, text=True)
    return shown.stdout if shown.returncode == 0 else f"{folder}: {shown.stderr}"


def without_order(text):
    """The canonical form with the results sorted."""
    *lines, last = text.rstrip("\n").split("\n")
    return lines + sorted(re.findall(r"%\d+", last)[1:])


def main():
    binary, shared = sys.argv[1:3]
    index = os.path.join(shared, "passbench", "index.tsv")
    whole = os.path.join(shared, "graphnet")
    if not (os.path.exists(index) and os.path.isdir(whole)):
        print(f"no corpus at {shared}: nothing is run")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    rows = [r for r in csv.DictReader(open(index), delimiter="\t") if r["dtype"] == "float32" and r["variant"] == "9"]
    rows = [r for r in rows if os.path.exists(os.path.join(whole, r["source"], r["model"], "model.py"))]
    strict, passed, different = 0, 0, []
    with tempfile.TemporaryDirectory() as work:
        ranges = os.path.join(work, "ranges.tsv")
        with open(ranges, "w") as f:
            f.writelines(f"{r['source']}/{r['model']}\t{r['start']}\t{r['end']}\n" for r in rows)
        cut = subprocess.run([binary, "data", "cut", "--ranges", ranges, "--root", whole, "--out", work, "--count", "retraced", "--timeout", "600"], capture_output=True, text=True)
        print(cut.stderr + cut.stdout, end="")
        for r in rows:
            mine = os.path.join(work, r["source"], r["model"], f"{r['start']}_{r['end']}")
            got, want = canonical(binary, mine), canonical(binary, os.path.join(shared, "passbench", r["dir"]))
            strict += got == want
            if without_order(got) == without_order(want):
                passed += 1
            else:
                different.append(f"{r['dir']}: {r['source']}/{r['model']} [{r['start']}, {r['end']})\n{want}--- cut gives\n{got}")
    for text in different:
        print(text)
    print(f"{len(rows)} ranges: {passed} the same canonical form, {strict} of them with the results in the same order")
    print(f"{passed} passed, {len(different)} failed")
    return 1 if different or not rows else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Graphs at other sizes and in half precision against the published ones, where the corpus lies beside the project.

    data_variants.py BINARY SHARED

Every row of SHARED/passbench/index.tsv whose whole graph is in SHARED/graphnet is made again: the whole graph at the row's
variant (`generalise dims`), the row's range (`cut`), the row's dtype (`generalise dtype`); by shapes alone where they can be known. Compared are the
canonical form (results in any order) and the shapes of the inputs. Without the corpus it says so and skips. Ends with
`N passed, N failed`; those of KNOWN are skipped as long as they differ as it says, and fail once they do not.
"""
import csv, os, re, subprocess, sys, tempfile

from data_cut import canonical, without_order


# Rows that are not made here, and why not.
KNOWN = {
    "020_920d8e316f7d/bfloat16_9": "no input is float32",
    "020_920d8e316f7d/float16_9": "no input is float32",
    "144_7b62e1424338/bfloat16_2": "2/model.py: error[io]: cannot open",  # the whole graph has no such variant here
    "144_7b62e1424338/float16_2": "2/model.py: error[io]: cannot open",
    "171_463aa6d19f78/bfloat16_9": "no input is float32",
}


def shapes(folder):
    path = os.path.join(folder, "weight_meta.py")
    return re.findall(r"shape = (.*)", open(path).read()) if os.path.exists(path) else []


def dropped(folder):
    path = os.path.join(folder, "dropped.tsv")
    return open(path).read().splitlines() if os.path.exists(path) else []


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    print(done.stdout, end="")


def main():
    binary, shared = sys.argv[1:3]
    bench, whole = os.path.join(shared, "passbench"), os.path.join(shared, "graphnet")
    if not (os.path.exists(os.path.join(bench, "index.tsv")) and os.path.isdir(whole)):
        print(f"no corpus at {shared}: nothing is run")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    rows = [r for r in csv.DictReader(open(os.path.join(bench, "index.tsv")), delimiter="\t") if os.path.exists(os.path.join(whole, r["source"], r["model"], "model.py"))]
    passed, failed, missing, known = 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as work:
        sized, cuts, typed = (os.path.join(work, name) for name in ("sized", "cuts", "typed"))
        models = sorted({os.path.join(whole, r["source"], r["model"]) for r in rows})
        run(binary, "data", "generalise", "dims", whole, "--out", sized)
        for m in models:  # variant 9 is the graph as it was recorded
            name = os.path.relpath(m, whole)
            os.makedirs(os.path.join(sized, name), exist_ok=True)
            os.symlink(m, os.path.join(sized, name, "9"))
        ranges = sorted({(f"{r['source']}/{r['model']}/{r['variant']}", r["start"], r["end"]) for r in rows})
        with open(os.path.join(work, "ranges.tsv"), "w") as f:
            f.writelines("\t".join(r) + "\n" for r in ranges)
        for metas in ("shapes", "run"):  # the second finds only what the first could not make
            run(binary, "data", "cut", "--ranges", os.path.join(work, "ranges.tsv"), "--root", sized, "--out", cuts, "--count", "retraced", "--metas", metas)
        run(binary, "data", "generalise", "dtype", cuts, "--out", typed, "--check", "shapes")
        for r in rows:
            cut = os.path.join(r["source"], r["model"], r["variant"], f"{r['start']}_{r['end']}")
            mine = os.path.join(cuts, cut) if r["dtype"] == "float32" else os.path.join(typed, cut, r["dtype"])
            theirs = os.path.join(bench, r["dir"])
            if not os.path.exists(os.path.join(mine, "model.py")):
                why = next((l.split("\t", 1)[1].strip() for f in (cuts, typed) for l in dropped(f) if cut in l.split("\t")[0]), "no reason given")
                as_known = r["dir"] in KNOWN and KNOWN[r["dir"]] in why
                known, missing = known + as_known, missing + (not as_known)
                print(f"{r['dir']}: not made ({cut}, {r['dtype']}): {why}")
                continue
            if r["dir"] in KNOWN:
                failed += 1
                print(f"{r['dir']}: is made after all")
                continue
            got, want = canonical(binary, mine), canonical(binary, theirs)
            if without_order(got) == without_order(want) and shapes(mine) == shapes(theirs):
                passed += 1
                continue
            failed += 1
            print(f"{r['dir']}: {cut} in {r['dtype']}, inputs {shapes(theirs)}\n{want}--- made, inputs {shapes(mine)}\n{got}")
    print(f"{len(rows)} graphs: {passed} as published, {failed} others, {missing + known} not made")
    failed += missing
    print(f"{passed} passed, {failed} failed" + (f", {known} skipped" if known else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

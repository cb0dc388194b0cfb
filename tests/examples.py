#!/usr/bin/env python3
"""The example pass folders, where they lie beside the project: each is applied to every graph of its task, compiled, checked,
run and compared with eager. The verdicts are those of real Triton at t = -5 (index.tsv); folders that must fail do, for the
reason they name.

    examples.py BINARY SHARED [NAME ...]

Ends with `N passed, N failed` (`, N skipped`).
"""
import collections, glob, json, os, subprocess, sys

# What the folders that must not match, or not load, have to say.
REASONS = {"070_bad_not_contained": {"NOT_CONTAINED"}, "144_bad_no_match": {"ATTR_MISMATCH", "ARG_MISMATCH"}}
REFUSED = {"162_bad_torch_call": "call of 'torch.relu'"}
# Where one rounding decides, and eager rounds elsewhere on a CPU than on a GPU: right, or wrong by no more than this t allows.
ROUNDING = {
    "059_add_div_layer_norm": ("does not round where eager does; layer_norm of half precision differs between a CPU and a GPU", -3),
    "092_rotate_half": ("a GPU contracts a product and a sum into one rounding, a CPU does not", -5),
    "121_gate_cat_routes": ("eager's float16 on a CPU rounds as the kernel does", -5),
    "180_rope_interleaved_cat": ("eager's half precision on a CPU rounds as the kernel does", -5),
}


def expected(verdict):
    """{dtype: {verdict: count}} of a row of index.tsv."""
    out = {}
    for part in verdict.split("; "):
        dtype, counts = part.split(": ")
        out[dtype] = {what: int(n) for n, what in (c.split(" ", 1) for c in counts.split(", "))}
    return out


def verdict_of(doc):
    if doc["status"] == "pass_miss":
        return "no match"
    return "right" if doc["status"] == "correct" and doc["tightest_t"] <= -5 else "wrong"


def told(doc):
    error = doc.get("error")
    return f"{doc['status']}: {error['message']}" if error else f"{doc['status']}, tightest t {doc['tightest_t']}"


def faults(name, want, docs):
    if name in REFUSED:
        return [told(d) for d in docs if d["status"] != "integrity" or REFUSED[name] not in d["error"]["message"]]
    if name in ROUNDING:
        limit = ROUNDING[name][1]
        return [f"{d['graph']}: {told(d)}" for d in docs if d["tightest_t"] is None or d["tightest_t"] > limit]
    out, got = [], collections.defaultdict(collections.Counter)
    for doc in docs:
        got[os.path.basename(doc["graph"].rstrip("/")).split("_")[0]][verdict_of(doc)] += 1
    for dtype, counts in want.items():
        # Some graphs were not measured on the GPU: those may have any verdict that the others of their dtype have.
        if any(got[dtype][what] < n for what, n in counts.items()) or set(got[dtype]) - set(counts):
            out.append(f"{dtype}: {dict(got[dtype])}, expected {counts}; " + "; ".join(sorted({told(d) for d in docs if verdict_of(d) == "wrong"}))[:600])
    return out


def main():
    binary, shared, *only = sys.argv[1:]
    index = os.path.join(shared, "examples", "index.tsv")
    if not os.path.exists(index):
        print(f"no examples at {shared}: nothing is run")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    passed = failed = 0
    for line in open(index).read().splitlines()[1:]:
        name, task, verdict = line.split("\t")[:3]
        if only and name not in only:
            continue
        folder = os.path.join(shared, "examples", name)
        graphs = sorted(glob.glob(os.path.join(shared, "passbench", f"{int(task):03d}_*", "*", "")))
        command = [binary, "run", *graphs, "--passes", folder, "--json", "--output-pass-replacement-func-limit", "0"]
        done = subprocess.run(command, capture_output=True, text=True)
        docs = [json.loads(text) for text in done.stdout.splitlines()]
        wrong = faults(name, expected(verdict), docs)
        if len(docs) != len(graphs):
            wrong.append(f"{len(docs)} results for {len(graphs)} graphs: {done.stderr.strip()[-300:]}")
        if name in REASONS:
            out = subprocess.run([binary, "match", graphs[0], folder, "--json"], capture_output=True, text=True).stdout
            types = {f["type"] for doc in map(json.loads, out.splitlines()) for f in doc["failures"]}
            if not types & REASONS[name]:
                wrong.append(f"reasons {sorted(types)}, expected one of {sorted(REASONS[name])}")
        passed, failed = passed + (not wrong), failed + bool(wrong)
        for w in wrong[:3]:
            print(f"FAILED {name}: {w}")
        if name in ROUNDING and not wrong:
            print(f"{name}: {ROUNDING[name][0]}")
        sys.stdout.flush()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

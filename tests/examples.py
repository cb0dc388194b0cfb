#!/usr/bin/env python3
"""The example pass folders: each is applied to every graph of its task, compiled, checked, run and compared with eager. Those
that ship (examples/hand) are right. Of those that may lie beside the project the verdicts are real Triton's at t = -5
(index.tsv); folders that must fail do, for the reason they name.

    examples.py BINARY SHARED [--sealed] [NAME ...]

--sealed: judged by `passnet eval` instead of `run`: in sealed workers, on further draws, and timed. Graphs with inputs over 8 MB
are left out, with PASSNET_ALL=1 over 64 MB.
Ends with `N passed, N failed` (`, N skipped`).
"""
import argparse, collections, glob, json, os, subprocess, sys

HAND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "hand")
QUICK = ["--warmup", "1", "--trials", "2", "--budget", "0.05", "--noise-limit", "1000", "--repeats", "0"]

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


def judged(binary, graphs, folder, sealed):
    """A document for each graph (fewer where large ones are left out), and what went to stderr."""
    more = ["--passes", folder, "--json", "--output-pass-replacement-func-limit", "0"]
    if not sealed:
        done = subprocess.run([binary, "run", *graphs, *more], capture_output=True, text=True)
        return [json.loads(text) for text in done.stdout.splitlines()], done.stderr
    more += ["--no-files", *QUICK, "--max-input-mb", "64" if os.environ.get("PASSNET_ALL") else "8"]
    done = subprocess.run([binary, "eval", *graphs, *more], capture_output=True, text=True)
    docs = json.loads(done.stdout)["graphs"] if done.stdout else []
    return [{"tightest_t": None, "error": (d["errors"] or [None])[0], **d} for d in docs], done.stderr


def faults(name, want, docs, some_left_out):
    if name in REFUSED:
        return [told(d) for d in docs if d["status"] != "integrity" or REFUSED[name] not in d["error"]["message"]]
    if name in ROUNDING:
        limit = ROUNDING[name][1]
        return [f"{d['graph']}: {told(d)}" for d in docs if d["tightest_t"] is None or d["tightest_t"] > limit]
    wrong = "; ".join(sorted({told(d) for d in docs if verdict_of(d) == "wrong"}))[:600]
    return [f"{line}; {wrong}" for line in other_verdicts(want, [(d["graph"], verdict_of(d)) for d in docs], some_left_out)]


def other_verdicts(want, verdicts, some_left_out=False):
    """Where the verdicts, (graph, verdict) each, are not those of a row of index.tsv."""
    out, got = [], collections.defaultdict(collections.Counter)
    for graph, verdict in verdicts:
        got[os.path.basename(graph.rstrip("/")).split("_")[0]][verdict] += 1
    for dtype, counts in want.items():
        # Some graphs were not measured on the GPU: those may have any verdict that the others of their dtype have.
        if not some_left_out and any(got[dtype][what] < n for what, n in counts.items()) or set(got[dtype]) - set(counts):
            out.append(f"{dtype}: {dict(got[dtype])}, expected {counts}")
    return out


def examples(shared):
    """(name, pass folder, graphs, what index.tsv says or None: all are right)"""
    samples = os.path.join(HAND, "..", "..", "samples")
    for task in sorted(os.listdir(HAND)):
        yield "hand/" + task, os.path.join(HAND, task), sorted(glob.glob(os.path.join(samples, task, "*", ""))), None
    index = os.path.join(shared, "examples", "index.tsv")
    for line in open(index).read().splitlines()[1:] if os.path.exists(index) else []:
        name, task, verdict = line.split("\t")[:3]
        graphs = sorted(glob.glob(os.path.join(shared, "passbench", f"{int(task):03d}_*", "*", "")))
        yield name, os.path.join(shared, "examples", name), graphs, expected(verdict)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("shared")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--sealed", action="store_true")
    opt = parser.parse_args()
    passed = failed = 0
    statuses = collections.Counter()
    for name, folder, graphs, want in examples(opt.shared):
        if opt.names and name not in opt.names:
            continue
        docs, err = judged(opt.binary, graphs, folder, opt.sealed)
        statuses.update(d["status"] for d in docs)
        if want is None:
            wrong = [f"{d['graph']}: {told(d)}" for d in docs if verdict_of(d) != "right"]
        else:
            wrong = faults(name, want, docs, len(docs) < len(graphs))
        if not docs or not opt.sealed and len(docs) != len(graphs):
            wrong.append(f"{len(docs)} results for {len(graphs)} graphs: {err.strip()[-300:]}")
        if name in REASONS:
            out = subprocess.run([opt.binary, "match", graphs[0], folder, "--json"], capture_output=True, text=True).stdout
            types = {f["type"] for doc in map(json.loads, out.splitlines()) for f in doc["failures"]}
            if not types & REASONS[name]:
                wrong.append(f"reasons {sorted(types)}, expected one of {sorted(REASONS[name])}")
        passed, failed = passed + (not wrong), failed + bool(wrong)
        for w in wrong[:3]:
            print(f"FAILED {name}: {w}")
        if name in ROUNDING and not wrong:
            print(f"{name}: {ROUNDING[name][0]}")
        sys.stdout.flush()
    print("graphs: " + ", ".join(f"{n} {status}" for status, n in statuses.most_common()))
    skipped = not os.path.exists(os.path.join(opt.shared, "examples", "index.tsv"))
    if skipped:
        print(f"no examples at {opt.shared}: only those that ship are run")
    print(f"{passed} passed, {failed} failed" + ", 1 skipped" * skipped)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

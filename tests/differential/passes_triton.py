#!/usr/bin/env python3
"""Pass folders on a GPU, judged by us and by real Triton: the same rewritten graph (`passnet pass apply`) is executed in Python with the
folder's own wrappers and kernels, on the same inputs, and compared with Python eager at t = -5.

    passes_triton.py BINARY SHARED [NAME ...] [--jobs N]

The folders are those of tests/examples.py: examples/hand, and SHARED/examples where it is there. A line for each graph where verdicts
differ, or the last bits of right ones; and one where index.tsv has other verdicts than Triton gives here.
Ends with `N passed, N failed`: graphs.
"""
import argparse, collections, concurrent.futures, importlib, json, os, subprocess, sys, types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import examples

DEVICE = "cuda"

def wrappers(folder):
    """The functions that rewritten graphs call, by name."""
    package = types.ModuleType("pass_dir")
    package.__path__ = [folder]
    sys.modules["pass_dir"] = package
    out = {}
    for stem in json.load(open(os.path.join(folder, "sorted_output_pass_rule_names.json"))):
        wrapper = importlib.import_module(f"pass_dir.{stem}").replacement_func()
        out[wrapper.__name__] = wrapper
    return out


def tensors(value):
    return [t for v in value for t in tensors(v)] if isinstance(value, (tuple, list)) else [value]


def compared(expected, got):
    """Whether it is right at t = -5, and the largest difference."""
    import torch
    from correctness import tightest

    right, most = len(expected) == len(got), 0.0
    for e, g in zip(expected, got):
        if not isinstance(e, torch.Tensor):
            right = right and e == g
            continue
        if e.shape != g.shape or e.dtype != g.dtype:
            return False, float("inf")
        right = right and tightest(str(e.dtype).removeprefix("torch."), e, g) <= -5
        difference = (e.double() - g.double()).abs()
        most = max(most, difference[~difference.isnan()].max().item() if difference.numel() else 0.0)
    return right, most


def by_triton(binary, graph, folder):
    """Its verdict and the largest difference from eager."""
    from pathlib import Path
    from reference import CALL_SEED, run_source

    options = ["--no-plan", "--policy", "open", "--output-pass-replacement-func-limit", "0"]
    done = subprocess.run([binary, "pass", "apply", graph, folder, *options], capture_output=True, text=True)
    rewritten = done.stdout[done.stdout.find("import torch") :]
    if "class GraphModule" not in rewritten:
        return ("no match" if "no pass changed" in done.stdout + done.stderr else done.stderr.strip()[-200:]), 0.0
    texts = (Path(graph, "model.py").read_text(), rewritten)
    right, most = compared(*(tensors(run_source(text, Path(graph), CALL_SEED, DEVICE, wrappers(folder))) for text in texts))
    return "right" if right else "wrong", most


def judge(binary, name, folder, graphs):
    """A line for each graph: [graph, ours, our largest difference, Triton's, its largest difference]"""
    options = ["--passes", folder, "--json", "--device", DEVICE, "--output-pass-replacement-func-limit", "0"]
    done = subprocess.run([binary, "run", *graphs, *options], capture_output=True, text=True)
    ours = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(ours) == len(graphs), done.stderr
    out = []
    for graph, doc in zip(graphs, ours):
        try:
            theirs, most = by_triton(binary, graph, folder)
        except Exception as e:
            theirs, most = f"{type(e).__name__}: {e}"[:300], 0.0
        out.append([graph, examples.verdict_of(doc), doc.get("max_diff") or 0.0, theirs, most, examples.told(doc)])
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("binary")
    p.add_argument("shared")
    p.add_argument("names", nargs="*")
    p.add_argument("--jobs", type=int, default=4)
    p.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # one folder, in this process: modules of folders have equal names
    opt = p.parse_args()
    folders = [e for e in examples.examples(opt.shared) if not opt.names or e[0] in opt.names]
    if opt.here:
        print(json.dumps([judge(opt.binary, *e[:3]) for e in folders][0]))
        return 0

    def child(name):
        done = subprocess.run([sys.executable, __file__, opt.binary, opt.shared, name, "--here"], capture_output=True, text=True)
        return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else done.stderr[-2000:]

    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(opt.jobs) as pool:
        for (name, _, _, want), rows in zip(folders, pool.map(child, [e[0] for e in folders])):
            if isinstance(rows, str):
                print(f"FAILED {name}: {rows}")
                failed += 1
                continue
            for line in examples.other_verdicts(want or {}, [(graph, theirs) for graph, _, _, theirs, *_ in rows]):
                print(f"{name}, Triton here and index.tsv: {line}")
            for graph, ours, our_most, theirs, their_most, told in rows:
                refused = name in examples.REFUSED and examples.REFUSED[name] in told
                passed, failed = passed + (ours == theirs or refused), failed + (ours != theirs and not refused)
                if refused or (ours == theirs and (ours != "right" or our_most == their_most)):
                    continue
                where = "/".join(graph.rstrip("/").split("/")[-2:])
                what = "FAILED" if ours != theirs else "last bits"
                print(f"{what} {name} {where}: ours {ours} (largest difference from eager {our_most:.3g}), Triton's {theirs} ({their_most:.3g})", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

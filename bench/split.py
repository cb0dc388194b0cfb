#!/usr/bin/env python3
"""A bench's speedups, split by how much of eager's time convolutions and matrix products take.

    split.py BINARY RUN [--threads N]

RUN is the folder of `passnet bench`. Profiles every graph of its records (`passnet graph profile`) and prints, for each
candidate and share, the number of graphs, the geometric mean of the speedups, and how many are slower than eager.
"""
import argparse, json, math, os, subprocess, tempfile

HEAVY = ("conv", "linear", "matmul", "bmm", "addmm", "mm", "einsum", "attention", "baddbmm")
SHARES = [("under 20 %", 0, 0.2), ("20 to 80 %", 0.2, 0.8), ("over 80 %", 0.8, 1.01)]


def is_heavy(target):
    name = target.rsplit(".", 1)[-1].strip("_")
    return any(name == h or (h in ("conv", "attention") and h in name) for h in HEAVY)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("run")
    parser.add_argument("--threads", type=int, default=2)
    opt = parser.parse_args()
    records = [json.loads(line) for line in open(os.path.join(opt.run, "records.jsonl"))]
    records = list({(r["graph"], r["candidate"]): r for r in records if "graph" in r}.values())  # the last counts
    records = [r for r in records if r.get("speedup") and r["status"] in ("correct", "unstable")]
    graphs = sorted({r["graph"] for r in records})
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(g + "\n" for g in graphs))
        file.flush()
        out = subprocess.run([opt.binary, "graph", "profile", "--json", "--list", file.name, "--root", "/", "--runs", "9", "--threads",
                              str(opt.threads)], stdout=subprocess.PIPE, text=True, check=False).stdout
    share = {}
    for line in out.splitlines():
        profile = json.loads(line)
        if "nodes" in profile:
            heavy = sum(n["ms"] for n in profile["nodes"] if is_heavy(n["target"]))
            share[profile["graph"]] = heavy / max(profile["ms"], 1e-9)
    print(f"{'candidate':<24} {'conv and products':<18} {'graphs':>6} {'speedup':>8} {'slower':>7}")
    for candidate in sorted({r["candidate"] for r in records}):
        for name, low, high in SHARES:
            rows = [r for r in records if r["candidate"] == candidate and low <= share.get(r["graph"], -1) < high]
            if not rows:
                continue
            speedups = [r["speedup"] for r in rows]
            values = [s["value"] if isinstance(s, dict) else s for s in speedups]
            slower = sum(1 for s in speedups if isinstance(s, dict) and s.get("high", 1) < 1)
            print(f"{candidate:<24} {name:<18} {len(rows):>6} {math.exp(sum(map(math.log, values)) / len(values)):>8.3f} {slower:>7}")


if __name__ == "__main__":
    main()

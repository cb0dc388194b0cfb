#!/usr/bin/env python3
"""What the bench itself claims, beside its limits: passbench.py BINARY CORPUS [--tasks N] [--evaluations N]

CORPUS has an index.tsv. Takes one float32 graph under 64 MB of each task (or of the first N) and prints
- the time of all tasks with one candidate (`none`), at most 0.5 s a phase;
- what an evaluation costs beyond its trials (25 + 100, one at a time);
- `eager` against eager and `none` against eager, geometric means, in two runs, and how far the two runs' scores lie apart;
- the bench's own memory, and its template's, over many evaluations of small graphs.
Times are this machine's; it should be idle.
"""
import argparse, collections, json, math, os, statistics, subprocess, tempfile, time


def pick(corpus, limit):
    """A float32 graph of each task, and all small ones."""
    with open(os.path.join(corpus, "index.tsv")) as file:
        names, *rows = [line.rstrip("\n").split("\t") for line in file]
    graphs = [dict(zip(names, row)) for row in rows]
    first = {}
    for g in graphs:
        if g["dtype"] == "float32" and int(g["input_bytes"]) < 64e6:
            first.setdefault(g["task"], g["dir"])
    small = [g["dir"] for g in graphs if g["dtype"] == "float32" and int(g["input_bytes"]) < 1e6]
    return list(first.values())[: limit or None], small


class Runs:
    def __init__(self, binary, corpus, folder):
        self.binary, self.corpus, self.folder, self.count = binary, corpus, folder, 0

    def start(self, graphs, *options):
        self.count += 1
        out, listed = f"{self.folder}/run{self.count}", f"{self.folder}/list{self.count}"
        with open(listed, "w") as file:
            file.write("".join(g + "\n" for g in graphs))
        command = [self.binary, "bench", "--root", self.corpus, "--list", listed, "--quiet", "--out", out, *options]
        return out, subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, graphs, *options):
        begin = time.perf_counter()
        out, process = self.start(graphs, *options)
        code = process.wait()
        if code != 0:
            raise SystemExit(f"the bench ended with {code}; see {out}")
        with open(out + "/records.jsonl") as file:
            return [json.loads(line) for line in file], time.perf_counter() - begin


def geometric(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def row(what, got, limit):
    print(f"{what:<58} {got:>24}   {limit}", flush=True)


def memory_of(pid):
    """Resident MB of a process and of its children, the largest of each name."""
    found = collections.defaultdict(float)
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            status = dict(line.split(":", 1) for line in open(f"/proc/{entry}/status") if ":" in line)
        except OSError:
            continue
        if int(entry) == pid or int(status["PPid"]) == pid:
            found[status["Name"].strip()] = max(found[status["Name"].strip()], int(status.get("VmRSS", "0 kB").split()[0]) / 1024)
    return dict(found)


def watch_memory(runs, graphs, evaluations):
    names = [f"none{i}=none" for i in range(-(-evaluations // len(graphs)))]
    out, process = runs.start(graphs, "--candidates", ",".join(names), "--warmup", "1", "--trials", "2", "--noise-limit", "1000", "--repeats", "0")
    seen = []  # (evaluations, memory by name)
    while process.poll() is None:
        done = 0
        if os.path.exists(out + "/records.jsonl"):
            with open(out + "/records.jsonl", "rb") as file:
                done = file.read().count(b"\n")
        seen.append((done, memory_of(process.pid)))
        time.sleep(0.5)
    early = next((s for s in seen if s[0] >= evaluations // 5), seen[0])
    late = next(s for s in reversed(seen) if "passnet" in s[1])
    for name in ("passnet", "passnet-templ"):
        row(f"memory of {name} after {early[0]} and {late[0]} evaluations, MB", f"{early[1].get(name, 0):.1f} and {late[1].get(name, 0):.1f}", "flat")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("corpus")
    parser.add_argument("--tasks", type=int, default=0, help="the first N; default: all")
    parser.add_argument("--evaluations", type=int, default=2000, help="while memory is watched")
    opt = parser.parse_args()
    graphs, small = pick(opt.corpus, opt.tasks)
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(opt.binary, opt.corpus, folder)
        _, seconds = runs.run(graphs, "--candidates", "none", "--budget", "0.5")
        row(f"{len(graphs)} tasks, one candidate", f"{seconds / 60:.1f} min", "under 8 min for 142")
        records, _ = runs.run(graphs, "--candidates", "none", "--jobs", "1", "--budget", "0.5")
        over = sorted(r["overhead_seconds"] * 1e3 for r in records if r["overhead_seconds"] is not None)
        row("an evaluation beyond its trials, median", f"{statistics.median(over):.0f} ms", "under 50 ms")
        row("  under 50 ms, under 100 ms, most", f"{sum(o < 50 for o in over)}, {sum(o < 100 for o in over)} of {len(over)}, {over[-1]:.0f} ms", "grows with the inputs")
        scores = collections.defaultdict(list)
        for again in (1, 2):
            records, _ = runs.run(graphs, "--candidates", "eager,none", "--budget", "0.5")
            for name in ("eager", "none"):
                ratios = [r["speedup"]["value"] for r in records if r["candidate"] == name and r.get("speedup")]
                scores[name].append(geometric(ratios))
                unstable = sum(r["status"] == "unstable" for r in records if r["candidate"] == name)
                row(f"{name} against eager, run {again} ({unstable} unstable)", f"{scores[name][-1]:.4f}", "1.00 +- 0.02" if name == "eager" else "not below 0.98")
        for name, (one, other) in scores.items():
            row(f"{name}: two runs apart", f"{abs(one / other - 1) * 100:.2f} %", "within 2 %")
        watch_memory(runs, small, opt.evaluations)


main()

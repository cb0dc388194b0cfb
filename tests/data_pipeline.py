#!/usr/bin/env python3
"""The data set's commands one after another on samples/, killed on the way: from graphs to tasks and splits.

    data_pipeline.py BINARY SAMPLES

Ends with `N passed, N failed`.
"""
import glob, json, os, signal, subprocess, sys, tempfile, time

from checks import check, finish


def differences(a, b):
    return sorted(k for k in a.keys() | b.keys() if a.get(k) != b.get(k))[:5]


def files(folder):
    """Every file but journals, whose lines come in any order, and reasons, which name the output's folder."""
    out = {}
    for base, _, names in os.walk(folder):
        for name in names:
            if name not in ("facts.tsv", "done.txt", "dropped.tsv"):
                path = os.path.join(base, name)
                out[os.path.relpath(path, folder)] = open(path, "rb").read()
    return out


def main():
    binary, samples = sys.argv[1], os.path.abspath(sys.argv[2])

    def data(*arguments):
        done = subprocess.run([binary, "data", *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def killed(seconds, *arguments):
        """Kills the command -9 at several points, then lets it end."""
        for share in (0.15, 0.4, 0.75):
            process = subprocess.Popen([binary, "data", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                process.wait(timeout=seconds * share)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return data(*arguments)

    with tempfile.TemporaryDirectory() as work:
        at = lambda name: os.path.join(work, name)
        recorded = sorted(glob.glob(os.path.join(samples, "*", "float32_9")))
        with open(at("recorded.txt"), "w") as f:
            f.write("\n".join(recorded) + "\n")

        begin = time.monotonic()
        code, out, err = data("cut", samples, "--every", "3", "--out", at("cut"), "--metas", "run", "--json")
        seconds = time.monotonic() - begin
        rows = [json.loads(line) for line in out.splitlines()]
        cut = [r for r in rows if "folder" in r]
        unlike = [r for r in cut if r["reproduced"] != "same"]
        check(f"{len(cut)} cuts reproduce the values of their whole graphs", cut and not unlike, unlike[:3])
        reasons = [r["dropped"] for r in rows if "dropped" in r]
        known = ("no tensor that the range computes", "takes the list of tensors", "does not reproduce")
        check(f"{len(reasons)} ranges dropped, each with a known reason", all(any(k in r for k in known) for r in reasons), reasons)
        killed(seconds, "cut", samples, "--every", "3", "--out", at("cut2"), "--metas", "run")
        different = differences(files(at("cut")), files(at("cut2")))
        check("cut killed and run again gives the same files", not different, different)

        # whole tables reach gigabytes; the smaller variants are run
        sized = ["generalise", "dims", "--list", at("recorded.txt"), "--root", "/", "--guess", "--variants", "0,1,3", "--json"]
        made = [json.loads(line) for line in data(*sized, "--out", at("dims"))[1].splitlines()]
        ran = [json.loads(line) for line in data(*sized, "--out", at("dims_run"), "--check", "run")[1].splitlines()]
        fits, runs = (sum("dropped" not in r for r in rows) for rows in (made, ran))
        check(f"{runs} of {fits} graphs at other sizes run eagerly", fits > 0 and runs >= 0.95 * fits, [r for r in ran if "dropped" in r])
        named = " ".join(r["folder"] for r in ran)
        lost = [g for g in recorded if f"/{g.split('/')[-2]}/" not in named]
        check("every graph has a variant or a reason", not lost, lost)

        begin = time.monotonic()
        code, out, err = data("generalise", "dtype", "--list", at("recorded.txt"), "--root", "/", "--out", at("half"), "--json")
        seconds = time.monotonic() - begin
        made = [json.loads(line) for line in out.splitlines()]
        halves = [r for r in made if "dropped" not in r]
        floats = [r for r in made if "no input is float32" not in r.get("dropped", "")]
        check(f"{len(halves)} of {len(floats)} graphs in half precision run eagerly", len(halves) >= 0.95 * len(floats), made[:3])
        killed(seconds, "generalise", "dtype", "--list", at("recorded.txt"), "--root", "/", "--out", at("half2"))
        different = differences(files(at("half")), files(at("half2")))
        check("generalise killed and run again gives the same graphs", not different, different)

        code, out, err = data("pack", at("cut"), "--out", at("cut.pack"))
        check("pack", code == 0, err)
        for source in ("cut", "cut.pack"):
            code, out, err = data("dedupe", at(source), "--out", at(source + ".dedupe"), "--json")
            check(f"dedupe of {source}", code == 0 and json.loads(out)["unique"] < json.loads(out)["graphs"], err)
        strip = lambda name: [line.split("\t")[0] for line in open(os.path.join(at(name), "unique.txt"))]
        check("a pack gives what its folders give", strip("cut.dedupe") == strip("cut.pack.dedupe"))

        code, out, err = data("split", "--list", os.path.join(at("cut.dedupe"), "unique.txt"), "--out", at("split"), "--json")
        parts = json.loads(out)
        check("split", code == 0 and all(parts[p] > 0 for p in ("train", "eval", "free_to_use")), out + err)
        total = 0
        for part in ("train", "eval", "free_to_use"):
            code, out, err = data("group", "--list", os.path.join(at("split"), "graph_lists", part + ".txt"), "--out", at(part), "--json")
            total += json.loads(out)["samples"]
            first = open(os.path.join(at(part), "sample_list.txt")).readline().strip()
            listed = subprocess.run([binary, "graph", "check", "--quiet", os.path.join(at(part), first)], capture_output=True, text=True)
            check(f"the first task of {part} is read", listed.returncode == 0, listed.stderr)
        names = [open(os.path.join(at(p), "sample_list.txt")).read().split() for p in ("train", "eval", "free_to_use")]
        check("no task is in two parts", len(set(sum(names, []))) == total, names)
    finish()


if __name__ == "__main__":
    main()

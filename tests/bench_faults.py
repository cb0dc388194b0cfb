#!/usr/bin/env python3
"""The bench under faults: killed at random, a limit on file sizes, a torn record, a broken cache, two at once.

    bench_faults.py BINARY SAMPLES_DIR [--kills N]

After each, the same command goes on, nothing that was finished is lost or done twice, and the statuses are those of an
undisturbed run.
"""
import argparse
import glob
import json
import os
import random
import resource
import signal
import subprocess
import tempfile
import time

passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED {name}: {detail}")


class Bench:
    def __init__(self, opt, folder, cache, trials=4):
        self.folder, self.env = folder, dict(os.environ, PASSNET_CACHE=cache)
        tasks = sorted(glob.glob(opt.samples + "/*/graph_list.txt"))[:5]
        passes = os.path.join(os.path.dirname(os.path.abspath(opt.samples)), "examples", "silu_mul")
        self.command = [opt.binary, "bench", *[os.path.dirname(t) for t in tasks],
                        os.path.join(opt.samples, "qwen2_silu_mlp"), "--graphs-per-task", "2", "--candidates",
                        f"none,eager,silu={passes}", "--warmup", "2", "--trials", str(trials), "--noise-limit", "1000",
                        "--repeats", "0", "--threads", "1", "--out", folder]

    def start(self, **how):
        return subprocess.Popen(self.command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                start_new_session=True, **how)

    def run(self, **how):
        process = self.start(**how)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err

    def records(self):
        lines = open(os.path.join(self.folder, "records.jsonl"), "rb").read().split(b"\n")
        return [json.loads(line) for line in lines[:-1]]

    def statuses(self):
        found = {}
        for r in self.records():
            key = (r["task"], os.path.basename(r["graph"]), r["candidate"])
            check("no evaluation is done twice", key not in found, key)
            found[key] = r["status"]
        return found


def children_of(session):
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            text = open(path).read()
        except OSError:
            continue
        name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
        if name.startswith("passnet") and rest[0] != "Z" and session in (int(rest[2]), int(rest[3])):
            found.append(int(text.split()[0]))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("samples")
    parser.add_argument("--kills", type=int, default=100 if os.environ.get("PASSNET_ALL") else 8)
    parser.add_argument("--seed", type=int, default=1)
    opt = parser.parse_args()
    random.seed(opt.seed)
    with tempfile.TemporaryDirectory() as top:
        cache = top + "/cache"
        begin = time.time()
        calm = Bench(opt, top + "/calm", cache)
        code, table, err = calm.run()
        took = time.time() - begin
        check("an undisturbed run", code == 0, err)
        expected = calm.statuses()
        check("every evaluation has a record", len(expected) == len(set(expected)) and len(expected) > 20, len(expected))
        check("the matching pass is right", "correct" in {s for k, s in expected.items() if k[2] == "silu"}, expected)

        # kill -9, again and again, at random moments of the run
        bench, kills = Bench(opt, top + "/killed", cache), 0
        while kills < opt.kills:
            process = bench.start()
            time.sleep(random.uniform(0, took * 1.2 / max(4, opt.kills / 4)))
            if process.poll() is None:
                process.kill()
                kills += 1
            process.communicate()
            deadline = time.time() + 10
            while children_of(process.pid) and time.time() < deadline:
                time.sleep(0.02)
            check("no process is left", not children_of(process.pid), children_of(process.pid))
            if os.path.exists(bench.folder + "/records.jsonl") and len(bench.records()) == len(expected):
                os.rename(bench.folder, tempfile.mkdtemp(dir=top))  # finished early: begin anew
        code, _, err = bench.run()
        check("after the kills it ends", code == 0, err)
        check("after the kills the statuses are the same", bench.statuses() == expected)

        # Ctrl-C ends it with 130 and the same command goes on
        bench = Bench(opt, top + "/interrupted", cache)
        process = bench.start()
        time.sleep(took / 3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        check("interrupted", process.returncode in (0, 130), (process.returncode, err))
        code, _, err = bench.run()
        check("after an interrupt it ends", code == 0 and bench.statuses() == expected, err)

        # files may not grow any more: as on a full disk
        bench = Bench(opt, top + "/full", cache)
        limit = 20_000
        code, _, err = bench.run(preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                                                     resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))
        check("a full disk is said", code == 3 and "records.jsonl" in err, (code, err))
        code, _, err = bench.run()
        check("after a full disk it goes on", code == 0 and bench.statuses() == expected, err)

        # a torn last record
        path = bench.folder + "/records.jsonl"
        whole = open(path, "rb").read()
        open(path, "wb").write(whole[: whole.rindex(b"\n", 0, -1) + 40])
        code, _, err = bench.run()
        check("a torn record is mended", code == 0 and "unfinished" in err and bench.statuses() == expected, err)

        # every kernel in the cache broken
        for root, _, files in os.walk(cache):
            for name in files:
                with open(os.path.join(root, name), "r+b") as file:
                    file.truncate(max(1, os.path.getsize(file.name) // 2))
        bench = Bench(opt, top + "/cache-broken", cache)
        code, _, err = bench.run()
        check("a broken cache is mended", code == 0 and bench.statuses() == expected, err)

        # two on one folder
        bench = Bench(opt, top + "/two", cache, trials=1000)  # long enough to meet
        first = bench.start()
        deadline = time.time() + 60
        while not os.path.exists(bench.folder + "/records.jsonl") and time.time() < deadline:
            time.sleep(0.01)
        code, _, err = bench.run()
        check("a second bench is refused with the first one's pid", code == 3 and str(first.pid) in err, (code, err))
        first.communicate(timeout=600)
        check("the first one ends", first.returncode == 0 and bench.statuses() == expected)

        # a folder that cannot be written
        bench = Bench(opt, "/proc/passnet-run", cache)
        code, _, err = bench.run()
        check("a folder that cannot be made is said", code == 3 and "/proc/passnet-run" in err, (code, err))
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())

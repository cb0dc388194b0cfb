#!/usr/bin/env python3
"""The bench under faults: killed at random, its workers killed at random, candidates that hang or take all memory, a limit on
file sizes, a torn record, a broken cache, two at once.

    bench_faults.py BINARY SAMPLES_DIR [--kills N] [--worker-kills N] [--hangs N]

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

from checks import check, finish


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


def processes():
    """(pid, name, parent, group, session) of all that live and are ours."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            text = open(path).read()
        except OSError:
            continue
        name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
        if name.startswith("passnet") and rest[0] != "Z":
            yield int(text.split()[0]), name, int(rest[1]), int(rest[2]), int(rest[3])


def children_of(session):
    return [pid for pid, _, _, *of in processes() if session in of]


def workers_of(bench):
    """A worker has a session of its own; its parent is the bench's template."""
    all_ = list(processes())
    templates = {pid for pid, _, parent, *_ in all_ if parent == bench}
    return [pid for pid, name, parent, *_ in all_ if name == "passnet-worker" and parent in templates]


def started_in(folder):
    """Whatever session and parent they have: processes with this folder in their environment."""
    found = []
    for pid, *_ in processes():
        try:
            found += [pid] * (folder.encode() in open(f"/proc/{pid}/environ", "rb").read())
        except OSError:
            pass
    return found


def worker_faults(opt, top, cache):
    """Workers killed by others do not count, candidates that hang or take all memory do: the same statuses every time."""
    exploits = os.path.join(os.path.dirname(os.path.abspath(__file__)), "exploits")
    tasks = max(opt.hangs, 10)
    names = [f"task{i:02}" for i in range(tasks)]
    for name in names:
        os.makedirs(f"{top}/tasks/{name}")
        os.symlink(f"{exploits}/graphs/gate", f"{top}/tasks/{name}/gate")
        with open(f"{top}/tasks/{name}/graph_list.txt", "w") as file:
            file.write(f"{name}/gate\n")
    with open(f"{top}/tasks/list.txt", "w") as file:
        file.write("".join(name + "\n" for name in names))
    candidates = ["none", "eager", f"right={exploits}/passes/control_right_gate.py", f"wrong={exploits}/passes/control_wrong_gate.py"]
    if opt.hangs > 0:
        candidates += [f"hang={exploits}/passes/hang_on_data.py", f"bomb={exploits}/passes/memory_bomb.py"]

    def bench(folder):
        out = object.__new__(Bench)
        os.makedirs(folder + ".tmp")
        out.folder, out.env = folder, dict(os.environ, PASSNET_CACHE=cache, TMPDIR=folder + ".tmp")
        out.command = [opt.binary, "bench", "--list", f"{top}/tasks/list.txt", "--root", f"{top}/tasks", "--candidates", ",".join(candidates),
                       "--warmup", "2", "--trials", "4", "--noise-limit", "1000", "--repeats", "0", "--threads", "1",
                       "--timeout", "2" if opt.hangs else "60", "--out", folder]
        return out

    def statuses(bench):  # a bomb meets the limit of memory or that of time
        return {k: "stopped" if k[2] == "bomb" and s in ("runtime_fail", "timeout") else s for k, s in bench.statuses().items()}

    calm = bench(top + "/workers-calm")
    code, _, err = calm.run()
    expected = statuses(calm)
    check("workers: an undisturbed run", code == 0 and len(expected) == tasks * len(candidates), err)
    if opt.hangs:
        found = sorted({(k[2], s) for k, s in expected.items() if k[2] in ("hang", "bomb")})
        check("workers: hangs and bombs are found", found == [("bomb", "stopped"), ("hang", "timeout")], found)
    kills = rounds = 0
    while kills < opt.worker_kills and rounds < 50:
        rounds += 1
        disturbed = bench(f"{top}/workers-{rounds}")
        process = disturbed.start()
        while process.poll() is None:
            time.sleep(random.uniform(0, 3 if opt.hangs else 0.2))
            workers = workers_of(process.pid)
            if workers and kills < opt.worker_kills:
                try:
                    os.kill(random.choice(workers), signal.SIGKILL)
                    kills += 1
                except ProcessLookupError:
                    pass
        _, err = process.communicate()
        check("workers: killed at random, the bench ends", process.returncode == 0, (process.returncode, err))
        found = statuses(disturbed)
        check("workers: the statuses are the same", found == expected, [(k, found.get(k), s) for k, s in expected.items() if found.get(k) != s])
        deadline = time.time() + 10
        while started_in(disturbed.folder) and time.time() < deadline:
            time.sleep(0.02)
        check("workers: no process is left", not started_in(disturbed.folder), started_in(disturbed.folder))
        check("workers: no file is left", not os.listdir(disturbed.folder + ".tmp"), os.listdir(disturbed.folder + ".tmp"))
    check("workers: so many could be killed", kills == opt.worker_kills, kills)
    print(f"{kills} workers killed in {rounds} benches of {len(expected)} evaluations")


def author_killed(opt, top, cache):
    """What ended it is said."""
    bench = object.__new__(Bench)
    bench.folder, bench.env = top + "/author", dict(os.environ, PASSNET_CACHE=cache)
    bench.command = [opt.binary, "bench", os.path.join(opt.samples, "qwen2_silu_mlp"), "--candidates", "author", "--budget", "0.01", "--out", bench.folder]
    process, killed = bench.start(), False
    while process.poll() is None and not killed:
        for path in glob.glob(f"/proc/{process.pid}/task/*/children"):
            for pid in map(int, open(path).read().split()):
                if b"--single-wrapper" in open(f"/proc/{pid}/cmdline", "rb").read():
                    os.kill(pid, signal.SIGKILL)
                    killed = True
    _, err = process.communicate()
    check("author: it could be killed", killed, err)
    check("author: what ended it is said", "qwen2_silu_mlp: the author failed: killed by signal 9 (SIGKILL)" in err, err)
    check("author: the bench goes on without its passes", process.returncode == 0 and bench.records(), (process.returncode, err))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("samples")
    parser.add_argument("--kills", type=int, default=100 if os.environ.get("PASSNET_ALL") else 8)
    parser.add_argument("--worker-kills", type=int, default=200 if os.environ.get("PASSNET_ALL") else 12)
    parser.add_argument("--hangs", type=int, default=50 if os.environ.get("PASSNET_ALL") else 0, help="and as many memory bombs")
    parser.add_argument("--seed", type=int, default=1)
    opt = parser.parse_args()
    random.seed(opt.seed)
    with tempfile.TemporaryDirectory() as top:
        cache = top + "/cache"
        begin = time.time()
        lists = set(glob.glob("/tmp/perf-*.map"))  # oneDNN's, of its generated code
        calm = Bench(opt, top + "/calm", cache)
        code, _, err = calm.run()
        took = time.time() - begin
        check("an undisturbed run", code == 0, err)
        more = set(glob.glob("/tmp/perf-*.map")) - lists
        check("no list of generated code is left", not more, sorted(more))
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
        found = bench.statuses()
        other = {k: (found.get(k), v) for k, v in expected.items() if found.get(k) != v}
        check("a broken cache is mended", code == 0 and found == expected, (other, err))

        # a compiler that fails: no pass is blamed for it
        bench = Bench(opt, top + "/compiler", top + "/cold")
        bench.env["PASSNET_CXX"] = "false"
        code, _, err = bench.run()
        check("a broken compiler is said", code == 3 and "cannot be compiled here" in err, (code, err))
        del bench.env["PASSNET_CXX"]
        code, _, err = bench.run()
        check("after a broken compiler it goes on", code == 0 and bench.statuses() == expected, err)

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

        worker_faults(opt, top, cache)
        author_killed(opt, top, cache)

        # a folder that cannot be written
        bench = Bench(opt, "/proc/passnet-run", cache)
        code, _, err = bench.run()
        check("a folder that cannot be made is said", code == 3 and "/proc/passnet-run" in err, (code, err))
    finish()


if __name__ == "__main__":
    main()

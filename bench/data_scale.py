#!/usr/bin/env python3
"""The data set's commands at scale: time, memory and growth on mutated graphs, random access, and resuming after kill -9.

    data_scale.py PASSNET DATA_CORPUS LIST ROOT [COUNT]

LIST and ROOT name the graphs that are mutated; COUNT (100000) and a tenth of it are made into packs. Prints a table.
"""
import os, resource, shutil, signal, subprocess, sys, tempfile, time


def timed(command):
    """(seconds, peak MiB, stdout) of a command and its children."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if os.WEXITSTATUS(status) != 0:
        sys.exit(f"{' '.join(command)} failed with {status}")
    return time.monotonic() - begin, usage.ru_maxrss / 1024, out.strip()


def listing(folder):
    """Every file's bytes, but for the journal, whose lines are in the order in which threads came."""
    out = {}
    for base, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(base, name)
            data = open(path, "rb").read()
            out[os.path.relpath(path, folder)] = sorted(data.split(b"\n")) if name == "facts.tsv" else data
    return out


def killed(command, out, seconds, marks):
    """Runs the command, kills it -9 after each of `marks` shares of `seconds`, lets it end; how often it was killed."""
    kills = 0
    for share in marks:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=max(share * seconds, 0.02))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return kills


def main():
    passnet, corpus_tool, seeds, root = sys.argv[1:5]
    count = int(sys.argv[5]) if len(sys.argv) > 5 else 100000
    with tempfile.TemporaryDirectory() as work:
        seconds, peak = {}, 0
        for n in (count // 10, count):
            pack = f"{work}/{n}.pack"
            made, _, _ = timed([corpus_tool, "make", seeds, root, str(n), pack])
            print(f"{n} graphs made by mutation in {made:.1f} s: {os.path.getsize(pack) / 2**20:.1f} MiB packed")
            facts = ["--facts", f"{work}/{n}.facts", "--jobs", "2"]
            commands = {
                "dedupe": [passnet, "data", "dedupe", pack, "--out", f"{work}/{n}/dedupe", *facts],
                "split": [passnet, "data", "split", "--list", f"{work}/{n}/dedupe/unique.txt", "--out", f"{work}/{n}/split", *facts],
                "group": [passnet, "data", "group", "--list", f"{work}/{n}/dedupe/unique.txt", "--out", f"{work}/{n}/group", *facts],
                "pack": [passnet, "data", "pack", "--list", f"{work}/{n}/dedupe/unique.txt", "--out", f"{work}/{n}/unique.pack", "--jobs", "2"],
            }
            seconds[n] = 0
            for name, command in commands.items():
                s, mib, out = timed(command)
                if name != "pack":
                    seconds[n] += s
                peak = max(peak, mib)
                print(f"  {name:7} {s:7.2f} s {mib:7.0f} MiB   {out}")
        large, small = seconds[count], seconds[count // 10]
        print(f"dedupe, split and group of {count}: {large:.1f} s, at most {peak:.0f} MiB; {large / small:.1f} times the time of {count // 10}")
        print(subprocess.run([corpus_tool, "access", f"{work}/{count}.pack"], capture_output=True, text=True, check=True).stdout.strip())

        n = count // 10
        marks = [0.05, 0.3, 0.6, 0.9]
        for name in ("dedupe", "pack"):
            out = f"{work}/killed_{name}"
            if name == "dedupe":
                command = [passnet, "data", "dedupe", f"{work}/{n}.pack", "--out", out, "--jobs", "2"]
                whole = [passnet, "data", "dedupe", f"{work}/{n}.pack", "--out", f"{work}/whole_{name}", "--jobs", "2"]
            else:
                command = [passnet, "data", "pack", f"{work}/{n}.pack", "--out", f"{out}/a.pack", "--jobs", "2"]
                whole = [passnet, "data", "pack", f"{work}/{n}.pack", "--out", f"{work}/whole_{name}/a.pack", "--jobs", "2"]
            s, _, _ = timed(whole)
            kills = killed(command, out, s, marks)
            same = listing(out) == listing(f"{work}/whole_{name}")
            print(f"{name} killed {kills} times: {'the same files as without a kill' if same else 'OTHER FILES'}")
            if not same:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

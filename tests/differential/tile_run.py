"""Cases of tile_cases.py and tile_kernels.py run by tile_run_tool, interpreted, compiled and checked, and buffers compared."""
import json, os, subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tile_cases import HEAD, Buffer

WAYS = ("interpreted", "compiled", "checked")
NO_NVRTC = "CUDA kernels need NVRTC"  # how src/cuda says so


def job(case, file, data):
    arguments = []
    for name, a in case.arguments.items():
        if isinstance(a, Buffer):
            arguments.append({"name": name, "dtype": {"int1": "bool"}.get(a.dtype, a.dtype), "elements": int(a.values.size)})
        elif isinstance(a, tuple):
            arguments.append({"name": name, "value": a[1], "constexpr": True})
        else:
            arguments.append({"name": name, "value": a})
    with open(data, "wb") as f:
        for a in case.arguments.values():
            if isinstance(a, Buffer):
                f.write(a.values.tobytes())
    return {"name": case.name, "file": file, "kernel": case.kernel, "grid": case.grid, "data": data, "arguments": arguments} | case.options


def run_ours(tool, jobs, folder, ways=WAYS, processes=1):
    """The tool's answers by name, from so many of it at a time."""
    answers = {}
    with ThreadPoolExecutor(processes) as pool:
        for some in pool.map(lambda i: run_one(tool, jobs[i::processes], os.path.join(folder, f"jobs{i}.jsonl"), ways), range(processes)):
            answers.update(some)
    return answers


def run_one(tool, jobs, path, ways):
    """One process after another: a crash is the answer of the case it happened in, and the rest goes on."""
    answers = {}
    while jobs:
        with open(path, "w") as f:
            f.writelines(json.dumps(j) + "\n" for j in jobs)
        ran = subprocess.run([tool, "--ways", ",".join(ways), path], stdout=subprocess.PIPE, text=True)
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        answers.update({a["name"]: a for a in lines})
        jobs = jobs[len(lines):]
        if jobs:
            answers[jobs[0]["name"]] = {way: f"crashed, exit {ran.returncode}" for way in ways}
            jobs = jobs[1:]
    return answers


def difference(case, name, theirs, ours, reference):
    """The first difference of a buffer as text, or None."""
    theirs = theirs.reshape(-1)
    if case.arguments[name].dtype == "bfloat16":
        theirs, ours = ((v.astype(np.uint32) << 16).view(np.float32) for v in (theirs, ours))
    if theirs.tobytes() == ours.tobytes():
        return None
    wrong = theirs != ours
    if theirs.dtype.kind == "f":
        with np.errstate(all="ignore"):
            wrong = (theirs.view(f"u{theirs.itemsize}") != ours.view(f"u{ours.itemsize}")) & ~(np.isnan(theirs) & np.isnan(ours))
            if case.ulps or case.atol:
                atol = case.atol * (2.0**-29 if theirs.itemsize == 8 else 1)
                near = np.abs(theirs - ours) <= case.ulps * np.spacing(np.abs(theirs)) + atol
                wrong &= ~near
    if not wrong.any():
        return None
    i = int(np.flatnonzero(wrong)[0])
    return f"{name}[{i}]: {reference} {theirs[i]!r}, we {ours[i]!r} ({int(wrong.sum())} of {wrong.size} differ)"


def result(case, data, way):
    """What the buffers held after a way."""
    out, at = [], 0
    with open(f"{data}.{way}", "rb") as f:
        read = f.read()
    for a in case.arguments.values():
        if isinstance(a, Buffer):
            out.append(np.frombuffer(read[at:at + a.values.nbytes], a.values.dtype))
            at += a.values.nbytes
    return out


def compare(case, theirs, data, answer, ways=WAYS, reference="Triton"):
    """What differs from the reference's buffers, a line each."""
    problems = []
    names = [n for n, a in case.arguments.items() if isinstance(a, Buffer)]
    for way in ways:
        if answer.get(way):
            problems.append(f"{way}: {answer[way]}")
        if answer.get(way) or way == "nvrtc":  # which only compiles
            continue
        differences = (difference(case, *three, reference) for three in zip(names, theirs, result(case, data, way)))
        problems += [f"{way}: {d}" for d in differences if d][:1]
    return problems


def report(case, problems, source=True):
    print(f"{case.name}:")
    for p in problems:
        print("  " + p.strip().replace("\n", "\n  "))
    if source:
        print("  " + case.source[len(HEAD):].rstrip().replace("\n", "\n  "))

#!/usr/bin/env python3
"""The bench on a GPU: clocks, records, logs, the guard, a fault and what comes after it.

    gpu_bench.py BINARY ROOT [--device cpu]      ROOT: the project's folder; cpu: only what holds there too

Ends with `N passed, N failed`.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from checks import check, finish


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("root")
    parser.add_argument("--device", default="cuda")
    o = parser.parse_args()
    binary, gpu = os.path.abspath(o.binary), o.device == "cuda"
    os.chdir(o.root)

    def passnet(*words, limit=600):
        done = subprocess.run([binary, *words], capture_output=True, text=True, timeout=limit)
        return done.returncode, done.stdout, done.stderr

    def records(task, *words):
        code, out, err = passnet("eval", task, "--no-files", "--json", "--device", o.device, *words)
        try:
            return code, json.loads(out)["graphs"], err
        except ValueError:
            return code, [], out + err

    task = "samples/qwen2_silu_mlp"
    _, out, _ = passnet("doctor", "--json")
    found = {f["what"]: f for f in map(json.loads, out.splitlines())}
    print(found["GPU"]["state"], "|", found["NVRTC"]["state"])
    if gpu:
        for what in ("CUDA", "GPU", "NVRTC"):
            check(f"doctor: {what}", found[what]["ok"], found[what]["state"])

    for candidate in ("eager", "none", "eager-python"):
        code, graphs, err = records(task, "--candidate", candidate)
        check(f"{candidate} ends", code in (0, 1) and graphs, err)
        for r in graphs:
            name = f"{candidate} on {r['graph']}"
            check(f"{name}: status", r["status"] in ("correct", "unstable"), (r["status"], r["errors"]))
            if not r["timed"]:
                check(f"{name}: timed", False)
                continue
            line = f"{name}: {r['speedup']['value']:.3f}, {r['eager']['e2e']['median'] * 1e3:.1f} us of eager"
            if gpu:
                line += f", {r['eager']['gpu']['median'] * 1e3:.1f} us on the GPU, warm {r['eager']['warm']['e2e']['median'] * 1e3:.1f} us"
                for side in (r["eager"], r["compiled"]):
                    check(f"{name}: gpu times", len(side["gpu_ms"]) == 20)
                    check(f"{name}: gpu within e2e", side["gpu"]["min"] <= side["e2e"]["median"] * 1.5, (side["gpu"], side["e2e"]))
                    check(f"{name}: warm", side["warm"]["e2e"]["count"] == 20)
                check(f"{name}: the GPU's name", "NVIDIA" in r["conditions"]["hardware"], r["conditions"])
                check(f"{name}: clocks", "gpu" in r and r["gpu"]["after"].get("sm_mhz", 0) > 0 and 0 < r["gpu"]["after"].get("celsius", 0) < 120, r.get("gpu"))
                line += f", {r.get('gpu')}"
            print(line)
            if candidate != "eager-python" and r["status"] == "correct":
                check(f"{name}: as fast as eager", 0.9 < r["speedup"]["value"] < 1.1, r["speedup"])

    # A candidate with kernels: checked on the CPU, built before the seal, launched after it.
    code, graphs, err = records(task, "--passes", "examples/silu_mul")
    check("passes end", code in (0, 1) and graphs, err)
    for r in graphs:
        check(f"passes on {r['graph']}", r["status"] in ("correct", "unstable"), (r["status"], r["errors"]))
        print(r["graph"], r["status"], r.get("speedup", {}).get("value"), r.get("gpu_speedup", {}).get("value"), r["notes"], r["stages"])
    _, out, err = passnet("eval", task, "--no-files", "--log", "--device", o.device, "--candidate", "eager")
    check("the log", "[Speedup][e2e]: " in out and ("[Speedup][gpu]: " in out) == gpu, out[-1000:] + err)

    # What leaves its tensors, and is not checked first: that worker's end only.
    for name in ("oob_write_far.py", "oob_read_before.py"):
        graph = next(l.split("|")[1].strip() for l in open("tests/exploits/table.txt") if l.split("|")[0].strip() == name)
        code, graphs, err = records(f"tests/exploits/graphs/{graph}", "--passes", f"tests/exploits/passes/{name}", "--no-checked")
        check(f"{name} ends", code in (0, 1) and graphs, err)
        print(name, [(r["status"], [e["message"] for e in r["errors"]]) for r in graphs])
        code, graphs, err = records(task, "--candidate", "eager")
        check(f"after {name}", code == 0 or all(r["status"] == "unstable" for r in graphs), err)

    # A run of several evaluations at once, stopped by nothing.
    with tempfile.TemporaryDirectory() as folder:
        code, out, err = passnet("bench", "samples/gpt2_tanh_gelu", "samples/llama_rms_norm", "--candidates", "eager,none", "--device", o.device,
                                 "--out", folder + "/run", "--quiet")
        check("bench", code == 0, out + err)
        print(out)
        done = [json.loads(l) for l in open(folder + "/run/records.jsonl")]
        check("bench: records", done and all(r["status"] in ("correct", "unstable") for r in done), [(r["graph"], r["status"], r["errors"]) for r in done])
    finish()


main()

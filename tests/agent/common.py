"""What the tests of the agent share: counting checks, running the binary, passes to write."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish

QUICK = ["--warmup", "2", "--trials", "10", "--budget", "0.1", "--noise-limit", "1000", "--repeats", "0", "--threads", "1"]

def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    return {**env, "OPENAI_API_KEY": "sk-secret", "NO_COLOR": "1", **more}


def run(binary, *arguments, timeout=300, variables=None):
    return subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, env=environment(**(variables or {})), stdin=subprocess.DEVNULL)


def events(folder):
    return [json.loads(line) for line in open(os.path.join(folder, "events.jsonl"), encoding="utf-8")]


def of_kind(all_events, kind):
    return [e for e in all_events if e["event"] == kind]


# silu(x) * y of samples/qwen2_silu_mlp (the example without its docstring): right, wrong, and slow.
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "silu_mul", "SiluMul.py")
with open(EXAMPLE) as file:
    PASS = file.read().split("\n", 1)[1]
ORDER = '["SiluMul"]\n'
WRONG = PASS.replace("tl.sigmoid(gate)", "tl.sigmoid(up)")
SLOW = PASS.replace("(triton.cdiv(n, 1024),)", "(triton.cdiv(n, 16),)").replace("BLOCK=1024", "BLOCK=16")


def create(path, text):
    return ("file_editor", {"command": "create", "path": path, "file_text": text})


def replace(path, old, new):
    return ("file_editor", {"command": "str_replace", "path": path, "old_str": old, "new_str": new})


EVALUATE = ("pass_evaluator", {})

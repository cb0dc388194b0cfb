"""What the tests of the agent share: counting checks, running the binary, passes to write."""
import json
import os
import subprocess
import sys

QUICK = ["--warmup", "2", "--trials", "10", "--budget", "0.1", "--noise-limit", "1000", "--repeats", "0", "--threads", "1"]
passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED {name}: {str(detail)[:2000]}", flush=True)
    return bool(ok)


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    return {**env, "OPENAI_API_KEY": "sk-secret", "NO_COLOR": "1", **more}


def run(binary, *arguments, timeout=300, variables=None):
    return subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, env=environment(**(variables or {})), stdin=subprocess.DEVNULL)


def events(folder):
    return [json.loads(line) for line in open(os.path.join(folder, "events.jsonl"), encoding="utf-8")]


def of_kind(all_events, kind):
    return [e for e in all_events if e["event"] == kind]


# silu(x) * y of samples/qwen2_silu_mlp: wrong, right, and the same with the order file.
PASS = '''import torch
import triton
import triton.language as tl


def pattern(gate, up):
    activated = torch.nn.functional.silu(gate)
    return activated * up


def replacement_args(gate, up):
    return (gate, up)


@triton.jit
def silu_mul_kernel(gate_ptr, up_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    gate = tl.load(gate_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    dtype = out_ptr.dtype.element_ty
    activated = (gate * tl.sigmoid(gate)).to(dtype).to(tl.float32)
    tl.store(out_ptr + offs, (activated * up).to(dtype), mask=mask)


@torch.fx.wrap
def silu_mul(gate, up):
    gate = gate.contiguous()
    up = up.contiguous()
    out = torch.empty_like(gate)
    n = out.numel()
    silu_mul_kernel[(triton.cdiv(n, 1024),)](gate, up, out, n, BLOCK=1024)
    return out


def replacement_func():
    return silu_mul
'''
ORDER = '["SiluMul"]\n'
WRONG = PASS.replace("tl.sigmoid(gate)", "tl.sigmoid(up)")
SLOW = PASS.replace("(triton.cdiv(n, 1024),)", "(triton.cdiv(n, 16),)").replace("BLOCK=1024", "BLOCK=16")


def create(path, text):
    return ("file_editor", {"command": "create", "path": path, "file_text": text})


def replace(path, old, new):
    return ("file_editor", {"command": "str_replace", "path": path, "old_str": old, "new_str": new})


EVALUATE = ("pass_evaluator", {})

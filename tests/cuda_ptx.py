#!/usr/bin/env python3
"""The PTX of every kernel family of bench/cuda, for two generations of GPUs, without a GPU: it compiles, and shows what the analyses must find.

    cuda_ptx.py PASSNET [NAME ...]

NAME: a family of bench/cuda/kernels_bench.py or a near miss below. Without NVRTC it says so and skips. Ends with `N passed, N failed`.
"""
import os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "bench", "cuda"), os.path.join(HERE, "differential")]
import kernels_bench
from tile_run import NO_NVRTC

KERNELS = os.path.join(HERE, "..", "bench", "cuda", "kernels.py")
ARCHITECTURES = ("compute_80", "compute_90a")

# Accesses of global memory: all of 16 bytes; those and a `tail` of single elements; those and `some` operands element by element; all in `pairs`; all `single`.
WIDE, TAIL, SOME, PAIRS, SINGLE = "wide", "tail", "some", "pairs", "single"

# Products: of words, by a warp at a time; of halves, by four warps where the GPU can, their operands fetched ahead.
WORDS, HALVES = "words", "halves"

# family: loads, stores, barriers (None: any), product (False: none)
FAMILIES = {
    "add f32": (WIDE, WIDE, 0, False),
    "add f16": (WIDE, WIDE, 0, False),
    "add f32 odd size": (TAIL, TAIL, 0, False),
    "gelu f32": (WIDE, WIDE, 0, False),
    "gelu bf16": (WIDE, WIDE, 0, False),
    "silu mul f16": (WIDE, WIDE, 0, False),
    "scale channels": (SOME, WIDE, 0, False),  # a channel is 3136 elements: a vector lies in one, its scale is one load
    "softmax 1024 f32": (WIDE, WIDE, 3, False),
    "softmax 4000 f32": (WIDE, WIDE, 3, False),
    "softmax 8192 f16": (WIDE, WIDE, 3, False),
    "layer norm 768 f32": (WIDE, WIDE, 3, False),
    "layer norm 4096 bf16": (WIDE, WIDE, 3, False),
    "rms norm loop 8192": (WIDE, WIDE, 6, False),  # written out: its four rounds have a barrier each
    "row sums 512": (WIDE, SINGLE, 0, False),  # a row in a warp
    "column sums": (WIDE, WIDE, 2, False),
    "transpose f32": (WIDE, WIDE, 1, False),
    "transpose f16": (WIDE, WIDE, 1, False),
    "argmax 2048": (WIDE, SINGLE, 1, False),
    "cumsum 1024": (WIDE, WIDE, 5, False),
    "embedding 1024": (SOME, WIDE, 0, False),  # the row's number is one load
    "average pool": (SINGLE, WIDE, 0, False),  # every other element
    "matmul f16 4096": (WIDE, WIDE, None, HALVES),
    "matmul bf16 2048": (WIDE, WIDE, None, HALVES),
    "matmul tf32 2048": (WIDE, PAIRS, None, WORDS),
    "attention f16": (WIDE, PAIRS, None, HALVES),
}

NEAR = """import triton
import triton.language as tl


@triton.jit
def shifted(x, y, n, SHIFT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at + SHIFT))


@triton.jit
def rows(x, y, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.arange(0, ROWS), tl.arange(0, BLOCK)
    v = tl.load(x + row[:, None] * stride + at[None, :])
    tl.store(y + row, tl.sum(v, axis=1))


@triton.jit
def exact(x, y, z, BLOCK: tl.constexpr):
    r, c = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    at = r * BLOCK + c
    tl.store(z + at, tl.dot(tl.load(x + at), tl.load(y + at), input_precision="ieee"))


@triton.jit
def stored(x, y, SHIFT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(y + at) + 1.0)
    tl.store(y + at, tl.load(x + (at + SHIFT) % BLOCK))


@triton.jit
def pieces(x, y, images, channels, size, n_rows, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    cols = tl.arange(0, COLS)[None, :]
    channel, at = rows % channels, rows // channels * COLS + cols
    v = tl.load(x + channel * size + at % size + at // size * channels * size, mask=(rows < n_rows) & (at < images * size))
    tl.store(y + rows, tl.sum(tl.where(at < images * size, v, 0.0), axis=1, keep_dims=True), mask=rows < n_rows)


@triton.jit
def walking(x, y, n, BLOCK: tl.constexpr):
    for program in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        at = program * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at, mask=at < n) * 2.0, mask=at < n)
"""
TWO = "x=empty(float32[65536]), y=empty(float32[65536])"
# name: kernel, arguments, loads, stores, barriers, product
NEAR_MISSES = {
    "shifted by 4": ("shifted", f"{TWO}, n=1024, SHIFT=4, BLOCK=1024", WIDE, WIDE, 0, False),
    "shifted by 2": ("shifted", f"{TWO}, n=1024, SHIFT=2, BLOCK=1024", PAIRS, PAIRS, 0, False),
    "shifted by 1": ("shifted", f"{TWO}, n=1024, SHIFT=1, BLOCK=1024", SINGLE, WIDE, 0, False),
    "rows of 128": ("rows", f"{TWO}, stride=128, ROWS=8, BLOCK=128", WIDE, SINGLE, 0, False),
    "rows of 127": ("rows", f"{TWO}, stride=127, ROWS=8, BLOCK=128", SINGLE, SINGLE, 0, False),
    "rows over warps": ("rows", f"{TWO}, stride=1024, ROWS=1, BLOCK=1024", WIDE, SINGLE, 1, False),
    "f32 exactly": ("exact", f"{TWO}, z=empty(float32[65536]), BLOCK=32", WIDE, None, None, False),
    "stored by itself": ("stored", f"{TWO}, SHIFT=0, BLOCK=1024", WIDE, WIDE, 0, False),
    # as the author writes them: a mean over images and their elements in pieces, few programs for many blocks
    "pieces of channels": ("pieces", f"{TWO}, images=4, channels=2, size=8192, n_rows=16, ROWS=1, COLS=4096", WIDE, SINGLE, 1, False),
    "walking over blocks": ("walking", f"{TWO}, n=65536, BLOCK=1024", WIDE, WIDE, 1, False),
    "stored by others": ("stored", f"{TWO}, SHIFT=4, BLOCK=1024", WIDE, WIDE, 1, False),
}


def accesses(ptx, kind):
    """How many are (of 16 bytes, of several elements, of one)."""
    found = [(int(n or 1), int(bits) // 8) for n, bits in re.findall(rf"\b{kind}\.global[\w.]*?(?:\.v([24]))?\.[a-z](\d+)\b", ptx)]
    wide = sum(n > 1 and n * bytes == 16 for n, bytes in found)
    if kind == "ld":
        wide += len(re.findall(r"\bcp\.async\.c[ag]\.shared\.global[^;]*, 16\b", ptx))
    single = sum(n == 1 for n, _ in found)
    return wide, sum(n > 1 and n * bytes < 16 for n, bytes in found), single


def problems(ptx, architecture, loads, stores, barriers, product):
    """What is not as the row says, a line each."""
    out = []
    for kind, wanted in (("ld", loads), ("st", stores)):
        wide, pairs, single = accesses(ptx, kind)
        right = {WIDE: wide and not pairs and not single, TAIL: wide and single and not pairs, SOME: wide and single, PAIRS: pairs and not wide and not single,
                 SINGLE: single and not wide and not pairs, None: True}[wanted]
        if not right:
            out.append(f"{kind}: wanted {wanted}, found {wide} of 16 bytes, {pairs} narrower, {single} of one element")
    if re.search(r"\.local\b", ptx):
        out.append("local memory is used")
    found = len(re.findall(r"\bbar(?:rier)?\.sync", ptx))
    if barriers is not None and found != barriers:
        out.append(f"barriers: wanted {barriers}, found {found}")
    if bool(re.search(r"\b(?:wg)?mma\.", ptx)) != bool(product):
        out.append("no tensor cores" if product else "tensor cores, which are not exact")
    if product == HALVES:
        unit = "wgmma.mma_async" if architecture.endswith("a") else "mma.sync"
        out += [f"no {part}" for part in (unit, "cp.async.cg", "cp.async.wait_group") if part not in ptx]
    return out


def main():
    passnet, names = sys.argv[1], sys.argv[2:] or list(FAMILIES) + list(NEAR_MISSES)
    missing = set(kernels_bench.FAMILIES) - set(FAMILIES)
    passed, failed = 0, len(missing)
    for name in missing:
        print(f"{name}: no row here says what its PTX must show")
    with tempfile.TemporaryDirectory() as folder:
        near = os.path.join(folder, "near.py")
        with open(near, "w") as f:
            f.write(NEAR)
        for name in names:
            if name in FAMILIES:
                file, row = KERNELS, FAMILIES[name]
                kernel, arguments, grid, warps = kernels_bench.request(name, "empty")
            else:
                file, grid, warps = near, "1", 4
                kernel, arguments, *row = NEAR_MISSES[name]
            for architecture in ARCHITECTURES:
                command = [passnet, "tile", "show", file, "--kernel", kernel, "--args", arguments, "--grid", grid, "--num-warps", str(warps)]
                ran = subprocess.run(command + ["--stage", "ptx", "--arch", architecture], capture_output=True, text=True, timeout=300)
                if NO_NVRTC in ran.stderr:
                    print("no NVRTC here (make setup installs it): nothing is compiled for a GPU")
                    print("0 passed, 0 failed, 1 skipped")
                    return 0
                wrong = [ran.stderr.strip()] if ran.returncode else problems(ran.stdout, architecture, *row)
                failed += bool(wrong)
                passed += not wrong
                for line in wrong:
                    print(f"{name}, {architecture}: {line}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

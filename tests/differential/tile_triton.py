#!/usr/bin/env python3
"""Kernels against Triton's own interpreter: the same kernels on the same memory, by Triton and by us (interpreted, compiled, checked build).

    tile_triton.py TOOL [NAME ...] [--count N] [--start N] [--keep FOLDER]

TOOL is tile_run_tool. NAME: a case of tile_kernels.py or a generated one, FAMILY-SEED, as a failure prints it. Without names: every case of
tile_kernels.py and N generated ones, and only where PASSNET_ALL=1 is set (make check-all): Triton is large, and is installed into
.venv-triton on first use. Integers, and floats that IEEE fixes, must have the same bits (NaN is NaN); the rest within the case's
tolerance. Ends with `N passed, N failed` (`, N skipped`).
"""
import argparse, importlib.util, os, site, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TRITON = "3.7.1"  # what goes with the torch of tools/setup

# Where Triton's interpreter differs from Triton on a GPU, or leaves open what we fix. Generated kernels stay clear of these, cases of
# tile_kernels.py are written around them.
QUIRKS = [
    ("float32 to bfloat16", "truncates instead of rounding to nearest even; bfloat16 is loaded, and widened, only"),
    ("tl.dot of bfloat16", "multiplies the raw bits"),
    ("arithmetic in bfloat16", "computes with the raw bits as integers"),
    ("minimum, maximum, clamp, tl.max, tl.min with NaN", "numpy's minimum propagates NaN, a GPU's and ours give the other operand"),
    ("minimum, maximum of -0 and 0", "either is right"),
    ("tl.fma", "rounds twice; a GPU and we round once"),
    ("a float argument", "is a Python number, so x_fp16 * scale stays float16; on a GPU and here it is a float32 value"),
    ("a loop's variable, runtime bounds", "is a Python number: i / 2, i // 2 of a negative i are Python's, and int8 + i stays int8"),
    ("a float cast to an integer that does not have it", "undefined in numpy; a GPU and we saturate"),
    ("shifts by the width or more, division by 0", "numpy's result; undefined on a GPU"),
    ("tl.sum of int32 to a scalar that does not fit", "fails: numpy sums in 64 bits; a GPU and we wrap"),
    ("a bool argument", "fails: it is kept as an int32"),
    ("a scalar comparison in a tile's expression", "fails, or is a float: the splat has the type of what was compared"),
    ("x.exp() and other functions of tl.math as methods", "fail"),
    ("a negative axis of tl.xor_sum, tl.reduce", "gives a wrong shape"),
    ("tl.flip without dim", "fails; the last one is meant"),
    ("tl.sum of floats", "numpy adds pairwise; the order is open"),
    ("libdevice, inline assembly, tl.rand's device parts", "not there: libdevice calls fail"),
    ("~x of an unsigned x", "fails: numpy has no -1 of that type"),
    ("autotuned kernels", "need a GPU's driver"),
    ("types that change in a loop, undefined names in an arm not taken", "Python runs them; on a GPU and here they are errors"),
]


def with_triton():
    """The interpreter that has Triton; makes its environment where it is missing. None: it cannot be had."""
    python = os.path.join(ROOT, ".venv-triton", "bin", "python")
    stamp = os.path.join(ROOT, ".venv-triton", f".triton-{TRITON}")
    if os.path.exists(stamp):
        return python
    print(f"installing triton {TRITON} into .venv-triton (652 MB)", flush=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", os.path.join(ROOT, ".venv-triton")], check=True)
        folder = subprocess.run([python, "-c", "import site; print(site.getsitepackages()[0])"], check=True, capture_output=True, text=True).stdout.strip()
        with open(os.path.join(folder, "torch.pth"), "w") as f:  # torch and numpy come from the environment that runs this
            f.write("\n".join(site.getsitepackages()) + "\n")
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", f"triton=={TRITON}"], check=True)
        subprocess.run([python, "-c", "import torch, triton"], check=True)
    except (OSError, subprocess.CalledProcessError) as e:
        print(f"triton {TRITON} cannot be installed here: {e}")
        return None
    open(stamp, "w").close()
    return python


def run_triton(case, path, device="cpu"):
    """The bytes of the buffers after Triton ran the kernel, or its error."""
    import torch

    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    arguments = {}
    try:
        spec.loader.exec_module(module)
        for name, a in case.arguments.items():
            if isinstance(a, Buffer):
                t = torch.from_numpy(a.values.copy())
                a = (t.view(torch.bfloat16) if a.dtype == "bfloat16" else t).to(device)
            elif isinstance(a, tuple):
                a = getattr(module.tl, a[1][16:]) if str(a[1]).startswith("triton.language.") else a[1]
            arguments[name] = a
        getattr(module, case.kernel)[case.grid](**arguments, **(case.options if device == "cuda" else {}))
    except Exception as e:
        cause = e.__cause__ or e
        return None, f"{type(cause).__name__}: {cause}"
    out = []
    for a in arguments.values():
        if hasattr(a, "data_ptr"):
            out.append((a.view(torch.int16) if a.dtype == torch.bfloat16 else a).cpu().numpy())
    return out, None


def expected(case):
    """The bytes of the buffers as the case says; what it does not name stays as it was."""
    return [np.asarray(case.expected.get(n, a.values), a.values.dtype) for n, a in case.arguments.items() if isinstance(a, Buffer)]


def check(opt):
    cases = []
    written = {c.name: c for c in tile_kernels.CASES}
    names = opt.names or [*([] if opt.gpu else written), *tile_cases.names(opt.count, opt.start)]
    ways = ["cuda"] if opt.gpu else WAYS
    with tempfile.TemporaryDirectory() as temporary:
        folder = opt.keep or temporary
        os.makedirs(folder, exist_ok=True)
        jobs, theirs = [], {}
        for number, name in enumerate(names):
            case = written[name] if name in written else tile_cases.generate(name)
            file, data = os.path.join(folder, f"case_{number}.py"), os.path.join(folder, f"case_{number}.data")
            with open(file, "w") as f:
                f.write(case.source)
            cases.append((case, file, data))
            theirs[name] = run_triton(case, file, "cuda" if opt.gpu else "cpu") if case.expected is None else (expected(case), None)
            jobs.append(job(case, file, data) | {"fp_fusion": opt.gpu})
        answers = run_ours(opt.tool, jobs, folder, ways)
        failed = 0
        for case, file, data in cases:
            reference, error = theirs[case.name]
            problems = [f"Triton: {error}"] if error else compare(case, reference, data, answers[case.name], ways)
            if not problems:
                continue
            failed += 1
            report(case, problems, failed <= 5)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tool")
    p.add_argument("names", nargs="*")
    p.add_argument("--count", type=int, default=600)
    p.add_argument("--start", type=int, default=0)
    p.add_argument("--gpu", action="store_true", help="the real Triton on a GPU, and our kernels there compiled as it does")
    p.add_argument("--keep", help="leave kernels and memory there")
    opt = p.parse_args()
    if READY:
        return check(opt)
    if not opt.names and not os.environ.get("PASSNET_ALL"):
        print("kernels against Triton's interpreter: run by make check-all (PASSNET_ALL=1), since Triton takes 652 MB")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    python = with_triton()
    if python is None:
        print("0 passed, 0 failed, 1 skipped")
        return 0
    return subprocess.run([python, "-W", "ignore", os.path.abspath(__file__)] + sys.argv[1:], env={**os.environ, "TRITON_INTERPRET": "1"}).returncode


if __name__ == "__main__":
    READY = "--gpu" in sys.argv or os.environ.get("TRITON_INTERPRET") == "1"
    if READY:
        import numpy as np

        sys.path.insert(0, HERE)
        import tile_cases, tile_kernels
        from tile_cases import Buffer
        from tile_run import WAYS, compare, job, report, run_ours
    sys.exit(main())

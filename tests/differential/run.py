#!/usr/bin/env python3
"""Compares `passnet graph run --json` with Python torch, bit for bit.

    run.py PASSNET [--only REGEX] [--keep DIR]             the tables op_cases.txt and error_cases.txt beside this file
    run.py PASSNET --graphs LIST --root DIR [--cache FILE] a list of graph folders
    run.py --check [--only REGEX]                          only Python: every case of the tables runs, every error case fails

Every difference is printed with its case. The last line is `N passed, N failed`; the exit status is 1 when something failed.

A case is a line `inputs ! metas | statements`:

    x=f32[2,3] i=i64[4] ! i=0..1 x.std=2 | y = x.split(1, dim=0); y[0] + x[i]

inputs   name=dtype[sizes]; floats are drawn with mean 0 and deviation 1, integers from 0 to 9
metas    (optional) name=low..high, name=[data], name.mean=, name.std=, name.min_val=, name.max_val=; torch>=2.13: left out where torch is older
statements  Python, separated by `;`; the last one's value is the result, or the inputs are when it is an assignment

A case becomes a graph folder as torch.fx prints one: one operation a line, each value cleared after its last use.
"""
import argparse
import ast
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
DTYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "bool": "bool",
    "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
}  # fmt: skip
LITERAL_CALLS = ("slice", "device", "torch.device", "float")
CHUNK = 200  # graphs a process


class Case(NamedTuple):
    text: str  # as in the table, or the folder's path
    folder: str  # relative to the root of the run
    fails: bool | None = None  # whether Python torch is expected to refuse it; None: it may


# ---- table -> graph folders


def parse_case(line: str) -> tuple[dict[str, dict[str, Any]], str]:
    """The inputs' metas and the statements."""
    head, _, body = line.partition("|")
    inputs, _, extras = head.partition("!")
    metas: dict[str, dict[str, Any]] = {}
    for word in inputs.split():
        name, dtype, sizes = re.fullmatch(r"(\w+)=(\w+)\[([\d,]*)\]", word).groups()  # type: ignore[union-attr]
        metas[name] = {"shape": [int(n) for n in sizes.split(",") if n], "dtype": "torch." + DTYPES[dtype]}
        if dtype in ("f16", "bf16", "f32", "f64"):
            metas[name] |= {"mean": 0.0, "std": 5.0}  # replay multiplies std by 0.2
        elif dtype != "bool":
            metas[name] |= {"min_val": 0, "max_val": 9}
    for word in extras.split():
        if word.startswith("torch>="):
            continue
        name, _, value = word.partition("=")
        name, _, key = name.partition(".")
        if key:
            metas[name][key] = float(value) * (5.0 if key == "std" else 1.0)
        elif value.startswith("["):
            metas[name]["data"] = json.loads(value)
        else:
            low, high = value.split("..")
            number = float if metas[name]["dtype"].startswith(("torch.f", "torch.b")) else int
            metas[name] |= {"min_val": number(low), "max_val": number(high)}
    return metas, body.strip()


class Flattener:
    """Writes statements as torch.fx prints them: every operation gets its own line and name."""

    def __init__(self, names: list[str]):
        self.values = set(names)
        self.lines: list[tuple[str, list[str]]] = []  # (text, names it uses)
        self.counts = {"tmp": 0, "setitem": 0}
        self.updated: dict[str, str] = {}  # name -> the name that `name += ...` gave the result

    def new_name(self, stem: str) -> str:
        self.counts[stem] += 1
        return f"{stem}_{self.counts[stem] - 1}"

    def is_literal(self, node: ast.AST) -> bool:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id in self.values:
                return False
            if isinstance(part, ast.Call) and ast.unparse(part.func) not in LITERAL_CALLS:
                return False
            if isinstance(part, (ast.Slice, ast.Starred)):
                return False
        return not (isinstance(node, ast.UnaryOp) and not isinstance(node.operand, (ast.Constant, ast.Name)))

    def emit(self, text: str, used: list[str], name: str = "") -> str:
        name = name or self.new_name("tmp")
        self.updated.pop(name, None)
        self.lines.append((f"{name} = {text}", used))
        self.values.add(name)
        return name

    def argument(self, node: ast.expr, used: list[str]) -> str:
        """The text of an operand; what is no literal and no name becomes a line of its own."""
        if isinstance(node, ast.Constant) and node.value is Ellipsis:
            return "Ellipsis"
        if isinstance(node, ast.Tuple):
            inner = [self.argument(item, used) for item in node.elts]
            return f"({inner[0]},)" if len(inner) == 1 else f"({', '.join(inner)})"
        if isinstance(node, ast.List):
            return f"[{', '.join(self.argument(item, used) for item in node.elts)}]"
        if isinstance(node, ast.Slice):
            parts = [self.argument(part, used) if part else "None" for part in (node.lower, node.upper, node.step)]
            return f"slice({', '.join(parts)})"
        if self.is_literal(node):
            return ast.unparse(node)
        name = self.updated.get(node.id, node.id) if isinstance(node, ast.Name) else self.operation(node)
        used.append(name)
        return name

    def operation(self, node: ast.expr, name: str = "") -> str:
        """Emits one operation and gives its name."""
        used: list[str] = []
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and not self.is_literal(node.func.value):
                function = f"{self.argument(node.func.value, used)}.{node.func.attr}"
            else:
                function = ast.unparse(node.func)
            arguments = [self.argument(a, used) for a in node.args]
            arguments += [f"{k.arg} = {self.argument(k.value, used)}" for k in node.keywords]
            text = f"{function}({', '.join(arguments)})"
        elif isinstance(node, ast.Attribute):
            text = f"{self.argument(node.value, used)}.{node.attr}"
        elif isinstance(node, ast.Subscript):
            text = f"{self.argument(node.value, used)}[{self.argument(node.slice, used)}]"
        else:  # an operator: keep its spelling, replace its operands
            operands = [self.argument(child, used) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
            if isinstance(node, ast.UnaryOp):
                symbol = ast.unparse(ast.UnaryOp(node.op, ast.Name("_")))[:-1]
                text = symbol + operands[0]
            elif isinstance(node, ast.BinOp):
                symbol = ast.unparse(ast.BinOp(ast.Name("_"), node.op, ast.Name("_")))[1:-1]
                text = f" {symbol.strip()} ".join(operands)
            elif isinstance(node, ast.Compare):
                symbol = ast.unparse(ast.Compare(ast.Name("_"), node.ops, [ast.Name("_")]))[1:-1]
                text = f" {symbol.strip()} ".join(operands)
            else:
                raise ValueError(f"no such expression in a graph: {ast.unparse(node)}")
        return self.emit(text, used, name)

    def statement(self, node: ast.stmt) -> None:
        used: list[str] = []
        if isinstance(node, ast.AugAssign):
            target = self.argument(node.target, used)
            value = self.argument(node.value, used)
            symbol = ast.unparse(node).split("=")[0].split()[-1]
            result = self.new_name("tmp")
            self.lines.append((f"{target} {symbol}= {value};  {result} = {target}", used))
            self.values.add(result)
            if isinstance(node.target, ast.Name):
                self.updated[node.target.id] = result
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
            place = f"{self.argument(target.value, used)}[{self.argument(target.slice, used)}]"
            value, result = self.argument(node.value, used), self.new_name("setitem")
            self.lines.append((f"{place} = {value};  {result} = {used[0]}", used + [result]))
        elif isinstance(node, ast.Assign):
            name = node.targets[0].id  # type: ignore[attr-defined]
            if isinstance(node.value, ast.Name):
                value = self.argument(node.value, used)
                self.emit(value, used, name)
            else:
                self.operation(node.value, name)
        else:
            self.operation(node.value)  # type: ignore[attr-defined]


def forward_body(statements: str, inputs: list[str]) -> list[str]:
    parsed = ast.parse(statements).body
    flat = Flattener(inputs)
    used: list[str] = []
    last = parsed[-1]
    for node in parsed[:-1]:
        flat.statement(node)
    if isinstance(last, ast.Expr):
        items = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
        returned = [flat.argument(item, used) for item in items]
    else:
        flat.statement(last)
        returned, used = inputs, list(inputs)

    last_use = {name: i for i, (_, names) in enumerate(flat.lines) for name in names}
    body = []
    for i, (text, names) in enumerate(flat.lines):
        dead = [n for n in dict.fromkeys(names) if last_use[n] == i and n not in used and not text.startswith(f"{n} = ")]
        body.append(text + (f";  {' = '.join(dead)} = None" if dead else ""))
    tuple_text = f"({returned[0]},)" if len(returned) == 1 else f"({', '.join(returned)})"
    return body + [f"return {tuple_text}"]


def write_folder(folder: Path, line: str) -> None:
    metas, statements = parse_case(line)
    parameters = "".join(f", {name} : torch.Tensor" for name in metas)
    body = forward_body(statements, list(metas))
    header = ["import torch"]
    header += [f"from torch import {name}" for name in ("device", "inf", "nan") if any(re.search(rf"\b{name}\b", b) for b in body)]
    header += ["import operator"] if any("operator." in b for b in body) else []
    lines = header + ["", "class GraphModule(torch.nn.Module):", f"    def forward(self{parameters}):"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.py").write_text("\n".join(lines + [" " * 8 + b for b in body]) + "\n")
    classes = []
    for name, meta in metas.items():
        fields = {"name": name, "original_name": name, "device": "cpu", "mean": None, "std": None} | meta
        classes.append(f"class Program_weight_tensor_meta_{name}:\n" + "".join(f"\t{k} = {v!r}\n" for k, v in fields.items()))
    (folder / "weight_meta.py").write_text("\n\n".join(classes))


def installed(line: str) -> bool:
    """Whether the case is for this version of torch."""
    wanted = re.search(r"! (?:.* )?torch>=([\d.]+) ", line)
    numbers = [[int(n) for n in v.split(".")[:2]] for v in ((wanted[1] if wanted else "0.0"), importlib.metadata.version("torch"))]
    return numbers[0] <= numbers[1]


def write_table(table: Path, root: Path, only: re.Pattern[str], fails: bool) -> list[Case]:
    cases = []
    for number, line in enumerate(table.read_text().splitlines(), 1):
        if "|" not in line or line.startswith("#") or not only.search(line) or not installed(line):
            continue
        folder = f"{table.stem}_{number:04}"
        try:
            write_folder(root / folder, line)
        except Exception as error:
            sys.exit(f"{table.name}:{number}: {error!r}: {line}")
        cases.append(Case(f"{table.name}:{number}: {line}", folder, fails))
    return cases


# ---- running both sides


def run_lines(command: list[str], names: list[str], root: Path, timeout: float) -> list[dict[str, Any]]:
    """One result per graph of `command --list FILE --root ROOT`. A run that ends early costs the graph it was at; the rest is run again."""
    env = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    results: list[dict[str, Any]] = []
    while len(results) < len(names):
        with tempfile.NamedTemporaryFile("w+", suffix=".txt") as listing:
            listing.write("".join(f"{name}\n" for name in names[len(results) :]))
            listing.flush()
            whole = command + ["--list", listing.name, "--root", str(root)]
            try:
                done = subprocess.run(whole, env=env, capture_output=True, text=True, timeout=timeout, check=False)
                output, ending = done.stdout, f"exit status {done.returncode}: {done.stderr.strip()[-300:]}"
                if done.returncode in (2, 3) and not output:  # wrong usage, wrong environment: the same for every graph
                    sys.exit(f"{' '.join(whole)}: {ending}")
            except subprocess.TimeoutExpired as stopped:
                output, ending = (stopped.stdout or b"").decode(), f"no answer after {timeout:.0f} s"
        complete = output[: output.rfind("\n") + 1].splitlines()[: len(names) - len(results)]
        for line in complete:
            try:
                results.append(json.loads(line))
            except ValueError:
                results.append({"crash": f"not JSON: {line[:200]}"})
        if len(results) < len(names):
            results.append({"crash": ending})
    return results


def python_lines(names: list[str], root: Path, options: argparse.Namespace, cache: dict[str, Any]) -> list[dict[str, Any]]:
    """Python torch's results; those of unchanged folders come from the cache."""
    keys = {name: folder_key(root / name, options.seed, options.device) if options.cache else name for name in names}
    missing = [name for name in names if keys[name] not in cache]
    command = [sys.executable, str(HERE / "reference.py"), "--threads", "1", "--device", options.device, "--seed", str(options.seed)]
    found = run_lines(command, missing, root, options.timeout) if missing else []
    for name, result in zip(missing, found, strict=True):
        cache[keys[name]] = result
        if options.cache and "crash" not in result:
            with open(options.cache, "a") as file:
                file.write(json.dumps({"key": keys[name], "result": result}) + "\n")
    return [cache[keys[name]] for name in names]


def folder_key(folder: Path, seed: int, device: str) -> str:
    digest = hashlib.sha256(f"{importlib.metadata.version('torch')} {machine()} {seed}".encode())
    digest.update(device.encode())
    digest.update((HERE / "reference.py").read_bytes())
    for file in sorted(folder.iterdir()):
        if file.is_file():
            digest.update(f"\0{file.name}\0{file.stat().st_size}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def machine() -> str:
    """What the bits of a result may depend on: the architecture and the processor's abilities."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    kinds = sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))})
    return platform.machine() + hashlib.sha256("\n".join(kinds).encode()).hexdigest()


def read_cache(file: str | None) -> dict[str, Any]:
    if not file or not Path(file).exists():
        return {}
    entries = []
    for line in Path(file).read_text().splitlines():
        try:
            entries.append(json.loads(line))
        except ValueError:  # a line cut short by an interruption
            pass
    return {entry["key"]: entry["result"] for entry in entries}


# ---- comparing


def difference(case: Case, python: dict[str, Any], ours: dict[str, Any] | None) -> str:
    """Why a case failed; empty when both sides agree."""
    if "crash" in python:
        return f"Python torch: {python['crash']}"
    if case.fails and "error" not in python:
        return "Python torch accepts it"
    if case.fails is False and "error" in python:
        return f"Python torch: {python['error']}"
    if ours is None:  # --check
        return ""
    if "crash" in ours:
        return f"passnet: {ours['crash']}"
    if Path(ours.get("graph", "")).name != Path(case.folder).name:
        return f"passnet answered for another graph: {ours.get('graph')}"
    if "error" in python or "error" in ours:
        if "error" in python and "error" in ours:
            return ""
        return f"Python torch: {python.get('error', 'runs')}\n  passnet: {ours.get('error', 'runs')}"
    # By text: 1, 1.0 and True are equal in Python, and NaN is not equal to itself.
    want, got = ([json.dumps(v, sort_keys=True) for v in side.get("outputs", [])] for side in (python, ours))
    if len(want) != len(got):
        return f"Python torch has {len(want)} outputs, passnet {len(got)}"
    wrong = [f"output {i}:\n    Python torch {a}\n    passnet      {b}" for i, (a, b) in enumerate(zip(want, got, strict=True)) if a != b]
    return "\n  ".join(wrong)


def compare(cases: list[Case], root: Path, options: argparse.Namespace) -> tuple[int, int]:
    """Runs and compares all cases; gives the counts of passed and failed ones."""
    cache, failed = read_cache(options.cache), 0
    for start in range(0, len(cases), CHUNK):
        chunk = cases[start : start + CHUNK]
        names = [case.folder for case in chunk]
        python = python_lines(names, root, options, cache)
        ours: list[Any] = [None] * len(names)
        if not options.check:
            command = [options.passnet, "graph", "run", "--json", "--threads", "1", "--device", options.device, "--seed", str(options.seed)]
            ours = run_lines(command, names, root, options.timeout)
        for case, a, b in zip(chunk, python, ours, strict=True):
            why = difference(case, a, b)
            if why:
                failed += 1
                print(f"{case.text}\n  {why}", flush=True)
        print(f"{start + len(chunk)}/{len(cases)} compared, {failed} failed", file=sys.stderr, flush=True)
    return len(cases) - failed, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("passnet", nargs="?", help="path of the binary")
    parser.add_argument("--check", action="store_true", help="run Python torch alone")
    parser.add_argument("--only", type=re.compile, default=re.compile(""), help="only the cases whose line matches")
    parser.add_argument("--keep", help="write the graph folders of the tables here, and leave them")
    parser.add_argument("--graphs", help="compare over the graph folders of this list instead")
    parser.add_argument("--root", default=".", help="folder that the list's paths are relative to")
    parser.add_argument("--cache", help="file that keeps Python torch's results between runs")
    parser.add_argument("--seed", type=int, default=1024, help="of the inputs")
    parser.add_argument("--device", default="cpu", help="where both sides run")
    parser.add_argument("--timeout", type=float, default=600, help=f"seconds for {CHUNK} graphs")
    options = parser.parse_args()
    if not options.check and not options.passnet:
        parser.error("give the path of the binary, or --check")
    if options.passnet and not Path(options.passnet).is_file():
        parser.error(f"no such file: {options.passnet}")

    if options.graphs:
        paths = [line.split()[-1] for line in Path(options.graphs).read_text().splitlines() if line.strip()]
        cases = [Case(path, path) for path in paths if options.only.search(path)]
        passed, failed = compare(cases, Path(options.root), options)
    else:
        with tempfile.TemporaryDirectory(prefix="passnet_differential_") as temporary:
            root = Path(options.keep or temporary).absolute()
            cases = write_table(HERE / "op_cases.txt", root, options.only, fails=False if options.device == "cpu" else None)
            cases += write_table(HERE / "error_cases.txt", root, options.only, fails=True)
            passed, failed = compare(cases, root, options)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

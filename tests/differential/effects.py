#!/usr/bin/env python3
"""Compares `passnet graph show --stage effects` with what Python torch does with memory, over every operator case.

    effects.py PASSNET [--only REGEX]

Each case of op_cases.txt runs statement by statement. Values that share a storage must lie in one memory; a value whose bytes change, and
the random numbers' state when it does, must be among what that node writes. More may: the schemas speak for all arguments. The last line
is `N passed, N failed`.
"""
import argparse
import ast
import re
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

from reference import DEVICE_LITERAL, draw_input, read_metas
from run import HERE, write_table

RANDOM = "random numbers"


def storages(value: Any) -> dict[int, torch.UntypedStorage]:
    if isinstance(value, torch.Tensor):
        if value.is_sparse or value.layout != torch.strided:
            return {}
        storage = value.untyped_storage()
        return {storage.data_ptr(): storage} if storage.nbytes() else {}
    items = value if isinstance(value, (tuple, list)) else []
    return {p: s for item in items for p, s in storages(item).items()}


def contents(value: Any) -> dict[int, bytes]:
    return {p: bytes(s) for p, s in storages(value).items()}


class Effects:
    """What passnet prints of one node."""

    def __init__(self, line: str):
        text = line.split(": ", 1)[1].removesuffix(" (not known)")
        gives, _, writes = text.partition(" writes ")
        self.gives, self.writes = (set(part.split(", ")) - {""} for part in (gives, writes))


def problems(folder: Path, lines: list[str]) -> list[str] | None:
    """What is missing; None where the graph has other nodes than statements."""
    tree = ast.parse(DEVICE_LITERAL.sub("device(type='cpu')", (folder / "model.py").read_text()))
    forward = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
    names = [a.arg for a in forward.args.args[1:]]
    clears = lambda s: isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant) and s.value.value is None
    statements = [s for s in forward.body[:-1] if not clears(s)]
    ours = [Effects(line) for line in lines]
    if len(ours) != len(names) + len(statements):
        return None
    scope: dict[str, Any] = {}
    exec(compile(ast.Module([n for n in tree.body if not isinstance(n, ast.ClassDef)], []), "model.py", "exec"), scope)
    metas = read_metas(folder)
    torch.manual_seed(1024)
    values: list[Any] = [draw_input(metas[name]) for name in names]
    scope.update(zip(names, values))
    out = []
    for statement in statements:
        text, me = ast.unparse(statement), ours[len(values)]
        before, state = [contents(v) for v in values], torch.get_rng_state()
        with torch.no_grad():
            exec(text, scope)
        for old, was, theirs in zip(values, before, ours):
            if contents(old) != was and not theirs.gives & me.writes:
                out.append(f"{text}: writes a value that lies in {sorted(theirs.gives)}")
        if not torch.equal(state, torch.get_rng_state()) and RANDOM not in me.writes:
            out.append(f"{text}: draws random numbers")
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        value = scope[target.id] if isinstance(target, ast.Name) else None
        for old, theirs in zip(values, ours):
            if storages(old).keys() & storages(value).keys() and not theirs.gives & me.gives:
                out.append(f"{text}: shares memory with {sorted(theirs.gives)}")
        values.append(value)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("passnet", help="path of the binary")
    parser.add_argument("--only", type=re.compile, default=re.compile(""), help="only the cases whose line matches")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    passed = failed = left_out = 0
    with tempfile.TemporaryDirectory() as root:
        cases = write_table(HERE / "op_cases.txt", Path(root), options.only, False)
        show = lambda case: subprocess.run(
            [options.passnet, "graph", "show", str(Path(root, case.folder)), "--stage", "effects"], capture_output=True, text=True
        ).stdout.splitlines()
        with ThreadPoolExecutor(2) as pool:
            for case, lines in zip(cases, pool.map(show, cases)):
                try:
                    wrong = problems(Path(root, case.folder), lines)
                except Exception as error:
                    wrong = [repr(error)]
                for text in wrong or []:
                    print(f"{case.text}\n  {text}")
                left_out += wrong is None
                passed += wrong == []
                failed += bool(wrong)
    print(f"{left_out} cases have other nodes than statements")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

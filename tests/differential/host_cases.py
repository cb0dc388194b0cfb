#!/usr/bin/env python3
"""The host program against CPython and torch: the same functions are run by both, on real tensors there, as a recorded plan here.

    host_cases.py BINARY [NAME ...]        NAME: only cases whose text contains it

Every case is an expression or a body of host_table.py; what it gives (numbers, strings, lists, dicts, sizes, strides and offsets of views,
or the name of the exception it raises) is encoded by the case file itself, so that both sides compute the encoding too.
Ends with `N passed, N failed`.
"""
import json, math, os, re, subprocess, sys, tempfile, textwrap, types

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from host_table import BODIES, CLASSES, EXPRESSIONS, TENSORS, VIEWS
import host_iterators

BATCH = 20
PIPELINES = 400
HEAD = '''
import collections
import contextlib
import functools
import itertools
import json
import math
import operator
import typing
import torch
import triton
import triton.language as tl


def pattern(x, y, z, w):
    return x + y + z + w


def replacement_args(x, y, z, w):
    return (x, y, z, w)


def enc(v):
    if v is None or isinstance(v, (bool, int, float)):
        return v
    if isinstance(v, str):
        return (1001,) + tuple([ord(c) for c in v])
    if isinstance(v, torch.Tensor):
        return (1006, enc(tuple(v.shape)), enc(v.stride()), v.storage_offset(), v.element_size(), v.is_contiguous())
    if isinstance(v, dict):
        return (1004,) + tuple([(enc(k), enc(i)) for k, i in v.items()])
    if isinstance(v, (set, frozenset)):
        return (1005,) + tuple([enc(i) for i in sorted(v)])
    if isinstance(v, tuple):
        return (1002,) + tuple([enc(i) for i in v])
    return (1003,) + tuple([enc(i) for i in v])


def attempt(f, x, y, z, w):
    try:
        return enc(f(x, y, z, w))
    except ZeroDivisionError:
        return (2000, 1)
    except KeyError:
        return (2000, 2)
    except IndexError:
        return (2000, 3)
    except ValueError:
        return (2000, 4)
    except TypeError:
        return (2000, 5)
    except AttributeError:
        return (2000, 6)
    except OverflowError:
        return (2000, 7)
    except AssertionError:
        return (2000, 8)
    except RuntimeError:
        return (2000, 9)
    except NameError:
        return (2000, 10)
    except Exception:
        return (2000, 11)
'''


def case_source(number, case):
    body = textwrap.dedent(case).strip("\n") if "\n" in case else f"return {case}"
    return f"\n\ndef case_{number}(x, y, z, w):\n" + textwrap.indent(body, "    ") + "\n"


def file_source(cases):
    source = HEAD + CLASSES + host_iterators.HELPERS + "".join(case_source(i, c) for i, c in enumerate(cases))
    calls = ", ".join(f"attempt(case_{i}, x, y, z, w)" for i in range(len(cases)))
    return source + f"\n\n@torch.fx.wrap\ndef run(x, y, z, w):\n    return ({calls},)\n\n\ndef replacement_func():\n    return run\n"


def stand_ins():
    """triton's helpers, as its own source has them, where it is not installed."""
    triton = types.ModuleType("triton")
    triton.cdiv = lambda x, y: (x + y - 1) // y

    def next_power_of_2(n):
        n -= 1
        for shift in (1, 2, 4, 8, 16, 32):
            n |= n >> shift
        return n + 1

    triton.next_power_of_2 = next_power_of_2
    triton.language = types.ModuleType("triton.language")
    sys.modules.setdefault("triton", triton)
    sys.modules.setdefault("triton.language", triton.language)


def flat(v):
    return [flat(i) for i in v] if isinstance(v, (tuple, list)) else repr(v)


def expected(source, tensors):
    scope = {"__name__": "case"}
    exec(compile(source, "case.py", "exec"), scope)
    return [flat(v) for v in scope["run"](*tensors)]


def parsed(text):
    """The plan's `return (...)` as nested lists of words."""
    stack = [[]]
    for token in re.findall(r"[()]|[^(),\s]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0][0]


def ours(binary, source, args):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "Case.py"), "w") as f:
            f.write(source)
        with open(os.path.join(folder, "sorted_output_pass_rule_names.json"), "w") as f:
            json.dump(["Case"], f)
        done = subprocess.run([binary, "pass", "plan", folder, "--policy", "open", "--args", args], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return None, done.stderr
    return parsed(done.stdout[done.stdout.rindex("return "):][len("return "):]), ""


def tensor_text(sizes, strides, dtype):
    return f"{dtype}[{', '.join(map(str, sizes)) or '()'}]({', '.join(map(str, strides))})"


def main():
    binary, names = sys.argv[1], sys.argv[2:]
    stand_ins()
    tensors = [torch.empty_strided(sizes, strides, dtype=getattr(torch, dtype)) for sizes, strides, dtype in TENSORS]
    args = ", ".join(tensor_text(*t) for t in TENSORS)
    drawn = [draw(seed) for draw in (host_iterators.pipeline, host_iterators.body_of_generator) for seed in range(PIPELINES)]
    iterators = [*host_iterators.EXPRESSIONS, *host_iterators.BODIES, *drawn]
    cases = [c for c in [*EXPRESSIONS, *BODIES, *VIEWS, *iterators] if all(n in c for n in names)]
    passed = failed = 0
    batches = [cases[i:i + BATCH] for i in range(0, len(cases), BATCH)]
    while batches:
        batch = batches.pop(0)
        source = file_source(batch)
        got, error = ours(binary, source, args)
        if got is None and len(batch) > 1:  # one refused case ends the whole plan
            batches = [[c] for c in batch] + batches
            continue
        want = expected(source, tensors)
        for i, case in enumerate(batch):
            if got is not None and got[i] == want[i]:
                passed += 1
                continue
            failed += 1
            print(f"FAILED {case.strip()}\n  expected {want[i]}\n  got      {got[i] if got is not None else error.strip()}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Generated passes and mutants of them, judged by the bench and by a float64 reference.

    mutants.py BINARY [--correct N] [--mutants N] [--seed N] [--keep DIR]

Random chains of operators over a matrix and what is broadcast to it, with or without a reduction at the end, written as a
graph and as a Triton pass in one of several styles. The right ones must come out `correct`: anything else is a false
alarm. A mutant has one operator, operand, constant, index or mask changed. NumPy computes in float64 what graph and mutant
mean: where they differ beyond the tolerance on the recorded inputs the bench must refuse it, where they are the same it
must not. Ends with `N passed, N failed`.
"""
import argparse, itertools, json, os, random, subprocess, sys, tempfile

import numpy as np
import torch

RTOL, ATOL = 10 ** -5.886, 1e-5  # float32 at t = -5
SEED = 1024

# name: torch, Triton, float64; {c} is a constant
OPERATORS = {
    "add": ("{0} + {1}", "{0} + {1}", lambda c, a, b: a + b),
    "sub": ("{0} - {1}", "{0} - {1}", lambda c, a, b: a - b),
    "mul": ("{0} * {1}", "{0} * {1}", lambda c, a, b: a * b),
    "maximum": ("torch.maximum({0}, {1})", "tl.maximum({0}, {1})", lambda c, a, b: np.maximum(a, b)),
    "minimum": ("torch.minimum({0}, {1})", "tl.minimum({0}, {1})", lambda c, a, b: np.minimum(a, b)),
    "scale": ("{0} * {c}", "{0} * {c}", lambda c, a: a * c),
    "shift": ("{0} + {c}", "{0} + {c}", lambda c, a: a + c),
    "relu": ("torch.nn.functional.relu({0})", "tl.maximum({0}, 0.0)", lambda c, a: np.maximum(a, 0)),
    "sigmoid": ("torch.sigmoid({0})", "tl.sigmoid({0})", lambda c, a: 0.5 * np.tanh(0.5 * a) + 0.5),
    "tanh": ("torch.tanh({0})", "2.0 * tl.sigmoid(2.0 * ({0})) - 1.0", lambda c, a: np.tanh(a)),
    "silu": ("torch.nn.functional.silu({0})", "({0}) * tl.sigmoid({0})", lambda c, a: a * (0.5 * np.tanh(0.5 * a) + 0.5)),
    "abs": ("torch.abs({0})", "tl.abs({0})", lambda c, a: np.abs(a)),
    "neg": ("-{0}", "-({0})", lambda c, a: -a),
    "cos": ("torch.cos({0})", "tl.cos({0})", lambda c, a: np.cos(a)),
}
BINARY = [n for n, row in OPERATORS.items() if "{1}" in row[0]]
CONSTANT = ["scale", "shift"]
PLAIN = [n for n in OPERATORS if n not in BINARY + CONSTANT]

# name: torch, Triton over a row (with `other` where nothing is), float64
TAILS = {
    None: None,
    "sum": ("{0}.sum(dim=-1)", "tl.sum({0}, axis=0)", "0.0", lambda v: v.sum(-1)),
    "mean": ("{0}.mean(dim=-1)", "tl.sum({0}, axis=0) / columns", "0.0", lambda v: v.mean(-1)),
    "max": ("torch.amax({0}, dim=-1)", "tl.max({0}, axis=0)", "-float('inf')", lambda v: v.max(-1)),
    "softmax": ("torch.nn.functional.softmax({0}, dim=-1)", None, "-float('inf')",
                lambda v: np.exp(v - v.max(-1, keepdims=True)) / np.exp(v - v.max(-1, keepdims=True)).sum(-1, keepdims=True)),
}
SHAPES = {"full": lambda r, c: [r, c], "row": lambda r, c: [c], "column": lambda r, c: [r, 1]}


class Chain:
    """Inputs are the values 0, 1, ...; each step makes one more and uses the one before it."""

    def __init__(self, rng):
        self.rows, self.columns = rng.choice([1, 5, 33, 64]), rng.choice([1, 7, 100, 128, 250])
        self.inputs = ["full"] + [rng.choice(list(SHAPES)) for _ in range(rng.randint(0, 2))]
        self.std = [rng.choice([1.0, 5.0]) for _ in self.inputs]
        self.steps = []
        unused = list(range(1, len(self.inputs)))
        for i in range(rng.randint(2, 6)):
            last = len(self.inputs) + i - 1 if i > 0 else 0
            name = rng.choice(BINARY) if unused else rng.choice(list(OPERATORS))
            args = [last]
            if name in BINARY:
                other = unused.pop() if unused else rng.randrange(len(self.inputs) + i)
                args = [last, other] if rng.random() < 0.5 else [other, last]
            self.steps.append((name, args, round(rng.uniform(-2, 2), 3)))
        self.tail = rng.choice([None, None, *[t for t in TAILS if t]])
        self.style = rng.choice(["rows"] if self.tail else ["flat", "rows", "tiles", "loop"])
        self.block = rng.choice([32, 64, 128])
        self.index, self.mask = {}, None  # what a mutant has otherwise

    def copy(self):
        other = object.__new__(Chain)
        other.__dict__.update(self.__dict__, steps=list(self.steps), index=dict(self.index))
        return other

    def names(self):
        return [f"x{i}" for i in range(len(self.inputs))]

    # --- as a graph

    def torch_lines(self):
        values, lines = self.names(), []
        for i, (name, args, c) in enumerate(self.steps):
            lines.append(f"t{i} = " + OPERATORS[name][0].format(*[values[a] for a in args], c=c))
            values.append(f"t{i}")
        if self.tail:
            lines.append("t_end = " + TAILS[self.tail][0].format(values[-1]))
        return lines, "t_end" if self.tail else values[-1]

    def model(self):
        lines, out = self.torch_lines()
        body = "".join(f"        {line}\n" for line in lines)
        return f"import torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, {', '.join(self.names())}):\n{body}        return ({out},)\n"

    def meta(self):
        return "".join(f'class Program_weight_tensor_meta_x{i}:\n\tname = "x{i}"\n\tshape = {SHAPES[s](self.rows, self.columns)}\n'
                       f'\tdtype = "torch.float32"\n\tdevice = "cpu"\n\tmean = 0.0\n\tstd = {self.std[i]}\n\n' for i, s in enumerate(self.inputs))

    # --- as a pass

    def kernel(self):
        # where an element of an input is, by the kernel's row and column; where the result is; which elements there are
        row, column = {"flat": ("offs // columns", "offs % columns"), "rows": ("row", "cols"), "loop": ("row", "cols"),
                       "tiles": ("rows_[:, None]", "cols[None, :]")}[self.style]
        place = {"full": f"({row}) * columns + {column}", "row": column, "column": row}
        bound = {"flat": ("offs", "rows * columns"), "rows": ("cols", "columns"), "loop": ("cols", "columns"), "tiles": ("cols[None, :]", "columns")}[self.style]
        mask = (self.mask or "{0} < {1}").format(*bound)
        if self.style == "tiles":
            mask = f"(rows_[:, None] < rows) & ({mask})"
        body = [f"mask = {mask}"]
        values = self.names()
        for i, s in enumerate(self.inputs):
            at = f"({place[s]}){self.index.get(i, '')}"
            where = "" if s == "column" and self.style in ("rows", "loop") else ", mask=mask, other=0.0"
            if s == "column" and self.style == "tiles":
                where = ", mask=rows_[:, None] < rows, other=0.0"
            body.append(f"x{i} = tl.load(x{i}_ptr + {at}{where})")
        for i, (name, args, c) in enumerate(self.steps):
            body.append(f"t{i} = " + OPERATORS[name][1].format(*[values[a] for a in args], c=c))
            values.append(f"t{i}")
        last = values[-1]
        if self.tail:
            body.append(f"v = tl.where(mask, {last}, {TAILS[self.tail][2]})")
            if self.tail == "softmax":
                body += ["e = tl.exp(v - tl.max(v, axis=0))", "tl.store(out_ptr + row * columns + cols, e / tl.sum(e, axis=0), mask=mask)"]
            else:
                body.append(f"tl.store(out_ptr + row, {TAILS[self.tail][1].format('v')})")
        else:
            body.append(f"tl.store(out_ptr + {place['full']}, {last}, mask=mask)")
        head = {"flat": ["offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)"],
                "rows": ["row = tl.program_id(0)", "cols = tl.arange(0, BLOCK)"],
                "loop": ["row = tl.program_id(0)"],
                "tiles": ["rows_ = tl.program_id(0) * 16 + tl.arange(0, 16)", "cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)"]}[self.style]
        if self.style == "loop":
            body = ["for start in range(0, columns, BLOCK):", "    cols = start + tl.arange(0, BLOCK)", *["    " + line for line in body]]
        return head + body

    def passes(self, original):
        lines, out = original.torch_lines()
        names = ", ".join(self.names())
        block = 1 << (self.columns - 1).bit_length() if self.style == "rows" else self.block
        grid = {"flat": f"(triton.cdiv({self.rows} * {self.columns}, {block}),)", "rows": "(x0.shape[0],)", "loop": "(x0.shape[0],)",
                "tiles": f"(triton.cdiv(x0.shape[0], 16), triton.cdiv(x0.shape[1], {block}))"}[self.style]
        result = "torch.empty_like(x0)" if self.tail in (None, "softmax") else "torch.empty((x0.shape[0],), dtype=x0.dtype, device=x0.device)"
        text = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
        text += f"def pattern({names}):\n" + "".join(f"    {line}\n" for line in lines) + f"    return {out}\n\n\n"
        text += f"def replacement_args({names}):\n    return ({names},)\n\n\n"
        pointers = ", ".join(f"x{i}_ptr" for i in range(len(self.inputs)))
        text += f"@triton.jit\ndef kernel({pointers}, out_ptr, rows, columns, BLOCK: tl.constexpr):\n" + "".join(f"    {line}\n" for line in self.kernel())
        text += f"\n\n@torch.fx.wrap\ndef wrapper({names}):\n    out = {result}\n    kernel[{grid}]({names}, out, x0.shape[0], x0.shape[1], BLOCK={block})\n    return out\n\n\ndef replacement_func():\n    return wrapper\n"
        return text

    # --- as float64 numbers

    def draw(self, seed, spread):
        torch.manual_seed(seed)
        return [(torch.randn(SHAPES[s](self.rows, self.columns)) * (self.std[i] * spread) * 0.2).double().numpy() for i, s in enumerate(self.inputs)]

    def sparse(self, chosen, far, column):
        """Of the inputs whose bits are chosen, all numbers are zero but for one of every second row."""
        inputs = self.draw(SEED, 1)
        for i, values in enumerate(inputs):
            if chosen >> i & 1:
                values[:] = 0
                flat = values.reshape(-1, values.shape[-1])
                flat[::2, column * (flat.shape[1] - 1) // 2] = far
        return inputs

    def last(self, values):
        values = list(values)
        for name, args, c in self.steps:
            values.append(OPERATORS[name][2](c, *[values[a] for a in args]))
        return values[-1]

    def end(self, value):
        return TAILS[self.tail][3](value) if self.tail else value

    def value(self, inputs):
        return self.end(self.last([np.broadcast_to(v, (self.rows, self.columns)) for v in inputs]))


def mutate(chain, rng):
    """A copy with one thing changed, and what kind of thing."""
    m = chain.copy()
    kind = rng.choice(["operator", "operand", "constant", "index", "mask", "same"])
    i = rng.randrange(len(m.steps))
    name, args, c = m.steps[i]
    if kind == "operator":
        family = next(f for f in (BINARY, CONSTANT, PLAIN) if name in f)
        m.steps[i] = (rng.choice([n for n in family if n != name]), args, c)
    elif kind == "operand":
        k = rng.randrange(len(args))
        m.steps[i] = (name, args[:k] + [rng.randrange(len(m.inputs) + i)] + args[k + 1 :], c)
    elif kind == "constant":
        m.steps[i] = (name, args, rng.choice([c * (1 + 1e-9), c * 1.01, -c, c + 0.5, 0.0]))
    elif kind == "index":
        m.index[rng.randrange(len(m.inputs))] = rng.choice([" + 1", " - 1", " * 2"])
    elif kind == "mask":
        m.mask = rng.choice(["{0} < {1} - 1", "{0} <= {1}", "{0} > 0", "{0} < {1} // 2"])
    else:
        m.mask = rng.choice(["{0} <= {1} - 1", "{1} > {0}", "{0} + 1 <= {1}"])
    return m, kind


class Lanes:
    """A chain's kernel, lane by lane: where it reads and writes."""

    def __init__(self, chain):
        self.chain, rows, columns = chain, chain.rows, chain.columns
        self.whole = chain.tail in (None, "softmax")  # the result has the matrix's shape
        block = 1 << (columns - 1).bit_length() if chain.style == "rows" else chain.block
        if chain.style == "flat":
            lanes = np.arange(-(-rows * columns // block) * block)
            row, column, bound = lanes // columns, lanes % columns, (lanes, rows * columns)
        else:
            row, column = [a.ravel() for a in np.meshgrid(np.arange(rows), np.arange(-(-columns // block) * block), indexing="ij")]
            bound = (column, columns)
        self.mask = eval((chain.mask or "{0} < {1}").format("a", "b"), {"a": bound[0], "b": bound[1]})
        self.at = {"full": row * columns + column, "row": column, "column": row}

    def value(self, inputs):
        """The result; None where memory is left, or an element not written."""
        chain, loaded = self.chain, []
        for i, shape in enumerate(chain.inputs):
            at, flat = eval("at" + chain.index.get(i, ""), {"at": self.at[shape]}), inputs[i].ravel()
            used = np.ones_like(self.mask) if shape == "column" and chain.style != "flat" else self.mask
            if not ((at[used] >= 0) & (at[used] < flat.size)).all():
                return None
            loaded.append(np.where(used, flat[np.clip(at, 0, flat.size - 1)], 0))
        last = chain.last(loaded)
        if not self.whole:
            filler = -np.inf if chain.tail == "max" else 0
            last = np.where(self.mask, last, filler).reshape(chain.rows, -1)
            return last.sum(-1) / chain.columns if chain.tail == "mean" else TAILS[chain.tail][3](last)
        written = self.at["full"][self.mask]
        if (written < 0).any() or (written >= chain.rows * chain.columns).any() or np.unique(written).size < chain.rows * chain.columns:
            return None
        result = np.empty(chain.rows * chain.columns)
        result[written] = last[self.mask]
        return chain.end(result.reshape(chain.rows, chain.columns))


def judge(chain, mutant):
    """True: the same on all inputs. False: another answer on the recorded ones. None: neither is sure."""
    same, lanes = True, Lanes(mutant)
    recorded, *others = [chain.draw(SEED + i, spread) for i, spread in enumerate((1, 1, 4, 20))]
    for chosen, far, column in itertools.product(range(1, 1 << len(chain.inputs)), (-8, 8), range(3)):  # a maximum hides what is not the largest
        others.append(chain.sparse(chosen, far, column))
    for inputs in (recorded, *others):
        want, got = chain.value(inputs), lanes.value(inputs)
        if got is None:  # by its indices, whatever the inputs
            return False
        allowed = ATOL + RTOL * np.abs(want)
        if inputs is recorded and not (np.abs(got - want) <= 2 * allowed).all():
            return False
        same = same and (np.abs(got - want) <= 1e-3 * allowed).all()
    return True if same else None


def write(folder, chain, text):
    graph = os.path.join(folder, "float32_0")
    os.makedirs(graph)
    os.makedirs(os.path.join(folder, "pass_dir"))
    for path, content in ((graph + "/model.py", chain.model()), (graph + "/weight_meta.py", chain.meta()),
                          (folder + "/graph_list.txt", os.path.basename(folder) + "/float32_0\n"), (folder + "/pass_dir/Generated.py", text),
                          (folder + "/pass_dir/sorted_output_pass_rule_names.json", '["Generated"]\n')):
        with open(path, "w") as file:
            file.write(content)


def main():
    everything = bool(os.environ.get("PASSNET_ALL"))
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--correct", type=int, default=200 if everything else 40)
    parser.add_argument("--mutants", type=int, default=400 if everything else 60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    opt = parser.parse_args()
    rng = random.Random(opt.seed)
    with tempfile.TemporaryDirectory() as scratch:
        top = opt.keep or scratch
        expected = {}
        while len(expected) < opt.correct + opt.mutants:
            chain = Chain(rng)
            if not np.isfinite(chain.value(chain.draw(SEED + 2, 4))).all():
                continue
            if len(expected) < opt.correct:
                name, verdict, candidate = f"right_{len(expected):03}", True, chain
            else:
                candidate, kind = mutate(chain, rng)
                verdict = judge(chain, candidate)
                if verdict is None:
                    continue  # neither right nor wrong for sure
                name = f"{kind}_{len(expected):03}"
            write(os.path.join(top, name), chain, candidate.passes(chain))
            expected[name] = verdict
        with open(os.path.join(top, "list.txt"), "w") as file:
            file.write("".join(name + "\n" for name in expected))
        run = os.path.join(top, "run")
        command = [opt.binary, "bench", "--list", os.path.join(top, "list.txt"), "--root", top, "--candidates", "pass_dir", "--out", run,
                   "--warmup", "2", "--trials", "6", "--noise-limit", "1000", "--repeats", "0", "--threads", "1"]
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=3000)
        if process.returncode not in (0, 1):
            sys.exit(f"the bench ended with {process.returncode}: {process.stderr[-2000:]}")
        found = {}
        for line in open(os.path.join(run, "records.jsonl")):
            record = json.loads(line)
            if "status" in record:
                found[record["task"]] = record
        tally = {True: [0, 0], False: [0, 0]}
        for name, right in expected.items():
            record = found.get(name)
            status = record["status"] if record else "no record"
            good = status == "correct" if right else status in ("accuracy", "integrity", "runtime_fail", "compile_fail")
            tally[right][0 if good else 1] += 1
            if not good:
                print(f"{'FALSE ALARM' if right else 'MISSED'} {name}: {status} {[e.get('message') for e in (record or {}).get('errors', [])][:2]}")
        print(f"right: {tally[True][0]} pass, {tally[True][1]} false alarms; wrong: {tally[False][0]} found, {tally[False][1]} missed")
        print(f"{tally[True][0] + tally[False][0]} passed, {tally[True][1] + tally[False][1]} failed")
        sys.exit(tally[True][1] + tally[False][1] > 0)


if __name__ == "__main__":
    main()

"""Kernels generated from a seed, for tile_compiled.py: everything that this language fixes, also where Triton leaves it open or its
interpreter does not follow (tile_cases.py stays clear of that): bfloat16 as any other type, NaN and infinities everywhere, division by 0,
shifts by the width and more, casts that saturate. Every result is fixed bit for bit, but for the sign of a NaN.
"""
import random

import numpy as np

from tile_cases import BITS, FLOATS, INTS, Buffer, Mixed, Value, broadcast, data, is_float, is_signed, promote, rank, zeros

HELPERS = """
SCALE: tl.constexpr = tl.constexpr(3)


@triton.jit
def twice(v, N: tl.constexpr):
    for _ in tl.static_range(N):
        v = v + v
    return v


@triton.jit
def both(a, b, SWAP: tl.constexpr = False):
    if SWAP:
        return b - a, a + b
    return a - b, b + a


@triton.jit
def pick(a, b, flag):
    if flag:
        out = a * SCALE
    else:
        out = twice(b, 2)
    return out


@triton.jit
def early(a, n):
    if n > 2:
        return a + 1
    a = a * 2
    return a


"""


class Free(Mixed):
    def divisor(self, b, real):
        return b.text

    def distance(self, b):
        return b.text

    def number(self, a):
        return a.text

    def guarded(self, a, to):
        return a.text

    def cast(self):
        a = self.pick()
        to = self.r.choice(INTS + FLOATS + ["bfloat16", "int1", "int32", "float32"])
        return self.name(f"{a.text}.to(tl.{to})", to, a.shape) if to != a.dtype else None

    def values_of(self, dtype, n):
        """With infinities, NaN and the largest numbers."""
        v = data(self.r, dtype, n)
        if is_float(dtype) and self.r.random() < 0.4:
            special = {"bfloat16": [0x7F80, 0xFF80, 0x7FC0, 0x7F7F, 0x0001]}.get(dtype, [np.inf, -np.inf, np.nan, 65504.0, 6e-8])
            for i in self.r.sample(range(n), max(1, n // 8)):
                v[i] = self.r.choice(special)
        return v

    def load(self, dtype, kind=None):
        p = f"x{len(self.arguments)}"
        self.argument(p, Buffer(dtype, self.values_of(dtype, self.elements)))
        mask, other = "mask", ""
        m = self.pick(lambda v: v.dtype == "int1" and v.shape == self.shape)
        if m and self.r.random() < 0.5:
            mask = f"mask & {m.text}"
        x = self.pick(lambda v: v.dtype == dtype and broadcast(v.shape, self.shape) == self.shape)
        if dtype != "int1" and self.r.random() < 0.6:
            other = f", other={x.text if x and self.r.random() < 0.5 else self.literal(dtype)}"
        return self.name(f"tl.load({p} + at, mask={mask}{other})", dtype, self.shape)

    def tile(self, v):
        return v.dtype != "int1" and v.shape == self.shape

    def scalar_test(self):
        v = self.pick(lambda v: not v.shape and rank(v.dtype) == 1)
        tests = ["tl.program_id(0) % 2 == 1", "n0 > 17", "steps > 1", "(steps < 3) and (n0 > 2)", "not (steps == 1)"]
        if v:
            tests += [f"{v.text} > 3", f"{v.text} % 2 == 0"]
        return self.r.choice(tests)

    def reduce(self):
        x = self.pick(self.tile)
        if not x or not is_float(x.dtype):
            return super().reduce() if self.pick(self.full) else None
        d = self.r.randrange(len(self.shape))
        kept = tuple(1 if i == d else s for i, s in enumerate(self.shape))
        f = self.r.choice(["max", "min", "argmax", "argmin"])
        t = "int32" if "arg" in f else "float32" if BITS[x.dtype] == 16 else x.dtype
        return self.name(f"tl.{f}({x.text}, axis={d}, keep_dims=True)" + ("" if "arg" in f else " + 0.0"), t, kept)

    def turn(self):
        return super().turn() if self.pick(self.full) else None

    def again(self):
        return super().again() if self.pick(self.full) else None

    def arm(self, name, x):
        """Some steps, then a new value of the name."""
        kept = list(self.values)
        for _ in range(self.r.choice([0, 1, 2])):
            self.any()
        b = self.pick(self.tile)
        text = b.text if b.dtype == x.dtype else f"{b.text}.to(tl.{x.dtype})"
        self.line(f"{name} = {self.r.choice([text, f'{name} + {text}', f'{name} * 2'])}")
        self.values = kept

    def branch(self):
        x = self.pick(self.tile)
        if self.depth > 2 or not x:
            return None
        self.count += 1
        name = f"b{self.count}"
        constant = self.r.random() < 0.3
        self.line(f"{name} = {x.text} * 1")
        self.line(f"if {f'MODE == {self.r.randrange(3)}' if constant else self.scalar_test()}:")
        self.depth += 1
        self.arm(name, x)
        self.depth -= 1
        if self.r.random() < 0.5:
            self.line("else:")
            self.depth += 1
            self.arm(name, x)
            self.depth -= 1
        v = Value(name, x.dtype, x.shape)
        self.values.append(v)
        return v

    def repeat(self):
        """A while loop."""
        x = self.pick(self.tile)
        if self.depth > 2 or not x:
            return None
        self.count += 1
        name, i = f"w{self.count}", f"c{self.count}"
        self.line(f"{name} = {x.text} + 0")
        self.line(f"{i} = 0")
        self.line(f"while {i} < steps:")
        self.depth += 1
        self.arm(name, x)
        self.line(f"{i} += {self.r.choice([1, 2])}")
        self.depth -= 1
        v = Value(name, x.dtype, x.shape)
        self.values += [v, Value(i, "int32", ())]
        return v

    def call(self):
        a = self.pick(self.tile)
        b = a and self.pick(lambda v: self.tile(v) and v.dtype == a.dtype)
        if not a:
            return None
        way = self.r.randrange(4)
        if way == 0:
            return self.name(f"twice({a.text}, {self.r.choice([1, 3])})", a.dtype, a.shape)
        if way == 1:
            return self.name(f"pick({a.text}, {b.text}, {self.scalar_test()})", a.dtype, a.shape)
        if way == 2:
            return self.name(f"early({a.text}, {self.r.choice(['steps', 'n0', '1'])})", a.dtype, a.shape)
        self.count += 1
        p, q = f"p{self.count}", f"q{self.count}"
        self.line(f"{p}, {q} = both({a.text}, {b.text}{self.r.choice(['', ', True', ', SWAP=False', ', MODE == 1'])})")
        self.values += [Value(p, a.dtype, a.shape), Value(q, a.dtype, a.shape)]
        return self.values[-1]

    def atomic(self):
        x = self.pick(lambda v: self.tile(v) and v.dtype in ("int32", "int64", "uint32", "uint64", "float32", "float64"))
        if not x:
            return None
        p = f"u{len(self.arguments)}"
        self.argument(p, Buffer(x.dtype, self.values_of(x.dtype, self.elements)))
        kinds = ["add", "xchg"] + ([] if is_float(x.dtype) else ["max", "min", "and", "or", "xor"])
        f = self.r.choice(kinds)
        if not is_float(x.dtype) and f != "xchg" and self.r.random() < 0.4:  # several to one element: any order gives the same
            self.line(f"tl.atomic_{f}({p} + at % {self.r.choice([3, 8])}, {x.text}, mask=mask)")
            return x
        return self.name(f"tl.atomic_{f}({p} + at, {x.text}, mask=mask)", x.dtype, x.shape)

    def gather(self):
        x = self.pick(self.full)
        if not x:
            return None
        p, dtype = f"g{len(self.arguments)}", self.r.choice(INTS + FLOATS + ["bfloat16"])
        self.argument(p, Buffer(dtype, self.values_of(dtype, 16)))
        return self.name(f"tl.load({p} + ({x.text} & {self.r.choice([1, 7, 15])}))", dtype, x.shape)

    def dot(self):
        x = self.pick(self.full)
        if not x or len(self.shape) != 2 or self.shape[1] < 16:
            return None
        t = self.r.choice(["float32", "float16", "bfloat16", "float64"] + (["int8"] if self.shape[1] >= 32 else []))
        out = {"int8": "int32", "float64": "float64"}.get(t, "float32")
        a = self.name(f"({x.text} & 7).to(tl.{t})", t, x.shape)
        b = self.name(f"({x.text} % 5).to(tl.{t})", t, x.shape)
        d = f"tl.dot({a.text}, tl.trans({b.text}), out_dtype=tl.{out})"
        return self.name(f"tl.max({d}, axis=1, keep_dims=True)" + (" + 0.0" if is_float(out) else ""), out, (self.shape[0], 1))

    def halves(self):
        x = self.pick(self.tile)
        if not x:
            return None
        n = int(np.prod(self.shape))
        self.count += 1
        a, b = f"e{self.count}", f"o{self.count}"
        self.line(f"{a}, {b} = tl.split(tl.reshape({x.text}, [{n // 2}, 2]))")
        joined = self.r.choice([f"tl.join({b}, {a})", f"tl.join({a} + {b}, {b})", f"tl.interleave({a}, {a})", f"tl.flip(tl.interleave({b}, {a}), 0)"])
        return self.name(f"tl.reshape({joined}, {list(self.shape)})", x.dtype, x.shape)

    def columns(self):
        """Loaded column by column."""
        if len(self.shape) != 2:
            return None
        p, dtype = f"k{len(self.arguments)}", self.r.choice(INTS + FLOATS + ["bfloat16", "float32"])
        self.argument(p, Buffer(dtype, self.values_of(dtype, self.elements)))
        other = self.r.choice(["", f", other={self.literal(dtype)}"])
        if self.r.random() < 0.5:
            return self.name(f"tl.load({p} + {self.index(1)} * n0 + {self.index(0)}, mask=mask{other})", dtype, self.shape)
        rows, columns = "i1[:, None]", "i0[None, :]"
        return self.name(f"tl.trans(tl.load({p} + {rows} * n0 + {columns}, mask=({rows} < n1) & ({columns} < n0){other}))", dtype, self.shape)

    def choose(self):
        """Elements by their number, by their order; how often they are there."""
        x, y = self.pick(self.tile), self.pick(self.full)
        if not x or not y or np.prod(self.shape) * max(self.shape) > 1 << 16:
            return None
        d = self.r.randrange(len(self.shape))
        way = self.r.randrange(3)
        if way == 0:
            return self.name(f"tl.gather({x.text}, {y.text} & {self.shape[d] - 1}, {d})", x.dtype, x.shape)
        if way == 1 or len(self.shape) > 1:
            return self.name(f"tl.sort({x.text}{self.r.choice(['', ', descending=True'])})", x.dtype, x.shape)
        k = self.r.choice([1, 4])
        self.values.append(Value(f"tl.max(tl.topk({y.text}, {k}), axis=0)", y.dtype if BITS[y.dtype] >= 32 else "int32", ()))
        return self.name(f"tl.sum(tl.histogram({y.text}, 16) * tl.arange(1, 17), axis=0)", "int32", ())

    def scatter(self):
        x = self.pick(self.tile)
        if not x:
            return None
        p = f"y{len(self.arguments)}"
        self.argument(p, zeros(x.dtype, self.elements))
        at = f"{self.elements - 1} - at"
        if len(self.shape) == 2 and self.r.random() < 0.6:
            at = f"{self.index(1)} * n0 + {self.index(0)}"
        self.line(f"tl.store({p} + ({at}), {x.text}, mask=mask)")
        return x

    def in_place(self):
        """Elements that are read and written back; what was read is used later."""
        dtype = self.r.choice(INTS + FLOATS)
        p = f"z{len(self.arguments)}"
        self.argument(p, Buffer(dtype, self.values_of(dtype, self.elements)))
        x = self.name(f"tl.load({p} + at, mask=mask, other={self.literal(dtype)})", dtype, self.shape)
        y = self.name(self.r.choice([f"tl.maximum({x.text}, {self.literal(dtype)}).to(tl.{dtype})", f"-{x.text}", f"{x.text} * 2"]), dtype, self.shape)
        self.line(f"tl.store({p} + at, {y.text}, mask=mask)")
        return y

    def any(self):
        kinds = [self.step] * 6 + [self.reduce] * 3 + [self.scan, self.turn, self.again, self.loop, self.branch, self.repeat, self.call, self.atomic,
                                                       self.gather, self.dot, self.dot, self.halves, self.columns, self.columns, self.choose, self.scatter,
                                                       self.in_place]
        for _ in range(60):
            v = self.r.choice(kinds)()
            if v:
                return v
        return None


def generate(name):
    """The case free-SEED."""
    r = random.Random(name)
    k = Free(r)
    k.argument("steps", r.choice([0, 1, 2, 4]))
    k.argument("MODE", ("constexpr", r.randrange(3)), ": tl.constexpr")
    if r.random() < 0.2:
        k.line(f"if tl.program_id(0) >= {r.choice([1, 2])}:")
        k.line("    return")
    for _ in range(r.choice([1, 2, 3])):
        k.load(r.choice(INTS + FLOATS + ["bfloat16", "int32", "float32", "int1"]))
    k.load("int32")
    for _ in range(r.randrange(3, 12)):
        k.any()
    for v in r.sample(k.values[-10:], min(4, len(k.values))):
        k.store(v, v.dtype)
    return k.case(name, HELPERS.lstrip("\n"))

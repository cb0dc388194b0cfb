"""Kernels generated from a seed, for tile_triton.py: valid Triton whose result the language fixes.

What it leaves open, or Triton's interpreter gets wrong (QUIRKS in tile_triton.py), is generated behind a guard: no division by 0, no
shift by the width or more, no cast of a float that the integer type does not have, no NaN into minimum and maximum. Sums of floats run
over small whole numbers, so that every order gives the same bits; what is compared with a tolerance says so (`ulps`, `atol`).
"""
import random

import numpy as np

BITS = {"int1": 1, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64,
        "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
HEAD = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n\n\n"


def is_float(t):
    return "float" in t


def is_signed(t):
    return t.startswith("int") and t != "int1"


def rank(t):
    return 0 if t == "int1" else 2 if is_float(t) else 1


def promote(a, b, division=False):
    """The type two tiles compute in."""
    for t in ("float64", "float32"):
        if t in (a, b):
            return t
    if "float16" in (a, b) or a == b == "bfloat16":
        return "float32" if division else "float16" if "float16" in (a, b) else "bfloat16"
    if "bfloat16" in (a, b):
        return "float32"
    if a == b:
        return a
    if is_signed(a) == is_signed(b):
        return a if BITS[a] > BITS[b] else b
    u, s = (b, a) if is_signed(a) else (a, b)
    return u if BITS[u] >= BITS[s] else s


class Buffer:
    def __init__(self, dtype, values):
        self.dtype = dtype
        self.values = np.ascontiguousarray(values)


class Case:
    """A kernel, its arguments by name (Buffer, number, or ("constexpr", value)), its grid and how its results are compared."""

    def __init__(self, name, source, arguments, grid=(1, 1, 1), kernel="kernel", ulps=0, atol=0.0, options=None):
        self.options = options or {}  # num_warps, num_stages
        self.name, self.kernel, self.ulps, self.atol = name, kernel, ulps, atol
        self.source = HEAD + source.lstrip("\n")
        self.arguments = arguments
        self.grid = tuple(grid) + (1,) * (3 - len(grid))
        self.expected = None  # of tile_kernels.py


def numpy_type(dtype):
    return np.dtype({"int1": "bool", "bfloat16": "uint16"}.get(dtype, dtype))


def data(r, dtype, n, kind="any"):
    """n values. any: all magnitudes and some special ones; whole: small whole numbers; unit: -1 to 1; positive: 0.1 to 10"""
    g = np.random.default_rng(r.getrandbits(32))
    if dtype == "int1":
        return g.integers(0, 2, n).astype(bool)
    if dtype == "bfloat16":
        return (data(r, "float32", n, kind).view(np.uint32) >> 16).astype(np.uint16)
    if not is_float(dtype):
        info = np.iinfo(dtype)
        low, high = (-8, 9) if kind != "any" else (info.min, info.max)
        if not is_signed(dtype):
            low = max(low, 0)
        v = g.integers(low, high, n, dtype=dtype, endpoint=False)
        small = g.integers(max(-9, info.min), 10, n).astype(dtype)
        return np.where(g.random(n) < 0.5, small, v).astype(dtype)
    if kind == "whole":
        return g.integers(-8, 9, n).astype(dtype)
    if kind == "unit":
        return (g.random(n) * 2 - 1).astype(dtype)
    if kind == "positive":
        return (g.random(n) * 9.9 + 0.1).astype(dtype)
    v = g.normal(size=n) * np.exp2(g.integers(-6, 7, n))
    special = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.5, 1e-4, 1000.0])
    return np.where(g.random(n) < 0.2, special[g.integers(0, len(special), n)], v).astype(dtype)


def zeros(dtype, n):
    return Buffer(dtype, np.zeros(n, numpy_type(dtype)))


class Value:
    def __init__(self, text, dtype, shape):
        self.text, self.dtype, self.shape = text, dtype, shape


def broadcast(a, b):
    """Of two shapes, or None."""
    if not a or not b:
        return a or b
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b)):
        return None
    return tuple(max(x, y) for x, y in zip(a, b))


class Writer:
    """Statements of a kernel over a growing list of typed values."""

    def __init__(self, r):
        self.r, self.lines, self.values, self.count, self.depth = r, [], [], 0, 1

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def name(self, text, dtype, shape):
        self.count += 1
        v = Value(f"v{self.count}", dtype, tuple(shape))
        self.line(f"{v.text} = {text}")
        self.values.append(v)
        return v

    def pick(self, test=lambda v: True):
        found = [v for v in self.values if test(v)]
        return self.r.choice(found[-6:] if self.r.random() < 0.6 else found) if found else None

    def partner(self, a, test=lambda v: True):
        return self.pick(lambda v: test(v) and broadcast(a.shape, v.shape) is not None)

    def literal(self, dtype):
        """A number that adopts the type."""
        if is_float(dtype):
            return self.r.choice(["0.5", "-1.5", "2.0", "3", "0.1", "-7", "1e-3", "100.0"])
        limit = {8: 100, 16: 30000}.get(BITS[dtype], 10**6)
        n = self.r.choice([0, 1, 2, 3, 5, 7, 10, limit])
        return str(n if not is_signed(dtype) or self.r.random() < 0.6 else -n)

    def step(self):
        """One more value."""
        kinds = [self.arithmetic] * 5 + [self.divide, self.compare, self.logic, self.bits, self.shift, self.cast, self.cast, self.where,
                                         self.minmax, self.unary, self.unary]
        for _ in range(30):
            v = self.r.choice(kinds)()
            if v:
                return v
        raise RuntimeError("no step fits")

    def arithmetic(self):
        a = self.pick(lambda v: v.dtype != "int1")
        if not a:
            return None
        op = self.r.choice("+-*")
        if self.r.random() < 0.3:
            lit = self.literal(a.dtype)
            return self.name(f"{a.text} {op} {lit}" if self.r.random() < 0.6 else f"{lit} {op} {a.text}", a.dtype, a.shape)
        b = self.partner(a, lambda v: v.dtype != "int1")
        return self.name(f"{a.text} {op} {b.text}", promote(a.dtype, b.dtype), broadcast(a.shape, b.shape))

    def divide(self):
        a = self.pick(lambda v: v.dtype != "int1")
        if not a:
            return None
        b = self.partner(a, lambda v: v.dtype != "int1" and (is_float(a.dtype) or is_float(v.dtype) or is_signed(v.dtype) == is_signed(a.dtype)))
        shape = broadcast(a.shape, b.shape)
        if is_float(a.dtype) or is_float(b.dtype):
            return self.name(f"{a.text} {self.r.choice('/%') if is_float(a.dtype) and is_float(b.dtype) else '/'} {b.text}",
                             promote(a.dtype, b.dtype, True), shape)
        op = self.r.choice(["//", "%", "//", "%", "/"])
        if self.r.random() < 0.4:
            n = self.r.choice([1, 2, 3, 7, 8, 10, 64]) * (self.r.choice([1, -1]) if is_signed(a.dtype) else 1)
            return self.name(f"{a.text} {op} {n}", "float32" if op == "/" else a.dtype, a.shape)
        if op == "/":
            return self.name(f"{a.text} / {self.divisor(b, True)}", "float32", shape)
        return self.name(f"{a.text} {op} {self.divisor(b, False)}", promote(a.dtype, b.dtype), shape)

    def compare(self):
        a = self.pick(lambda v: v.dtype != "int1" and v.shape)
        if not a:
            return None
        op = self.r.choice(["<", "<=", ">", ">=", "==", "!="])
        if self.r.random() < 0.4:
            return self.name(f"{a.text} {op} {self.literal(a.dtype)}", "int1", a.shape)
        b = self.partner(a, lambda v: v.dtype != "int1")
        return self.name(f"{a.text} {op} {b.text}", "int1", broadcast(a.shape, b.shape))

    def logic(self):
        a = self.pick(lambda v: v.dtype == "int1")
        if not a:
            return None
        if self.r.random() < 0.3:
            return self.name(f"~{a.text}", "int1", a.shape)
        b = self.partner(a, lambda v: v.dtype == "int1")
        return self.name(f"{a.text} {self.r.choice('&|^')} {b.text}", "int1", broadcast(a.shape, b.shape))

    def bits(self):
        a = self.pick(lambda v: rank(v.dtype) == 1)
        if not a:
            return None
        if self.r.random() < 0.2 and is_signed(a.dtype):
            return self.name(f"~{a.text}", a.dtype, a.shape)
        op = self.r.choice("&|^")
        if self.r.random() < 0.4:
            return self.name(f"{a.text} {op} {self.r.choice([1, 3, 15, 85])}", a.dtype, a.shape)
        b = self.partner(a, lambda v: rank(v.dtype) == 1)
        return self.name(f"{a.text} {op} {b.text}", promote(a.dtype, b.dtype), broadcast(a.shape, b.shape))

    def shift(self):
        a = self.pick(lambda v: rank(v.dtype) == 1)
        if not a:
            return None
        op = self.r.choice(["<<", ">>"])
        if self.r.random() < 0.5:
            return self.name(f"{a.text} {op} {self.r.randrange(BITS[a.dtype])}", a.dtype, a.shape)
        b = self.partner(a, lambda v: v.dtype == a.dtype)
        return self.name(f"{a.text} {op} {self.distance(b)}", a.dtype, broadcast(a.shape, b.shape))

    def divisor(self, b, real):
        """The text of b, not 0."""
        return f"tl.where({b.text} == 0, 5, {b.text})" if real else f"({b.text} | 1)"

    def distance(self, b):
        """The text of b, less than its width."""
        return f"({b.text} & {BITS[b.dtype] - 1})"

    def number(self, a):
        """The text of a, no NaN."""
        return f"tl.where({a.text} == {a.text}, {a.text}, 0.0)" if is_float(a.dtype) else a.text

    def guarded(self, a, to):
        """The text of a with the values that an integer type has."""
        if not is_float(a.dtype) or is_float(to) or to == "int1":
            return a.text
        if is_signed(to):
            return f"tl.where(tl.abs({a.text}) < 100.0, {a.text}, 7.0)"
        return f"tl.where(({a.text} > -1.0) & ({a.text} < 200.0), {a.text}, 7.0)"

    def cast(self):
        a = self.pick()
        to = self.r.choice(INTS + FLOATS + ["int32", "float32", "int64"])
        if to == a.dtype:
            return None
        text = self.guarded(a, to)
        if text != a.text:
            text = f"({text})"
        return self.name(f"{text}.to(tl.{to})" if self.r.random() < 0.7 else f"tl.cast({text}, tl.{to})", to, a.shape)

    def where(self):
        c = self.pick(lambda v: v.dtype == "int1")
        if not c:
            return None
        a = self.partner(c, lambda v: v.dtype != "int1")
        if not a:
            return None
        shape = broadcast(c.shape, a.shape)
        if self.r.random() < 0.4:
            return self.name(f"tl.where({c.text}, {a.text}, {self.literal(a.dtype)})", a.dtype, shape)
        b = self.pick(lambda v: v.dtype != "int1" and broadcast(shape, v.shape) is not None)
        return self.name(f"tl.where({c.text}, {a.text}, {b.text})", promote(a.dtype, b.dtype), broadcast(shape, b.shape))

    def minmax(self):
        a = self.pick(lambda v: v.dtype != "int1")
        if not a:
            return None
        b = self.partner(a, lambda v: v.dtype != "int1")
        f = self.r.choice(["tl.minimum", "tl.maximum"])
        t = promote(a.dtype, b.dtype).replace("bfloat16", "float32")
        text = f"{f}({self.number(a)}, {self.number(b)})" + (" + 0.0" if is_float(t) else "")  # of -0 and 0 either
        return self.name(text, t, broadcast(a.shape, b.shape))

    def unary(self):
        a = self.pick(lambda v: v.dtype != "int1")
        if not a:
            return None
        if is_float(a.dtype):
            if BITS[a.dtype] == 16:
                return self.name(self.r.choice([f"-{a.text}", f"tl.abs({a.text})"]), a.dtype, a.shape)
            return self.name(self.r.choice([f"-{a.text}", f"tl.abs({a.text})", f"tl.floor({a.text})", f"tl.ceil({a.text})",
                                            f"tl.sqrt_rn(tl.abs({a.text}))" if a.dtype == "float32" else f"-{a.text}"]), a.dtype, a.shape)
        if is_signed(a.dtype):
            return self.name(self.r.choice([f"-{a.text}", f"tl.abs({a.text})"]), a.dtype, a.shape)
        return self.name(f"{a.text} + {a.text}", a.dtype, a.shape)


DIMS = ["[:, None, None]", "[None, :, None]", "[None, None, :]"]


class Kernel(Writer):
    """A whole kernel over tiles of one shape: inputs are loaded, results stored, under the mask of what lies inside."""

    def __init__(self, r, dims=None, kind="any"):
        super().__init__(r)
        self.kind = kind
        n = dims or r.choice([1, 1, 2, 2, 3])
        self.shape = tuple(r.choice({1: [16, 32, 64, 128], 2: [4, 8, 16, 32], 3: [2, 4, 8]}[n]) for _ in range(n))
        self.programs = r.choice([1, 2, 3])
        # memory: programs along the first dimension, the last tile cut off in some
        self.sizes = [self.shape[0] * self.programs - r.choice([0, 0, 1, 3]) if self.shape[0] > 3 else self.shape[0] * self.programs]
        self.sizes += [s - r.choice([0, 0, 1, s // 2]) for s in self.shape[1:]]
        self.elements = int(np.prod(self.sizes))
        self.arguments, self.parameters = {}, []
        self.head()

    def index(self, d):
        """Of dimension d, shaped to be combined with the others."""
        if len(self.shape) == 1:
            return f"i{d}"
        if len(self.shape) == 2:
            return f"i{d}" + ["[:, None]", "[None, :]"][d]
        return f"i{d}" + DIMS[d]

    def head(self):
        for d, s in enumerate(self.shape):
            self.line(f"i{d} = " + (f"tl.program_id(0) * {s} + " if d == 0 else "") + f"tl.arange(0, {s})")
            self.argument(f"n{d}", self.sizes[d])
        terms = []
        for d in range(len(self.shape)):
            terms.append(" * ".join([self.index(d)] + [f"n{k}" for k in range(d + 1, len(self.shape))]))
        self.line("at = " + " + ".join(terms))
        self.line("mask = " + " & ".join(f"({self.index(d)} < n{d})" for d in range(len(self.shape))))

    def argument(self, name, value, annotation=""):
        self.arguments[name] = value
        self.parameters.append(name + annotation)

    def load(self, dtype, kind=None):
        """A tile of a new buffer: the whole one, a row, a column or a scalar."""
        p = f"x{len(self.arguments)}"
        way = self.r.choice(["full"] * 5 + ["last", "first", "scalar"])
        kind = kind or self.kind
        if way == "full" or (len(self.shape) == 1 and way != "scalar"):
            self.argument(p, Buffer(dtype, data(self.r, dtype, self.elements, kind)))
            other = "" if self.r.random() < 0.5 else f", other={self.literal(dtype) if dtype != 'int1' else 0}"
            if dtype == "bfloat16":
                return self.name(f"tl.load({p} + at, mask=mask).to(tl.float32)", "float32", self.shape)
            return self.name(f"tl.load({p} + at, mask=mask{other})", dtype, self.shape)
        if way == "scalar":
            self.argument(p, Buffer(dtype, data(self.r, dtype, 4, kind)))
            return self.name(f"tl.load({p} + {self.r.randrange(4)})" + (".to(tl.float32)" if dtype == "bfloat16" else ""),
                             "float32" if dtype == "bfloat16" else dtype, ())
        d = 0 if way == "first" else len(self.shape) - 1
        self.argument(p, Buffer(dtype, data(self.r, dtype, self.sizes[d], kind)))
        flat = d > 0 and self.r.random() < 0.4
        at = f"i{d}" if flat else self.index(d)
        shape = (self.shape[d],) if flat else tuple(s if k == d else 1 for k, s in enumerate(self.shape))
        return self.name(f"tl.load({p} + {at}, mask={at} < n{d}, other=0)" + (".to(tl.float32)" if dtype == "bfloat16" else ""),
                         "float32" if dtype == "bfloat16" else dtype, shape)

    def scalar(self):
        r = self.r
        name = f"s{len(self.arguments)}"
        value = r.choice([r.randrange(-1000, 1000), r.randrange(2, 9), r.randrange(2**33, 2**40), -3, 2**31 - 1])
        self.argument(name, value)
        self.values.append(Value(name, "int64" if abs(value) >= 2**31 else "int32", ()))

    def loads(self, n, dtypes, kind=None):
        first = True
        for _ in range(n):
            v = self.load(self.r.choice(dtypes), kind)
            while first and v.shape != self.shape:
                v = self.load(self.r.choice(dtypes), kind)
            first = False

    def store(self, v, to=None):
        """The value, whatever its shape, over the whole tile."""
        to = to or self.r.choice([v.dtype, v.dtype, "float64" if is_float(v.dtype) else "int64"])
        p = f"y{len(self.arguments)}"
        self.argument(p, zeros(to, self.elements))
        text = self.guarded(v, to)
        if v.dtype == "int1" and to == "int64":
            text = f"{text}.to(tl.int64)"
        self.line(f"tl.store({p} + at, {text}, mask=mask)")

    def source(self, before=""):
        return before + "@triton.jit\ndef kernel(" + ", ".join(self.parameters) + "):\n" + "\n".join(self.lines) + "\n"

    def case(self, name, before="", **how):
        return Case(name, self.source(before), self.arguments, (self.programs, 1, 1), **how)


def elementwise(r, name):
    k = Kernel(r)
    pool = r.sample(INTS + FLOATS + ["int1", "bfloat16", "float32", "int32"], r.choice([1, 2, 3, 4]))
    k.loads(r.choice([1, 2, 3]), pool)
    if r.random() < 0.4:
        k.scalar()
    if r.random() < 0.3:
        k.values.append(Value(r.choice(["tl.program_id(0)", "tl.num_programs(0)", "i0" if len(k.shape) == 1 else k.index(0)]), "int32", ()))
        if k.values[-1].text[0] == "i":
            k.values[-1].shape = tuple(s if d == 0 else 1 for d, s in enumerate(k.shape))
    if r.random() < 0.3:
        v = r.choice(["2", "0.5", "-3", "1.5", "7"])  # a literal with a name is a tile of its own type
        k.name(v, "float32" if "." in v else "int32", ())
    for _ in range(r.randrange(3, 12)):
        k.step()
    for v in r.sample(k.values[-6:], min(3, len(k.values[-6:]))):
        k.store(v)
    return k.case(name)


FUNCTIONS = [  # text, domain of the argument, ulps in float32, absolute error that is fine near zeros
    ("tl.exp(x)", "unit", 4, 0), ("tl.exp(x * 8.0)", "unit", 4, 0), ("tl.exp2(x)", "unit", 4, 0), ("tl.exp2(x * 10.0)", "unit", 4, 0),
    ("tl.log(x)", "positive", 4, 1e-7), ("tl.log2(x)", "positive", 4, 1e-7), ("tl.sqrt(x)", "positive", 1, 0),
    ("tl.rsqrt(x)", "positive", 3, 0), ("tl.sin(x)", "any", 4, 1e-6), ("tl.cos(x)", "any", 4, 1e-6), ("tl.erf(x)", "unit", 8, 0),
    ("tl.erf(x)", "any", 8, 0), ("tl.sigmoid(x)", "any", 6, 1e-7), ("x * tl.sigmoid(x)", "any", 8, 1e-7),
    ("0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))", "unit", 12, 1e-7), ("tl.fma(x, x, x)", "any", 2, 2e-3),
    ("tl.math.exp(x)", "unit", 4, 0), ("tl.math.log(x)", "positive", 4, 1e-7), ("tl.math.rsqrt(x)", "positive", 3, 0),
    ("x.sigmoid()", "unit", 6, 0), ("tl.fdiv(x, x + 20.0)", "unit", 1, 0), ("tl.div_rn(x, x + 20.0)", "unit", 0, 0),
    ("tl.clamp(x, -0.5, 0.75)", "any", 0, 0), ("tl.exp(x) / (1.0 + tl.exp(x))", "unit", 10, 0),
    ("tl.log(1.0 + tl.exp(x))", "unit", 10, 1e-7), ("tl.sqrt(x) + tl.floor(x)", "positive", 2, 0),
]


def functions(r, name):
    k = Kernel(r)
    text, domain, ulps, atol = r.choice(FUNCTIONS)
    dtype = r.choice(["float32", "float32", "float64" if "_rn" not in text else "float32", "float16"])  # _rn: of float32 only
    x = k.load(dtype, domain)
    if dtype == "float16":
        x = k.name(f"{x.text}.to(tl.float32)", "float32", x.shape)
    k.line(f"x = {x.text}")
    y = k.name(f"tl.where(x == x, {text}, 0.0)" if r.random() < 0.2 and "float" in dtype else text, x.dtype, x.shape)
    # masked-off elements are never seen
    k.store(y, y.dtype)
    if r.random() < 0.4 and y.dtype == "float32":
        k.store(y, "float16")
    return k.case(name, ulps=ulps, atol=atol)


def reductions(r, name):
    k = Kernel(r, kind="whole")
    dtype = r.choice(INTS + FLOATS + ["float32", "float32", "int1"])
    x = k.load(dtype)
    while x.shape != k.shape:
        x = k.load(dtype)
    whole = dtype in ("float32", "float64") and r.random() < 0.4
    if dtype != "int1":
        for _ in range(r.choice([0, 1, 2])):
            lit = r.choice(["2", "1"])
            x = k.name(f"{x.text} {r.choice('+*')} {lit}" if not is_signed(dtype) and not is_float(dtype) else f"{x.text} {r.choice('+-*')} {lit}",
                       x.dtype, x.shape)
    n = len(k.shape)
    axis = r.choice([*range(n), None, -1] if n > 1 else [0, 0, None])
    d = axis if axis is None or axis >= 0 else n - 1
    f = r.choice(["sum", "sum", "max", "min", "argmax", "argmin", "indices", "cumsum", "cumsum", "xor_sum", "cumprod"])
    if f in ("argmax", "argmin", "indices", "cumsum", "cumprod") and axis is None:
        f = "max"
    if dtype == "int1" and f not in ("sum",):
        f = "sum"
    if f == "xor_sum" and (is_float(dtype) or axis is None or axis < 0):
        f = "min"
    if f == "cumprod":
        x = k.name(f"tl.where({x.text} > 0, {x.text} * 0 + 1, {x.text} * 0 + 2)" if not is_float(dtype) else
                   f"tl.where({x.text} > 0.0, 1.0, 0.5).to(tl.{dtype})", x.dtype, x.shape)
        if BITS[dtype] < 32 or k.shape[d] > 8:
            f = "cumsum"
    if f in ("max", "min") and is_float(x.dtype):
        x = k.name(f"{x.text} + 0.0", x.dtype, x.shape)
    keep = r.random() < 0.4
    left = () if d is None else tuple(s for i, s in enumerate(k.shape) if i != d)
    kept = tuple(1 for _ in k.shape) if d is None else tuple(1 if i == d else s for i, s in enumerate(k.shape))
    shape = kept if keep else left
    arg = f"axis={axis}" if r.random() < 0.7 or axis is None else f"{axis}"
    k_text = ", keep_dims=True" if keep else ""
    method = r.random() < 0.2
    call = lambda f, more="": f"{x.text}.{f}({arg}{more}{k_text})" if method else f"tl.{f}({x.text}, {arg}{more}{k_text})"
    wide = x.dtype
    if not is_float(x.dtype) and BITS[x.dtype] < 32:
        wide = ("int32" if is_signed(x.dtype) else "uint32") if f in ("sum", "cumsum") else "int32" if f in ("max", "min") else x.dtype
    if x.dtype == "float16" and f in ("max", "min"):
        wide = "float32"
    results = []
    if f == "indices":
        f = r.choice(["max", "min"])
        k.line(f"a, b = {call(f, ', return_indices=True')}")
        results = [Value("a", x.dtype, shape), Value("b", "int32", shape)]
    elif f in ("argmax", "argmin"):
        results = [k.name(call(f), "int32", shape)]
    elif f in ("cumsum", "cumprod"):
        reverse = r.random() < 0.3
        results = [k.name(f"tl.{f}({x.text}, axis={d}" + (", reverse=True" if reverse else "") + ")", wide, k.shape)]
    else:
        results = [k.name(call(f), wide, shape)]
    for v in results:
        if v.shape == k.shape or not v.shape or keep:
            k.store(v)
            continue
        # a tile of the dimensions that are left: back in its place
        if n == 2:
            text = f"{v.text}[None, :]" if d == 0 else f"{v.text}[:, None]"
        elif n == 3:
            text = v.text + {0: "[None, :, :]", 1: "[:, None, :]", 2: "[:, :, None]"}[d]
        else:
            text = v.text
        v = k.name(text, v.dtype, kept)
        if r.random() < 0.3 and v.dtype == x.dtype and v.dtype != "int1":
            v = k.name(f"{x.text} - {v.text}", promote(x.dtype, v.dtype), k.shape)
        k.store(v)
    return k.case(name)


def sums(r, name):
    """Reductions of real data, with the tolerance of another order."""
    k = Kernel(r, dims=r.choice([1, 2]))
    dtype = r.choice(["float32", "float16", "bfloat16", "float64"])
    x = k.load(dtype, "unit")
    while x.shape != k.shape:
        x = k.load(dtype, "unit")
    if x.dtype == "float16":
        x = k.name(f"{x.text}.to(tl.float32)", "float32", x.shape)
    x = k.name(f"tl.where(mask, {x.text}, 0.0)", x.dtype, x.shape)
    d = len(k.shape) - 1
    way = r.choice(["softmax", "norm", "mean", "cumsum", "tl.softmax"])
    if way == "tl.softmax" and len(k.shape) == 2:
        way = "softmax"
    if way == "softmax":
        k.line(f"m = tl.max({x.text}, axis={d}, keep_dims=True)")
        k.line(f"e = tl.exp({x.text} - m)")
        y = k.name(f"e / tl.sum(e, axis={d}, keep_dims=True)", x.dtype, k.shape)
    elif way == "tl.softmax":
        y = k.name(f"tl.softmax({x.text})", x.dtype, k.shape)
    elif way == "norm":
        k.line(f"m = tl.sum({x.text}, axis={d}, keep_dims=True) / {k.shape[d]}")
        k.line(f"c = {x.text} - m")
        k.line(f"s = tl.sum(c * c, axis={d}, keep_dims=True) / {k.shape[d]}")
        y = k.name("c * tl.rsqrt(s + 1e-5)", x.dtype, k.shape)
    elif way == "mean":
        y = k.name(f"{x.text} - tl.sum({x.text}, axis={d}, keep_dims=True) / {k.shape[d]}", x.dtype, k.shape)
    else:
        y = k.name(f"tl.cumsum({x.text}, axis={d})", x.dtype, k.shape)
    k.store(y, y.dtype)
    return k.case(name, ulps=64, atol=2e-5)


def loops(r, name):
    k = Kernel(r, dims=r.choice([1, 2]))
    dtype = r.choice(["float32", "int32", "int64", "int32", "float64"])
    k.loads(2, [dtype], "whole" if is_float(dtype) else "any")
    full = [v for v in k.values if v.shape == k.shape]
    x = full[0]
    k.argument("steps", r.choice([0, 1, 2, 3, 5, 6]))
    k.argument("by", r.choice([2, 3]))
    k.argument("MODE", ("constexpr", r.choice([0, 1, 2])), ": tl.constexpr")
    p = "z"
    k.argument(p, Buffer(dtype, data(r, dtype, 64, "whole")))
    init = r.choice([f"tl.zeros({list(k.shape)}, tl.{dtype})", f"tl.full({k.shape}, 1, tl.{dtype})", f"tl.zeros_like({x.text})", f"{x.text} * 2"])
    k.line(f"acc = {init}")
    k.line(f"other = {x.text}")
    k.line("count = 0")
    header = r.choice(["for i in range(0, steps):", "for i in range(steps):", "for i in range(0, 8, by):", "for i in range(steps, 0, -1):",
                       "for i in tl.range(0, steps):", "for i in tl.static_range(4):", "for i in tl.static_range(0, 6, 2):", "while count < steps:",
                       "for i in range(1, 12, 4):"])
    k.line(header)
    k.depth += 1
    if header.startswith("while"):
        k.line("i = count * 1")
    k.line(f"w = tl.load({p} + i)")
    body = [f"acc += {x.text} * w", "acc = acc + other", "other = tl.where(acc > other, acc, other)", "acc = acc * 2 - other",
            f"acc += tl.load({p} + i + {k.r.randrange(4)})", "other = other + i", "acc -= w"]
    if not is_float(dtype):
        body += ["acc = acc ^ other", "acc = (acc >> 1) + w", "acc = acc // 3"]
    for text in r.sample(body, 3):
        k.line(text)
    if r.random() < 0.5:
        k.line("if MODE == 1:")
        k.depth += 1
        k.line("acc = acc - other")
        k.depth -= 1
        k.line("elif MODE == 2:")
        k.depth += 1
        k.line("other = other * 3")
        k.depth -= 1
    if r.random() < 0.5 and header != "while count < steps:" and "static" not in header:
        k.line(r.choice(["if w > 0:", "if count % 2 == 0:", "if (w > 0) & (count < 3):", "if tl.program_id(0) == 1:", "if w != 0 and count < 2:"]))
        k.depth += 1
        k.line("acc += 5")
        k.line("count += 2")
        k.depth -= 1
        if r.random() < 0.5:
            k.line("else:")
            k.depth += 1
            k.line("acc = acc - w")
            k.depth -= 1
    if r.random() < 0.3:
        k.line(f"for j in range(0, {r.choice(['by', '2', 'steps'])}):")
        k.depth += 1
        k.line(r.choice(["acc += w * 2", "other = other - acc", f"acc = acc + tl.load({p} + j)"]))
        k.depth -= 1
    k.line("count += 1")
    k.depth -= 1
    if r.random() < 0.4:
        k.line("if by == 2:")
        k.depth += 1
        k.line("acc = acc + 100")
        k.depth -= 1
    k.store(Value("acc", dtype, k.shape), dtype)
    k.store(Value("other", dtype, k.shape), dtype)
    k.store(Value("count", "int32", ()), "int32")
    return k.case(name)


def dots(r, name):
    m, n, kk = (r.choice([16, 32, 64]) for _ in range(3))
    dtype = r.choice(["float32", "float16", "float32", "int8", "float64", "float16"])
    if dtype == "int8":
        kk = max(kk, 32)
    rows, cols, depth = m * 2 - r.choice([0, 5]), n - r.choice([0, 3]), kk * r.choice([1, 2, 3]) - r.choice([0, 1])
    out = {"int8": "int32", "float64": "float64"}.get(dtype, "float32")
    a, b = Buffer(dtype, data(r, dtype, rows * depth, "whole")), Buffer(dtype, data(r, dtype, depth * cols, "whole"))
    flip = r.random() < 0.5
    b_at = "k[None, :] + j[:, None] * K" if flip else "k[:, None] * N + j[None, :]"
    b_mask = "(k[None, :] < K) & (j[:, None] < N)" if flip else "(k[:, None] < K) & (j[None, :] < N)"
    turn = r.choice(["tl.trans(b)", "b.T", "tl.permute(b, (1, 0))", "b.trans()"]) if flip else "b"
    precision = r.choice(["", ", input_precision='ieee'", ", allow_tf32=False", ", out_dtype=tl.float32"])
    if out != "float32":
        precision = ""
    adding = r.choice([f"acc = tl.dot(a, {turn}, acc{precision.replace(', out_dtype=tl.float32', '')})", f"acc += tl.dot(a, {turn}{precision})" if dtype != "int8" else f"acc = tl.dot(a, {turn}, acc)"])
    if dtype == "float64":
        adding = f"acc = tl.dot(a, {turn}, acc, out_dtype=tl.float64)"
    if dtype == "int8":
        adding = f"acc = tl.dot(a, {turn}, acc, out_dtype=tl.int32)"
    text = f"""
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.{out})
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + i[:, None] * K + k[None, :], mask=(i[:, None] < M) & (k[None, :] < K), other=0{'.0' if is_float(dtype) else ''})
        b = tl.load(b_ptr + {b_at}, mask={b_mask}, other=0{'.0' if is_float(dtype) else ''})
        {adding}
    {r.choice(['acc = acc + 1', 'acc = acc * 2', 'acc = tl.maximum(acc, 0)', 'pass'])}
    tl.store(c_ptr + i[:, None] * N + j[None, :], acc, mask=(i[:, None] < M) & (j[None, :] < N))
"""
    arguments = {"a_ptr": a, "b_ptr": b, "c_ptr": zeros(out, rows * cols), "M": rows, "N": cols, "K": depth,
                 "BM": ("constexpr", m), "BN": ("constexpr", n), "BK": ("constexpr", kk)}
    return Case(name, text, arguments, (2, 1, 1))


def products(r, name, dtype="float16"):
    """Tiles of halves as tensor cores take them: either operand transposed, pointers carried or computed, masks, a product of a product."""
    m, n, kk = r.choice([16, 32, 64, 64, 128, 128]), r.choice([16, 32, 64, 128]), r.choice([16, 32, 64, 128])
    rounds, form = r.choice([1, 2, 3, 5]), r.choice(["carried", "computed", "masked", "chained"])
    whole = r.choice([0, 8, 24]) if form == "masked" else 0  # of k that the last round lacks
    depth, rows = max(8, kk * rounds - whole), 2 * m - (r.choice([0, 3]) if form == "masked" else 0)
    g = np.random.default_rng(r.getrandbits(32))

    def halves(count):
        values = g.integers(-2, 3, count).astype("float32")
        return Buffer(dtype, (values.view(np.uint32) >> 16).astype(np.uint16) if dtype == "bfloat16" else values.astype(dtype))

    options = {"num_warps": r.choice([1, 4, 4, 8]), "num_stages": r.choice([1, 2, 3, 3, 4])}
    if form == "chained":
        text = f"""
@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, c_ptr, T, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + i[:, None] * D + d[None, :])
    acc = tl.zeros((BM, D), dtype=tl.float32)
    most = tl.full((BM,), -1000.0, tl.float32)
    for start in range(0, T, BN):
        j = start + tl.arange(0, BN)
        s = tl.dot(q, tl.trans(tl.load(k_ptr + j[:, None] * D + d[None, :])))
        most = tl.maximum(most, tl.max(s, axis=1))
        acc = acc * {r.choice(["2.0", "-1.0"])} + tl.dot(tl.minimum(s, 100.0).to(q_ptr.dtype.element_ty), tl.load(v_ptr + j[:, None] * D + d[None, :]))
    tl.store(c_ptr + i[:, None] * D + d[None, :], acc + most[:, None])
"""
        kk, total = min(kk, 64), n * rounds
        arguments = {"q_ptr": halves(2 * m * kk), "k_ptr": halves(total * kk), "v_ptr": halves(total * kk), "c_ptr": zeros("float32", 2 * m * kk), "T": total,
                     "BM": ("constexpr", m), "BN": ("constexpr", n), "D": ("constexpr", kk)}
        return Case(name, text, arguments, (2, 1, 1), options=options)
    # before the product something of this round, and a product that not every round has
    early = r.choice(["", "count += tl.sum(tl.where(start + tl.arange(0, BK) < K, 1, 0), axis=0)"])
    late = r.choice(["", f"if start == {kk}:\n            acc = tl.dot(tl.full((BM, 16), 1.0, a_ptr.dtype.element_ty), tl.full((16, BN), 2.0, a_ptr.dtype.element_ty), acc)"])
    early, late = (late, early) if r.random() < 0.5 else (early, late)
    a_turned, b_turned = r.random() < 0.4, r.random() < 0.5
    a_at = "k[:, None] * M + i[None, :]" if a_turned else "i[:, None] * K + k[None, :]"
    b_at = "j[:, None] * K + k[None, :]" if b_turned else "k[:, None] * N + j[None, :]"
    a_step, b_step = "BK * M" if a_turned else "BK", "BK" if b_turned else "BK * N"
    a_mask = "(k[:, None] < K) & (i[None, :] < M)" if a_turned else "(i[:, None] < M) & (k[None, :] < K)"
    b_mask = "k[None, :] < K" if b_turned else "k[:, None] < K"
    masks = (f", mask={a_mask}, other=0.0", f", mask={b_mask}" + r.choice(["", ", other=0.0"])) if form == "masked" else ("", "")
    a, b = f"tl.load(a{masks[0]})", f"tl.load(b{masks[1]})"
    a, b = f"tl.trans({a})" if a_turned else a, f"tl.trans({b})" if b_turned else b
    before = "" if form != "carried" else f"k = tl.arange(0, BK)\n    a = a_ptr + {a_at}\n    b = b_ptr + {b_at}"
    inside = "" if form == "carried" else f"k = start + tl.arange(0, BK)\n        a = a_ptr + {a_at}\n        b = b_ptr + {b_at}"
    after = f"a += {a_step}\n        b += {b_step}" if form == "carried" else ""
    text = f"""
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    count = 0
    {before}
    for start in range(0, K, BK):
        {inside}
        {early}
        {r.choice([f"acc = tl.dot({a}, {b}, acc)", f"acc += tl.dot({a}, {b})"])}
        {late}
        {after}
    tl.store(c_ptr + i[:, None] * N + j[None, :], acc + count, mask=i[:, None] < M)
"""
    arguments = {"a_ptr": halves(rows * depth), "b_ptr": halves(depth * n), "c_ptr": zeros("float32", rows * n), "M": rows, "N": n, "K": depth,
                 "BM": ("constexpr", m), "BN": ("constexpr", n), "BK": ("constexpr", kk)}
    return Case(name, text, arguments, (2, 1, 1), options=options)


def products_bfloat16(r, name):
    """Not among the weights: Triton's interpreter multiplies the bits."""
    return products(r, name, "bfloat16")


def halves(r, name, dtype="float16"):
    """Chains of sums and products of halves, in f32 and rounded after each or as halves, in tiles of which a thread has several."""
    rows, cols = r.choice([1, 2, 4, 8]), r.choice([128, 256, 512, 1024])
    width, count = cols - r.choice([0, 0, 0, 1, 8, 100]), 2 * rows - r.choice([0, 1])
    other = r.choice(["", ", other=1.5"])
    half, lines = f"tl.{dtype}", []
    values = ["x", "y", "c", "d"]
    for k in range(r.randrange(3, 8)):
        a, b = r.choice(values[-3:]), r.choice(values + ["0.125", "0.1", "-3.0"])
        if r.random() < 0.3:
            a, b = b, a
        if a[-1].isdigit() and "." in a and "." in b:
            a = "x"
        sign = r.choice("+-**")
        a, b = (v if "." in v or r.random() < 0.3 else f"{v}.to(tl.float32)" for v in (a, b))
        text = r.choice([f"({a} {sign} {b}).to({half})"] * 4 + [f"tl.where({a} > {b}, {a}, {b}).to({half})", f"tl.where(j % 3 == 0, {a}, {b}).to({half})",
                                                                f"tl.max(({a} {sign} {b}).to({half}) + x, axis=1)[:, None]"])
        lines.append(f"v{k} = {text}")
        values.append(f"v{k}")
    out = r.choice([dtype, dtype, "float32"])
    text = f"""
@triton.jit
def kernel(x_ptr, y_ptr, c_ptr, d_ptr, o_ptr, p_ptr, N, W, R: tl.constexpr, C: tl.constexpr):
    i = (tl.program_id(0) * R + tl.arange(0, R))[:, None]
    j = tl.arange(0, C)[None, :]
    mask = (i < N) & (j < W)
    x = tl.load(x_ptr + i * W + j, mask=mask{other})
    y = tl.load(y_ptr + i * W + j, mask=mask)
    c = tl.load(c_ptr + j, mask=j < W)
    d = tl.load(d_ptr + i, mask=i < N)
    {chr(10).join("    " + line for line in lines).strip()}
    tl.store(o_ptr + i * W + j, {values[-1]} + tl.zeros((R, C), {half}), mask=mask)
    tl.store(p_ptr + i * W + j, {r.choice(values)} * y, mask=mask)
"""
    buffer = lambda n: Buffer(dtype, data(r, dtype, n))
    arguments = {"x_ptr": buffer(count * width), "y_ptr": buffer(count * width), "c_ptr": buffer(width), "d_ptr": buffer(count), "o_ptr": zeros(dtype, count * width),
                 "p_ptr": zeros(out, count * width), "N": count, "W": width, "R": ("constexpr", rows), "C": ("constexpr", cols)}
    return Case(name, text, arguments, (2, 1, 1), options={"num_warps": r.choice([1, 4, 4, 8])})


def halves_bfloat16(r, name):
    """Not among the weights: Triton's interpreter truncates."""
    return halves(r, name, "bfloat16")


def gathers(r, name):
    """Indices decoded with // and %, read through an index tensor, scattered, counted with atomics."""
    block, total = r.choice([16, 32, 64]), r.randrange(20, 150)
    h, w = r.randrange(2, 9), r.randrange(2, 9)
    dtype = r.choice(["float32", "int32", "int64", "float16", "int8"])
    source, itype = r.randrange(10, 60), r.choice(["int32", "int64"])
    index = Buffer(itype, np.random.default_rng(r.getrandbits(32)).integers(0, source, total).astype(itype))
    atomic = r.choice(["float32", "int32", "int64"])
    permute = [f"(t % {w}) * {total} + t // {w}", f"t // {h * w} + (t // {w}) % {h} * {total} + t % {w} * {total * h}", "N - 1 - t",
               f"(t * 7 + 3) % {total}" if total % 7 else "t"]
    text = f"""
@triton.jit
def kernel(x_ptr, index_ptr, y_ptr, sum_ptr, old_ptr, N, S, B: tl.constexpr):
    t = tl.program_id(0) * B + tl.arange(0, B)
    inside = t < N
    index = tl.load(index_ptr + t, mask=inside, other=0)
    x = tl.load(x_ptr + index, mask=inside{r.choice(['', ', other=0', ' & (index > 2)'])})
    c = (t // {w}) % {h}
    y = x + c.to({'tl.' + dtype})
    tl.store(y_ptr + {r.choice(permute)}, y, mask=inside)
    {r.choice(['tl.atomic_add(sum_ptr + index % S, (c + 1).to(tl.' + atomic + '), mask=inside)',
               'tl.atomic_add(sum_ptr + c, 1, mask=inside)',
               'tl.atomic_add(sum_ptr, tl.sum(tl.where(inside, c, 0)).to(tl.' + atomic + '))',
               'tl.atomic_max(sum_ptr + index % S, (c + 1).to(tl.' + atomic + '), mask=inside)' if atomic != 'float32' else
               'tl.atomic_add(sum_ptr + 1, 2.5)'])}
    if tl.program_id(0) == 0:
        tl.store(old_ptr, tl.atomic_add(old_ptr + 1, {3 if atomic != 'float32' else '3.0'}))
"""
    arguments = {"x_ptr": Buffer(dtype, data(r, dtype, source, "whole")), "index_ptr": index, "y_ptr": zeros(dtype, total * 100),
                 "sum_ptr": Buffer(atomic, data(r, atomic, 64, "whole")), "old_ptr": Buffer(atomic, data(r, atomic, 2, "whole")),
                 "N": total, "S": r.randrange(3, 20), "B": ("constexpr", block)}
    return Case(name, text, arguments, ((total + block - 1) // block, 1, 1))


def ranges(r, name):
    """Masks that change once on the way of a row: parts side by side, paddings, triangles; rows in one piece and decoded with // and %."""
    block, total, width = r.choice([64, 128, 256]), r.randrange(100, 900), r.choice([64, 80, 100, 130])
    dtype = r.choice(["float32", "int32", "float16", "int64"])
    place = r.choice(["t", "t", f"t % {width}", f"t // {width}", f"t + {r.randrange(-40, 40)}"])

    def condition():
        moving, at = f"p + {r.randrange(-30, 30)}", str(r.randrange(-20, total + 20)) if r.random() < 0.7 else f"N - {r.randrange(60)}"
        return f"({moving} {r.choice(['<', '<=', '>', '>='])} {at})" if r.random() < 0.7 else f"({at} {r.choice(['<', '<=', '>', '>='])} {moving})"

    def mask():
        return f" {r.choice('&&|')} ".join(condition() for _ in range(r.choice([1, 2, 2, 3])))

    parts = [f"    v{i} = tl.load(x_ptr + {60 + r.randrange(-50, 50)} + t, mask={mask()}, other={r.randrange(5)})" for i in range(r.choice([1, 2, 3]))]
    value = "v0"
    for i in range(1, len(parts)):
        value = f"tl.where({mask()}, v{i}, {value})"
    ends = [f"    tl.store(y_ptr + 60 + t + {i * (total + 120)} + {r.randrange(-30, 30)}, {value if i == 0 else 'v0'}, mask=({mask()}) & inside)" for i in range(r.choice([1, 1, 2, 3]))]
    if r.random() < 0.4:
        ends.append(f"    tl.store(sum_ptr + tl.program_id(0), tl.sum(tl.where({mask()}, {value}, 1).to(tl.float32)))")
    if r.random() < 0.3:
        ends.append(f"    tl.store(sum_ptr + 32 + tl.program_id(0), tl.sum(({mask()}).to(tl.int32)).to(tl.float32))")
    text = "\n".join(["@triton.jit", "def kernel(x_ptr, y_ptr, sum_ptr, N, B: tl.constexpr):", "    t = tl.program_id(0) * B + tl.arange(0, B)",
                      f"    p = {place}", "    inside = t < N", *parts, *ends, ""])
    arguments = {"x_ptr": Buffer(dtype, data(r, dtype, total + 2 * block + 120, "whole")), "y_ptr": zeros(dtype, 3 * (total + 120) + 120),
                 "sum_ptr": zeros("float32", 64), "N": total, "B": ("constexpr", block)}
    return Case(name, text, arguments, ((total + block - 1) // block, 1, 1))


def calls(r, name):
    """Device functions: several results, constexpr parameters, early returns, functions of functions."""
    k = Kernel(r)
    dtype = r.choice(["float32", "int32", "int64", "float16"])
    k.loads(2, [dtype], "whole")
    x = [v for v in k.values if v.shape == k.shape][0]
    y = k.values[-1]
    n = r.choice([2, 3, 4])
    before = f"""
SCALE: tl.constexpr = tl.constexpr({r.choice([2, 3, 5])})


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
        out = b + SCALE
    return out


@triton.jit
def clip(a, low=-3, high=4):
    return tl.minimum(tl.maximum(a, low), high)


"""
    shape = broadcast(x.shape, y.shape)
    a = k.name(f"twice({x.text}, {n})", dtype, x.shape)
    k.line(f"p, q = both({a.text}, {y.text}{r.choice(['', ', True', ', SWAP=True', ', SWAP=False'])})")
    k.line(f"p = p + tl.zeros({list(k.shape)}, tl.{dtype})")
    k.line(f"q = q + tl.zeros({list(k.shape)}, tl.{dtype})")
    p, q = Value("p", dtype, k.shape), Value("q", dtype, k.shape)
    z = k.name(f"pick(p, q, {r.choice(['tl.program_id(0) == 0', 'n0 > 20', 'tl.program_id(0) % 2 == 1'])})", dtype, k.shape)
    c = k.name(f"clip({r.choice([z.text, 'p'])}{r.choice(['', ', 0', ', high=2', ', -1, 1'])})", dtype, k.shape)
    k.store(z, dtype)
    k.store(c, dtype)
    k.store(p, dtype)
    return k.case(name, before)


def shapes(r, name):
    """reshape, trans, permute, expand_dims, broadcast_to, join, split, flip: where elements go."""
    n = r.choice([16, 32, 64])
    dtype = r.choice(["int32", "float32", "int64", "float16", "int8"])
    lines, shape = [f"t = tl.load(x_ptr + tl.arange(0, {n}))"], (n,)
    for _ in range(r.choice([2, 3, 4])):
        way = r.choice(["reshape", "reshape", "trans", "permute", "expand", "view", "flip", "cat"])
        if way in ("reshape", "view"):
            sizes, left = [], int(np.prod(shape))
            while left > 1 and len(sizes) < 2:
                s = r.choice([f for f in (1, 2, 4, 8, 16, 32) if left % f == 0])
                sizes.append(s)
                left //= s
            shape = tuple(sizes + [left])
            lines.append(r.choice([f"t = tl.reshape(t, {list(shape)})", f"t = t.reshape({', '.join(map(str, shape))})",
                                   f"t = tl.reshape(t, ({', '.join(map(str, shape))},))"]) if way == "reshape" else f"t = tl.view(t, {list(shape)})")
        elif way == "trans" and len(shape) == 2:
            shape = shape[::-1]
            lines.append(r.choice(["t = tl.trans(t)", "t = t.T", "t = tl.trans(t, 1, 0)"]))
        elif way == "permute" and len(shape) == 3:
            order = r.sample(range(3), 3)
            shape = tuple(shape[i] for i in order)
            lines.append(f"t = tl.permute(t, ({', '.join(map(str, order))}))")
        elif way == "expand" and len(shape) < 3:
            d = r.randrange(len(shape) + 1)
            lines.append(f"t = tl.expand_dims(t, {d})")
            shape = shape[:d] + (1,) + shape[d:]
            grown = shape[:d] + (2,) + shape[d + 1:]
            if int(np.prod(grown)) <= 256:
                lines.append(f"t = tl.broadcast_to(t, {list(grown)})")
                shape = grown
        elif way == "flip" and shape[-1] > 1:
            lines.append(f"t = tl.flip(t, {len(shape) - 1})")
        elif way == "cat" and len(shape) == 1 and shape[0] <= 64:
            lines.append(r.choice(["t = tl.cat(t, t + 1, can_reorder=True)", "t = tl.interleave(t, t + 1)"]))
            shape = (shape[0] * 2,)
    total = int(np.prod(shape))
    lines.append(f"tl.store(y_ptr + tl.arange(0, {total}), tl.reshape(t, [{total}]))")
    text = "@triton.jit\ndef kernel(x_ptr, y_ptr):\n" + "".join(f"    {line}\n" for line in lines)
    return Case(name, text, {"x_ptr": Buffer(dtype, data(r, dtype, n)), "y_ptr": zeros(dtype, total)})


class Mixed(Kernel):
    """Steps, reductions along any axis, scans, transposes, loops and stores in any order, over integers: what decides how a kernel is cut
    into loops."""

    def integers(self, v):
        return rank(v.dtype) == 1

    def full(self, v):
        return self.integers(v) and v.shape == self.shape

    def reduce(self):
        x = self.pick(self.full)
        d = self.r.randrange(len(self.shape))
        kept = tuple(1 if i == d else s for i, s in enumerate(self.shape))
        f = self.r.choice(["sum", "max", "min", "argmax", "argmin", "sum", "max"])
        t = "int32" if "arg" in f else x.dtype
        if len(self.shape) == 1 and f == "sum":
            x, t = Value(f"{x.text}.to(tl.int64)", "int64", x.shape), "int64"  # a scalar that may wrap
        if BITS[x.dtype] < 32 and f == "sum":
            t = "int32" if is_signed(x.dtype) else "uint32"
        if BITS[x.dtype] < 32 and f in ("max", "min"):
            t = "int32"
        if self.r.random() < 0.5:
            return self.name(f"tl.{f}({x.text}, axis={d}, keep_dims=True)", t, kept)
        flat = self.name(f"tl.{f}({x.text}, {d})", t, kept)
        if len(self.shape) == 1:
            flat.shape = ()
            return flat
        marks = [":"] * (len(self.shape) - 1)
        marks.insert(d, "None")
        self.values.remove(flat)
        return self.name(f"{flat.text}[{', '.join(marks)}]", t, kept)

    def scan(self):
        x = self.pick(lambda v: self.full(v) and BITS[v.dtype] >= 32)
        if not x:
            return None
        return self.name(f"tl.cumsum({x.text}, axis={self.r.randrange(len(self.shape))}{self.r.choice(['', '', ', reverse=True'])})", x.dtype, x.shape)

    def turn(self):
        x = self.pick(self.full)
        if len(self.shape) == 2 and self.shape[0] == self.shape[1]:
            return self.name(self.r.choice([f"tl.trans({x.text})", f"{x.text}.T"]), x.dtype, x.shape)
        n = int(np.prod(self.shape))
        other = f"[{n // 2}, 2]" if len(self.shape) != 2 else f"[{self.shape[1]}, {self.shape[0]}]"
        turned = f"tl.trans(tl.reshape({x.text}, {other}))"
        return self.name(f"tl.reshape({turned}, {list(self.shape)})", x.dtype, x.shape)

    def again(self):
        """Written and read back, element for element."""
        x = self.pick(self.full)
        if not x:
            return None
        p = f"m{len(self.arguments)}"
        self.argument(p, Buffer(x.dtype, data(self.r, x.dtype, self.elements)))
        before = self.name(f"tl.load({p} + at, mask=mask, other=1)", x.dtype, self.shape)
        self.line(f"tl.store({p} + at, {x.text}, mask=mask{self.r.choice(['', ' & (at % 3 != 1)'])})")
        self.name(f"tl.load({p} + at, mask=mask, other=2)", x.dtype, self.shape)
        return before

    def loop(self):
        x = self.pick(self.full)
        if self.depth > 2 or not x:
            return None
        self.count += 1
        acc, i = f"a{self.count}", f"j{self.count}"
        self.line(f"{acc} = {x.text} + {self.r.choice([0, 1])}")
        kept = list(self.values)
        self.line(f"for {i} in {self.r.choice(['range(0, steps)', 'range(steps)', 'range(1, 7, 2)', 'tl.static_range(3)', 'range(0, n0, 5)'])}:")
        self.depth += 1
        a = Value(acc, x.dtype, self.shape)
        self.values.append(a)
        for _ in range(self.r.choice([1, 2, 4])):
            self.any()
        if self.r.random() < 0.4:
            self.line(f"if ({i} + tl.program_id(0)) % 2 == 0:")
            self.depth += 1
            self.line(f"{acc} = {acc} * 3 + 1")
            self.depth -= 1
        b = self.partner(a, lambda v: v is not a and self.integers(v)) or a
        text = b.text if b.dtype == x.dtype else f"{b.text}.to(tl.{x.dtype})"
        self.line(f"{acc} = {self.r.choice([f'{acc} ^ {text}', f'{acc} + {text}', f'tl.maximum({acc}, {text})', f'{acc} * 2 - {text}'])}")
        self.depth -= 1
        self.values = kept + [a]
        return a

    def any(self):
        for _ in range(30):
            kinds = [self.step] * 6 + [self.reduce] * 3 + [self.scan, self.turn, self.again, self.loop]
            v = self.r.choice(kinds)()
            if v:
                return v


def mixed(r, name):
    k = Mixed(r)
    k.argument("steps", r.choice([0, 1, 2, 4]))
    k.loads(r.choice([1, 2]), r.sample(INTS + ["int32"] * 3, r.choice([1, 2])))
    for _ in range(r.randrange(3, 9)):
        k.any()
    for v in r.sample([v for v in k.values if v.dtype != "int1"][-8:], min(3, len([v for v in k.values if v.dtype != "int1"]))):
        k.store(v)
    return k.case(name)


FAMILIES = {"mixed": mixed, "elementwise": elementwise, "functions": functions, "reductions": reductions, "sums": sums, "loops": loops, "dots": dots,
            "products": products, "products_bfloat16": products_bfloat16, "halves": halves, "halves_bfloat16": halves_bfloat16,
            "gathers": gathers, "ranges": ranges, "calls": calls, "shapes": shapes}
WEIGHTS = {"mixed": 12, "elementwise": 8, "functions": 3, "reductions": 6, "sums": 2, "loops": 6, "dots": 2, "products": 1, "halves": 1, "gathers": 3, "ranges": 3, "calls": 3, "shapes": 3}


def generate(name):
    """The case FAMILY-SEED."""
    family, seed = name.rsplit("-", 1)
    return FAMILIES[family](random.Random(name), name)


def names(count, start=0):
    """`count` names, in the weights' mix."""
    unit = sum(WEIGHTS.values())
    out = []
    for family, weight in WEIGHTS.items():
        out += [f"{family}-{start + i}" for i in range((count * weight + unit - 1) // unit)]
    return out

"""One small kernel per construct of the language, for tile_triton.py. The reference is Triton's interpreter; where that is not Triton's
meaning on a GPU (QUIRKS in tile_triton.py), or has no such function, the case says what is expected."""
import math, random

import numpy as np

from tile_cases import Buffer, Case, data, numpy_type, zeros

CASES = []


def constant(value):
    return ("constexpr", value)


def buffer(dtype, n=16, kind="any"):
    return Buffer(dtype, data(random.Random(f"{dtype} {n} {kind}"), dtype, n, kind))


def values(dtype, *items):
    return Buffer(dtype, np.array(items, numpy_type(dtype)))


def bfloat16(*items):
    """Rounded to nearest even; the items are no NaN."""
    bits = np.array(items, np.float32).view(np.uint32)
    return Buffer("bfloat16", ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16))


def case(name, body, before="", grid=(1,), ulps=0, atol=0.0, expected=None, **arguments):
    """body: the kernel's lines. expected: what buffers hold afterwards, instead of asking Triton."""
    parameters = ", ".join(n + (": tl.constexpr" if isinstance(a, tuple) else "") for n, a in arguments.items())
    lines = "\n".join("    " + line for line in body.strip("\n").split("\n"))
    source = f"{before.strip()}\n\n\n" if before else ""
    c = Case(name, f"{source}@triton.jit\ndef kernel({parameters}):\n{lines}\n", arguments, grid, ulps=ulps, atol=atol)
    c.expected = expected
    CASES.append(c)


def f32(n=16, kind="any"):
    return buffer("float32", n, kind)


# ---- tier 1

case("program_ids", """
i = tl.program_id(0)
j = tl.program_id(1)
k = tl.program_id(axis=2)
tl.store(y + (i * 3 + j) * 2 + k, i * 100 + j * 10 + k + tl.num_programs(0) * tl.num_programs(1) * tl.num_programs(2))
""", grid=(4, 3, 2), y=zeros("int32", 24))
case("in_place_used_again", """
i = tl.arange(0, 16)
v = tl.load(x + i) + 1
tl.store(x + i, v)
tl.store(y + i * 2, v * 2)
tl.store(z, tl.sum(v))
""", x=values("int32", *range(-5, 11)), y=zeros("int32", 32), z=zeros("int32", 1))
case("splitmix64", """
u = tl.load(x + tl.arange(0, 4)) + 0x9E3779B97F4A7C15
u = (u ^ (u >> 30)) * 0xBF58476D1CE4E5B9
u = (u ^ (u >> 27)) * 0x94D049BB133111EB
tl.store(y + tl.arange(0, 4), (u ^ (u >> 31)) & ((1 << 64) - 1))
""", x=values("uint64", 0, 1, 2**63, 2**64 - 1), y=zeros("uint64", 4))
case("integers_by_their_size", """
m: tl.constexpr = N * N
tl.store(y, N // 3)
tl.store(y + 1, m >> 140)
tl.store(y + 2, N % 1000003)
tl.store(y + 3, (-N) >> 70)
tl.store(y + 4, (2**31).bit_length() + (N == 2**60))
h = 2**31
g = 2**31 - 1
k = 2**32
l = -2**31 - 1
u = 2**63
tl.store(y + 5, h + g)
tl.store(y + 6, k + l)
tl.store(z, u)
tl.store(z + 1, u + h)
tl.store(z + 2, 0xFFFFFFFFFFFFFFFF)
tl.store(z + 3, tl.full((), 2**64 - 1, tl.uint64) // 7)
""", N=constant(2**60), y=zeros("int64", 8), z=zeros("uint64", 4))
case("full_keeps_the_last_bits", """
tl.store(x + tl.arange(0, 4), tl.full((4,), 200, tl.int8))
tl.store(u + tl.arange(0, 4), tl.full((4,), 2**40 + 7, tl.uint16))
""", x=zeros("int8", 4), u=zeros("uint16", 4), expected={"x": [-56] * 4, "u": [7] * 4})
case("argmax_bool", """
v = tl.load(x + tl.arange(0, 16))
tl.store(y, tl.argmax(v > 0, axis=0))
tl.store(y + 1, tl.argmin(v > 0, axis=0))
""", x=buffer("int32"), y=zeros("int32", 2))
case("arange_start", "tl.store(y + tl.arange(0, 16), tl.arange(16, 32))", y=zeros("int32", 16))
case("arguments", """
tl.store(y + 0, a)
tl.store(y + 1, b)
tl.store(y + 2, c + 1)
tl.store(y + 3, d + d)
""", y=zeros("int64", 4), a=-5, b=2**40, c=1, d=2**31 - 1)
case("argument_none", """
i = tl.arange(0, 16)
v = tl.load(x + i)
if bias is not None:
    v += tl.load(bias + i)
tl.store(y + i, v)
""", x=f32(), bias=None, y=zeros("float32", 16))
case("argument_float", "i = tl.arange(0, 16)\ntl.store(y + i, tl.load(x + i) * s + s)", x=f32(), s=0.1, y=zeros("float32", 16))
case("int32_wraps", "i = tl.arange(0, 16)\nv = tl.load(x + i)\ntl.store(y + i, v * v + 2147483647)", x=buffer("int32"), y=zeros("int32", 16))
case("literal_adopts", """
i = tl.arange(0, 16)
tl.store(a + i, tl.load(x + i) * 3 + 7)
tl.store(b + i, tl.load(h + i) * 0.1 + 3)
tl.store(c + i, tl.load(x + i) * 0.5)
""", x=buffer("int8"), h=buffer("float16"), a=zeros("int64", 16), b=zeros("float64", 16), c=zeros("float64", 16))
case("named_literal", """
i = tl.arange(0, 16)
half = 0.1
two = 2
tl.store(a + i, tl.load(h + i) * half)
tl.store(b + i, tl.load(x + i) * two)
""", x=buffer("int8"), h=buffer("float16"), a=zeros("float64", 16), b=zeros("int64", 16))
case("division", """
i = tl.arange(0, 16)
a = tl.load(x + i)
b = tl.load(z + i)
tl.store(p + i, a / b)
tl.store(q + i, a // b)
tl.store(r + i, a % b)
""", x=values("int32", 7, -7, 7, -7, 0, 1, -1, 100, -100, 2**31 - 1, -2**31, 5, -5, 6, -6, 9),
     z=values("int32", 2, 2, -2, -2, 3, 3, 3, 7, 7, 3, 3, 5, 5, -6, -6, 10), p=zeros("float32", 16), q=zeros("int32", 16), r=zeros("int32", 16))
case("division_constants", """
i = tl.arange(0, 16)
tl.store(y + i, i + A // B + A % B + (-A) // B + (-A) % B)
tl.store(z + i, i * (A / B))
tl.store(w + i, (i - 8) // 3 * 100 + (i - 8) % 3)
""", A=constant(7), B=constant(3), y=zeros("int32", 16), z=zeros("float32", 16), w=zeros("int32", 16))
case("float_remainder", "i = tl.arange(0, 16)\ntl.store(y + i, tl.load(x + i) % 0.75)", x=f32(), y=zeros("float32", 16))
case("half_division", "i = tl.arange(0, 16)\ntl.store(y + i, tl.load(x + i) / tl.load(z + i))", x=buffer("float16"), z=buffer("float16", kind="positive"), y=zeros("float64", 16))
case("load_mask", "i = tl.arange(0, 16)\ntl.store(y + i, tl.load(x + i, mask=i < n))", x=f32(11), n=11, y=zeros("float32", 16))
case("load_other", "i = tl.arange(0, 16)\ntl.store(y + i, tl.load(x + i, mask=i < n, other=-1.5))", x=f32(11), n=11, y=zeros("float32", 16))
case("load_other_infinity", "i = tl.arange(0, 16)\ntl.store(y + i, tl.load(x + i, mask=i < n, other=float('-inf')))", x=f32(11), n=11, y=zeros("float32", 16))
case("load_other_tile", "i = tl.arange(0, 16)\ntl.store(y + i, tl.load(x + i, i < n, i.to(tl.float32)))", x=f32(11), n=11, y=zeros("float32", 16))
case("load_hints", "i = tl.arange(0, 16)\ntl.store(y + i, tl.load(x + i, cache_modifier='.ca', eviction_policy='evict_last'), eviction_policy='evict_first')",
     x=f32(), y=zeros("float32", 16))
case("load_bool", "i = tl.arange(0, 16)\nm = tl.load(x + i)\ntl.store(y + i, tl.where(m, 3, 5))\ntl.store(z + i, ~m)", x=buffer("int1"), y=zeros("int32", 16), z=zeros("int1", 16))
case("load_scalar_mask", "i = tl.arange(0, 16)\ntl.store(y + i, i + tl.load(x + 100, mask=n > 5, other=7))", x=buffer("int32", 4), n=3, y=zeros("int32", 16))
case("store_casts", """
i = tl.arange(0, 16)
v = tl.load(x + i)
tl.store(a + i, v)
tl.store(b + i, tl.where(tl.abs(v) < 100, v, 1.0))
tl.store(c + i, i * 1000)
tl.store(d + i, i > 3)
""", x=f32(), a=zeros("float16", 16), b=zeros("int8", 16), c=zeros("int8", 16), d=zeros("int1", 16))
case("store_broadcast", "i = tl.arange(0, 4)\nj = tl.arange(0, 8)\ntl.store(y + i[:, None] * 8 + j[None, :], j[None, :], mask=i[:, None] < n)\ntl.store(z + i, 2.5)",
     n=3, y=zeros("int32", 32), z=zeros("float32", 4))
case("casts", """
i = tl.arange(0, 16)
v = tl.load(x + i)
tl.store(a + i, v.to(tl.float16))
tl.store(b + i, v.to(tl.int32))
tl.store(c + i, v.to(tl.int1))
tl.store(d + i, tl.cast(i, tl.float32) * 0.1)
tl.store(e + i, v.to(e.dtype.element_ty))
tl.store(f + i, v.to(tl.int32, bitcast=True))
""", x=f32(), a=zeros("float16", 16), b=zeros("int32", 16), c=zeros("int1", 16), d=zeros("float32", 16), e=zeros("float64", 16), f=zeros("int32", 16))
case("float64_to_float16", "i = tl.arange(0, 4)\ntl.store(y + i, tl.load(x + i).to(tl.float16))",
     x=values("float64", 1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11 - 2.0**-40, 1 + 3 * 2.0**-11, 65519.999999), y=zeros("float16", 4))
case("int64_to_float32", "i = tl.arange(0, 4)\ntl.store(y + i, tl.load(x + i).to(tl.float32))\ntl.store(z + i, tl.load(u + i).to(tl.float32))",
     x=values("int64", 2**62 + 2**38 + 1, -2**62 - 2**38 - 1, 2**53 + 1, 2**24 + 1), u=values("uint64", 2**64 - 1, 2**63 + 2**39 + 1, 2**63, 5), y=zeros("float32", 4), z=zeros("float32", 4))
for f in ("sum", "max", "min"):
    for dtype in ("float32", "float16", "int32", "int8", "uint8", "int64", "int16"):
        case(f"{f}_{dtype}", f"""
i = tl.arange(0, 4)[:, None]
j = tl.arange(0, 16)[None, :]
v = tl.load(x + i * 16 + j)
tl.store(a + tl.arange(0, 16), tl.{f}(v, axis=0))
tl.store(b + tl.arange(0, 4), tl.{f}(v, 1))
tl.store(c, tl.{f}(v))
""", x=buffer(dtype, 64, "whole" if "float" in dtype or (f, dtype) == ("sum", "int32") else "any"), a=zeros("float64" if "float" in dtype else "int64", 16), b=zeros(dtype, 4),
             c=zeros("float64" if "float" in dtype else "int64", 1))
case("sum_bool", "i = tl.arange(0, 16)\ntl.store(y, tl.sum((tl.load(x + i) > 0).to(tl.int32), axis=0))\ntl.store(y + 1, tl.sum(tl.load(x + i) > 0))",
     x=buffer("int32"), y=zeros("int32", 2))
case("sum_dtype", "i = tl.arange(0, 16)\ntl.store(y, tl.sum(tl.load(x + i), axis=0, dtype=tl.float32))", x=buffer("float16", kind="whole"), y=zeros("float64", 1))
case("where_scalars", "i = tl.arange(0, 16)\ntl.store(y + i, tl.where(i < 5, 1.5, -2))\ntl.store(z + i, tl.where(i % 2 == 0, i, -i))", y=zeros("float32", 16), z=zeros("int32", 16))
case("where_types", "i = tl.arange(0, 16)\ntl.store(y + i, tl.where(i < 5, tl.load(h + i), tl.load(x + i)))", h=buffer("float16"), x=buffer("int32"), y=zeros("float64", 16))
case("maximum", "i = tl.arange(0, 16)\nv = tl.load(x + i)\ntl.store(y + i, tl.maximum(v, 0.0))\ntl.store(z + i, tl.minimum(v, i))", x=f32(kind="unit"), y=zeros("float32", 16), z=zeros("float32", 16))
case("python_min_max", "i = tl.arange(0, 16)\ntl.store(y + i, i + min(n, 7) * 100 + max(n, 7) * 1000 + min(3, B))", n=9, B=constant(4), y=zeros("int32", 16))
case("abs", "i = tl.arange(0, 16)\ntl.store(y + i, tl.abs(tl.load(x + i)))\ntl.store(z + i, tl.abs(tl.load(w + i)))", x=f32(), w=buffer("int16"), y=zeros("float32", 16), z=zeros("int16", 16))
case("comparisons", """
i = tl.arange(0, 16)
a = tl.load(x + i)
b = tl.load(z + i)
tl.store(y + i, (a < b).to(tl.int32) + (a <= b).to(tl.int32) * 2 + (a > b).to(tl.int32) * 4 + (a >= b).to(tl.int32) * 8 + (a == b).to(tl.int32) * 16 + (a != b).to(tl.int32) * 32)
""", x=values("float32", *[0.0, -0.0, 1, 2, math.inf, -math.inf, math.nan, math.nan] * 2), z=values("float32", *[-0.0, 0.0, 2, 1, math.inf, math.inf, 1, math.nan] * 2), y=zeros("int32", 16))
case("unsigned_comparisons", "i = tl.arange(0, 16)\na = tl.load(x + i)\nb = tl.load(z + i)\ntl.store(y + i, (a < b).to(tl.int32) + (a > 7).to(tl.int32) * 2 + (b >= a) * 4)",
     x=buffer("uint32"), z=buffer("int32"), y=zeros("int32", 16))
case("mask_logic", "i = tl.arange(0, 16)\nm = (i > 2) & ~(i == 5) | (i == 0)\ntl.store(y + i, i, mask=m)\ntl.store(z + i, m ^ (i < 8))", y=zeros("int32", 16), z=zeros("int1", 16))
case("scalar_logic", "i = tl.arange(0, 16)\na = 1\nif n > 3 and n < 10:\n    a = 2\nif not (n > 3) or n == 5:\n    a += 10\ntl.store(y + i, i * a)", n=5, y=zeros("int32", 16))
for f, kind, ulps in (("exp", "unit", 3), ("log", "positive", 3), ("sqrt", "positive", 1), ("rsqrt", "positive", 3), ("sin", "any", 4), ("cos", "any", 4), ("floor", "any", 0),
                      ("erf", "unit", 8), ("sigmoid", "any", 6), ("exp2", "unit", 3), ("log2", "positive", 3), ("ceil", "any", 0)):
    for dtype in ("float32", "float64"):
        case(f"{f}_{dtype}", f"i = tl.arange(0, 256)\ntl.store(y + i, tl.{f}(tl.load(x + i)))", x=buffer(dtype, 256, kind), y=zeros(dtype, 256), ulps=ulps, atol=1e-7 if ulps else 0)
    if f != "sigmoid":
        case(f"{f}_math", f"i = tl.arange(0, 16)\ntl.store(y + i, tl.math.{f}(tl.load(x + i)))", x=f32(kind=kind), y=zeros("float32", 16), ulps=ulps, atol=1e-7 if ulps else 0)
EDGE = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 88.0, -87.0, -104.0, 89.0, 1e-40, -1e-40, 1e30, -1e30, 3e38]
for f, skip in (("exp", ()), ("exp2", ()), ("log", ()), ("log2", ()), ("sqrt", ()), ("erf", ()), ("floor", ()), ("ceil", ()), ("sigmoid", ())):
    case(f"{f}_edges", f"i = tl.arange(0, 16)\ntl.store(y + i, tl.{f}(tl.load(x + i)))", x=values("float32", *EDGE), y=zeros("float32", 16), ulps=4, atol=1e-45)
case("zeros_cdiv", "i = tl.arange(0, 16)\nv = tl.zeros([16], dtype=tl.int32) + tl.cdiv(n, 4) + tl.cdiv(B, 4)\ntl.store(y + i, v)", n=9, B=constant(13), y=zeros("int32", 16))
case("none_index", "i = tl.arange(0, 4)\nj = tl.arange(0, 8)\nv = i[:, None] * 10 + j[None, :]\ntl.store(y + i[:, None] * 8 + j[None, :], v)", y=zeros("int32", 32))
case("rank_3", """
i = tl.arange(0, 2)[:, None, None]
j = tl.arange(0, 4)[None, :, None]
k = tl.arange(0, 8)[None, None, :]
at = (i * 4 + j) * 8 + k
v = tl.load(x + at)
tl.store(y + at, v - tl.max(v, axis=1)[:, None, :])
""", x=f32(64, "unit"), y=zeros("float32", 64))
case("rank_4", """
i = tl.arange(0, 2)[:, None, None, None]
j = tl.arange(0, 2)[None, :, None, None]
k = tl.arange(0, 4)[None, None, :, None]
l = tl.arange(0, 4)[None, None, None, :]
at = ((i * 2 + j) * 4 + k) * 4 + l
v = tl.load(x + at)
tl.store(y + at, v + tl.sum(v, axis=2, keep_dims=True))
""", x=buffer("int32", 64), y=zeros("int32", 64))
case("leading_ones", "i = tl.arange(0, 4)[:, None]\nj = tl.arange(0, 8)\ntl.store(y + i * 8 + j, i * 100 + j)", y=zeros("int32", 32))
case("trans", "i = tl.arange(0, 4)[:, None]\nj = tl.arange(0, 8)[None, :]\nv = tl.load(x + i * 8 + j)\ntl.store(y + tl.arange(0, 8)[:, None] * 4 + tl.arange(0, 4)[None, :], tl.trans(v))",
     x=f32(32), y=zeros("float32", 32))
for bounds, n in (("0, n", 5), ("n", 0), ("1, n, 2", 8), ("n, 0, -2", 7), ("0, B", 3), ("0, n, s", 9), ("n, 2", 6)):
    case(f"range({bounds})", f"i = tl.arange(0, 16)\nacc = tl.zeros([16], tl.int32)\nfor k in range({bounds}):\n    acc = acc * 3 + k + i\ntl.store(y + i, acc)",
         n=n, s=2, B=constant(4), y=zeros("int32", 16))
case("loop_carries", """
i = tl.arange(0, 16)
p = x + i
acc = tl.zeros([16], tl.float32)
best = tl.full([16], float('-inf'), tl.float32)
for k in range(0, n):
    v = tl.load(p, mask=i + k * 16 < 70, other=0.0)
    acc += v
    best = tl.maximum(best, v)
    p += 16
tl.store(y + i, acc)
tl.store(z + i, best)
""", x=f32(80, "whole"), n=5, y=zeros("float32", 16), z=zeros("float32", 16))
case("constexpr_if", """
i = tl.arange(0, 16)
if MODE == 'add':
    v = i + N
elif MODE == 'mul':
    v = i * N
else:
    v = undefined_name
tl.store(y + i, v)
""", MODE=constant("mul"), N=constant(3), y=zeros("int32", 16))
case("runtime_if", """
i = tl.arange(0, 16)
pid = tl.program_id(0)
v = i * 2
if pid == 1:
    v = i + 100
elif pid > 1:
    v = v - pid
else:
    v += n
tl.store(y + pid * 16 + i, v)
""", grid=(3,), n=4, y=zeros("int32", 48))
case("early_return", "pid = tl.program_id(0)\nif pid >= n:\n    return\ni = tl.arange(0, 16)\ntl.store(y + pid * 16 + i, i + pid)", grid=(4,), n=2, y=zeros("int32", 64))
case("conditional_expression", "i = tl.arange(0, 16)\ntl.store(y + i, i + (5 if n > 3 else 6) + (N if N > 2 else 0))", n=4, N=constant(3), y=zeros("int32", 16))
for dtype, out in (("float16", "float32"), ("float32", "float32"), ("int8", "int32"), ("float64", "float64")):
    case(f"dot_{dtype}", f"""
i = tl.arange(0, 16)
k = tl.arange(0, 32)
a = tl.load(x + i[:, None] * 32 + k[None, :])
b = tl.load(z + k[:, None] * 16 + i[None, :])
acc = tl.full([16, 16], 2, tl.{out})
tl.store(y + i[:, None] * 16 + i[None, :], tl.dot(a, b, acc, input_precision='ieee', out_dtype=tl.{out}))
""", x=buffer(dtype, 512, "whole"), z=buffer(dtype, 512, "whole"), y=zeros(out, 256))
for name, loop, first, limit, rows, columns in (("count", "0, tl.cdiv(K, 16)", "p * 16", "K", "K", "1"), ("terms", "0, K, 16", "p", "K", "K", "1"),
                                                ("late", "16, K, 16", "p", "K - 3", "K", "1"), ("apart", "0, K, 17", "p", "K", "K", "1"),
                                                ("down", "0, K, 16", "p", "K", "1", "16"), ("short", "0, tl.cdiv(K, 16)", "p * 16", "K - p", "K", "1")):
    case(f"dot_loop_{name}", f"""
i = tl.arange(0, 16)
acc = tl.zeros([16, 16], tl.float32)
for p in range({loop}):
    k = {first} + tl.arange(0, 16)
    a = tl.load(x + i[:, None] * {rows} + k[None, :] * {columns}, mask=(i[:, None] < 13) & (k[None, :] < {limit}), other=0.0)
    b = tl.load(z + k[:, None] * 16 + i[None, :], mask=k[:, None] < {limit}, other=0.0)
    acc = tl.dot(a, b, acc, input_precision='ieee')
tl.store(y + i[:, None] * 16 + i[None, :], acc)
""", K=40, x=buffer("float32", 16 * 64, "whole"), z=buffer("float32", 16 * 64, "whole"), y=zeros("float32", 256))
case("dot_half_out", "i = tl.arange(0, 16)\na = tl.load(x + i[:, None] * 16 + i[None, :])\ntl.store(y + i[:, None] * 16 + i[None, :], tl.dot(a, a, out_dtype=tl.float16))",
     x=buffer("float16", 256, "whole"), y=zeros("float16", 256))
case("dot_batch", """
b = tl.arange(0, 2)[:, None, None]
i = tl.arange(0, 16)[None, :, None]
j = tl.arange(0, 16)[None, None, :]
at = (b * 16 + i) * 16 + j
v = tl.load(x + at)
tl.store(y + at, tl.dot(v, v, input_precision='ieee'))
""", x=f32(512, "whole"), y=zeros("float32", 512))

# ---- tier 2

case("static_range", "i = tl.arange(0, 16)\nacc = i\nfor k in tl.static_range(1, 6, 2):\n    acc = acc * k + 1\ntl.store(y + i, acc)", y=zeros("int32", 16))
case("tl_range", "i = tl.arange(0, 16)\nacc = i\nfor k in tl.range(0, n, 2, num_stages=2):\n    acc = acc * 3 + k\ntl.store(y + i, acc)", n=7, y=zeros("int32", 16))
case("full_zeros_like", "i = tl.arange(0, 16)\nv = tl.full((16,), 3.5, tl.float32)\ntl.store(y + i, v + tl.zeros_like(v) + tl.full([16], n, tl.int32))", n=4, y=zeros("float32", 16))
case("shape_functions", """
i = tl.arange(0, 16)
v = tl.load(x + i)
a = tl.reshape(v, (4, 4))
b = tl.broadcast_to(tl.expand_dims(v, 0), (2, 16))
c = tl.view(v, [2, 8])
tl.store(y + i, tl.reshape(tl.trans(a), (16,)))
tl.store(z + tl.arange(0, 2)[:, None] * 16 + i[None, :], b)
tl.store(w + tl.arange(0, 8), tl.sum(c, axis=0))
""", x=buffer("int32"), y=zeros("int32", 16), z=zeros("int32", 32), w=zeros("int32", 8))
case("cumsum", """
i = tl.arange(0, 4)[:, None]
j = tl.arange(0, 8)[None, :]
v = tl.load(x + i * 8 + j)
tl.store(a + i * 8 + j, tl.cumsum(v, axis=1))
tl.store(b + i * 8 + j, tl.cumsum(v, 0))
tl.store(c + i * 8 + j, tl.cumsum(v, axis=1, reverse=True))
tl.store(d + i * 8 + j, tl.cumsum((v > 0).to(tl.int8), axis=1))
""", x=f32(32, "whole"), a=zeros("float32", 32), b=zeros("float32", 32), c=zeros("float32", 32), d=zeros("int64", 32))
case("clamp", "i = tl.arange(0, 16)\ntl.store(y + i, tl.clamp(tl.load(x + i), -0.5, 0.5))", x=f32(kind="unit"), y=zeros("float32", 16))
case("argmax", """
i = tl.arange(0, 4)[:, None]
j = tl.arange(0, 16)[None, :]
v = tl.load(x + i * 16 + j)
tl.store(a + tl.arange(0, 4), tl.argmax(v, axis=1))
tl.store(b + tl.arange(0, 16), tl.argmin(v, axis=0))
m, k = tl.max(v, axis=1, return_indices=True)
tl.store(c + tl.arange(0, 4), m)
tl.store(d + tl.arange(0, 4), k)
""", x=f32(64, "whole"), a=zeros("int32", 4), b=zeros("int32", 16), c=zeros("float32", 4), d=zeros("int64", 4))
case("hints", """
i = tl.program_id(0) * 16 + tl.arange(0, 16)
i = tl.max_contiguous(tl.multiple_of(i, 16), 16)
tl.static_assert(B == 16)
tl.device_assert(n > 0, 'n')
tl.debug_barrier()
tl.store(y + i, tl.load(x + i))
""", x=f32(), n=3, B=constant(16), y=zeros("float32", 16))
case("while", "i = tl.arange(0, 16)\nk = n\nacc = i\nwhile k > 0:\n    acc = acc + k\n    k = k // 2\ntl.store(y + i, acc)", n=37, y=zeros("int32", 16))
case("device_function", "i = tl.arange(0, 16)\na, b = helper(tl.load(x + i), 2)\ntl.store(y + i, a)\ntl.store(z + i, b)", before="""
@triton.jit
def inner(v, flag):
    if flag:
        r = v + 1.0
    else:
        r = v - 1.0
    return r


@triton.jit
def helper(v, N: tl.constexpr, scale=3):
    v = inner(v, N == 2)
    return v * N, v * scale
""", x=f32(), y=zeros("float32", 16), z=zeros("float32", 16))
case("tuples", "i = tl.arange(0, 16)\na, b = i * 2, i * 3\na, b = b, a\npair = (a, b)\ntl.store(y + i, pair[0] * 100 + pair[1])", y=zeros("int32", 16))
case("constant_power", "i = tl.arange(0, 16)\ntl.store(y + i, i * B ** 2 + 2 ** 3)", B=constant(5), y=zeros("int32", 16))
case("shifts", """
i = tl.arange(0, 16)
v = tl.load(x + i)
u = tl.load(w + i)
tl.store(a + i, (v << 3) + (v >> 2))
tl.store(b + i, (u << 3) ^ (u >> 2))
tl.store(c + i, v >> (i % 8))
""", x=buffer("int32"), w=buffer("uint8"), a=zeros("int32", 16), b=zeros("uint8", 16), c=zeros("int32", 16))
case("global_constants", "i = tl.arange(0, WIDTH)\ntl.store(y + i, i * FACTOR)\nif KIND == 'fast':\n    tl.store(y, 9)", before="WIDTH = tl.constexpr(16)\nFACTOR: tl.constexpr = tl.constexpr(3)\nKIND = tl.constexpr('fast')",
     y=zeros("int32", 16))
case("type_constexpr", "i = tl.arange(0, 16)\ntl.store(y + i, tl.load(x + i).to(T))", T=constant("triton.language.float16"), x=f32(), y=zeros("float64", 16))
for dtype in ("int32", "int64", "float32", "float64"):
    case(f"atomic_add_{dtype}", "i = tl.arange(0, 16)\nold = tl.atomic_add(y + i % 4, tl.load(x + i), mask=i < 13)\ntl.atomic_add(y + 5, 2)\ntl.store(z + i, tl.abs(old) * 0)", grid=(3,),
         x=buffer(dtype, kind="whole"), y=buffer(dtype, 8, "whole"), z=zeros(dtype, 16))
case("atomic_old", "p = tl.program_id(0)\ntl.store(y + p, tl.atomic_add(x, 1))", grid=(4,), x=values("int32", 5), y=zeros("int32", 4), expected={"x": [9], "y": [5, 6, 7, 8]})
case("other_atomics", """
i = tl.arange(0, 16)
v = tl.load(x + i)
tl.atomic_max(y + i % 4, v)
tl.atomic_min(y + 4 + i % 4, v)
tl.atomic_and(y + 8 + i % 4, v)
tl.atomic_or(y + 12 + i % 4, v)
tl.atomic_xor(y + 16 + i % 4, v)
tl.atomic_xchg(y + 20 + i, v)
""", x=buffer("int32"), y=buffer("int32", 36))
case("atomic_cas", "tl.store(y, tl.atomic_cas(x, 5, 8))\ntl.store(y + 1, tl.atomic_cas(x + 1, 5, 8))", x=values("int32", 5, 6), y=zeros("int32", 2))
case("integer_types", """
i = tl.arange(0, 16)
a = tl.load(x + i)
b = tl.load(z + i)
tl.store(p + i, a + b)
tl.store(q + i, a * b)
tl.store(r + i, (a.to(tl.uint8) // 3).to(tl.int32) + b.to(tl.int32))
""", x=buffer("int8"), z=buffer("uint8"), p=zeros("int64", 16), q=zeros("int64", 16), r=zeros("int32", 16))
case("int64_arithmetic", "i = tl.arange(0, 16)\nv = tl.load(x + i)\ntl.store(y + i, v * 3 + (v >> 7) - v // 1000 + v % 77)\ntl.store(z + i, i.to(tl.int64) * n)", n=2**35 + 3, x=buffer("int64"), y=zeros("int64", 16), z=zeros("int64", 16))

# ---- tier 3 that is there

case("join_split", "i = tl.arange(0, 16)\nv = tl.load(x + i)\na, b = tl.split(tl.reshape(v, [8, 2]))\ntl.store(y + tl.arange(0, 8), a - b)\ntl.store(z + i, tl.reshape(tl.join(b, a), [16]))",
     x=f32(), y=zeros("float32", 8), z=zeros("float32", 16))
case("flip_interleave", "i = tl.arange(0, 16)\nv = tl.load(x + i)\ntl.store(y + i, tl.flip(v, 0))\ntl.store(z + tl.arange(0, 32), tl.interleave(v, v * 2))", x=f32(), y=zeros("float32", 16), z=zeros("float32", 32))
case("custom_reduce", "i = tl.arange(0, 16)\nv = tl.load(x + i)\ntl.store(y, tl.reduce(v, 0, most))\ntl.store(z + i, tl.associative_scan(v, 0, most))", before="@triton.jit\ndef most(a, b):\n    return tl.maximum(a, b)",
     x=buffer("int32"), y=zeros("int32", 1), z=zeros("int32", 16))
case("block_pointer", """
p = tl.make_block_ptr(x, (n, 12), (12, 1), (tl.program_id(0) * 4, 0), (4, 8), (1, 0))
q = tl.make_block_ptr(y, (n, 12), (12, 1), (tl.program_id(0) * 4, 0), (4, 8), (1, 0))
for k in range(0, 2):
    v = tl.load(p, boundary_check=(0, 1), padding_option='zero')
    tl.store(q, v * 2, boundary_check=(0, 1))
    p = tl.advance(p, (0, 8))
    q = tl.advance(q, (0, 8))
""", grid=(3,), n=10, x=f32(120), y=zeros("float32", 120))
case("random", "i = tl.arange(0, 64)\ntl.store(y + i, tl.rand(seed, i))\ntl.store(z + i, tl.randint(seed, i))\ntl.store(w + i, tl.randn(seed, i))", seed=77, y=zeros("float32", 64), z=zeros("int32", 64),
     w=zeros("float32", 64), ulps=16, atol=1e-5)
case("umulhi", "i = tl.arange(0, 16)\ntl.store(y + i, tl.umulhi(tl.load(x + i), tl.load(x + 15 - i)))", x=buffer("uint32"), y=zeros("uint32", 16))
case("swizzle2d", "i, j = tl.swizzle2d(tl.program_id(0), tl.program_id(1), 6, 4, 4)\ntl.store(y + tl.program_id(0) * 4 + tl.program_id(1), i * 10 + j)", grid=(6, 4), y=zeros("int32", 24))

for dtype in ("float32", "int32", "int8", "float16"):
    case(f"sort_{dtype}", """
i = tl.arange(0, 4)[:, None]
j = tl.arange(0, 16)[None, :]
v = tl.load(x + i * 16 + j)
tl.store(a + i * 16 + j, tl.sort(v))
tl.store(b + i * 16 + j, tl.sort(v, descending=True))
tl.store(c + i * 4 + tl.arange(0, 4)[None, :], tl.topk(v, 4))
""", x=buffer(dtype, 64, "whole"), a=zeros(dtype, 64), b=zeros(dtype, 64), c=zeros("float64" if "float" in dtype else "int64", 16))
case("gather", """
i = tl.arange(0, 4)[:, None]
j = tl.arange(0, 16)[None, :]
v = tl.load(x + i * 16 + j)
tl.store(a + i * 16 + j, tl.gather(v, tl.load(z + i * 16 + j) & 15, 1))
tl.store(b + i * 16 + j, tl.gather(v, tl.load(z + i * 16 + j) & 3, axis=0))
""", x=f32(64), z=buffer("int32", 64), a=zeros("float32", 64), b=zeros("float32", 64))
case("histogram", "i = tl.arange(0, 64)\nv = tl.load(x + i) & 7\ntl.store(y + tl.arange(0, 8), tl.histogram(v, 8))\ntl.store(z + tl.arange(0, 8), tl.histogram(v, 8, mask=i < 50))",
     x=buffer("int32", 64), y=zeros("int32", 8), z=zeros("int32", 8))

# ---- how a kernel is cut into loops

case("rows_of_two_nests", """
i = tl.arange(0, 2)[:, None, None]
j = tl.arange(0, 4)[None, :, None]
k = tl.arange(0, 4)[None, None, :]
at = i * 16 + j * n + k
v = tl.load(x + at, mask=k < n, other=3)
tl.store(y + at, tl.sum(v, axis=1)[:, None, :], mask=k < n)
""", x=f32(32, "whole"), y=zeros("float64", 32), n=2)

# ---- as on a GPU, where Triton's interpreter is not

h = np.array([0.1, 1.7, -3.3, 1000.0], np.float16)
case("quirk_float_argument", "i = tl.arange(0, 4)\ntl.store(y + i, tl.load(x + i) * s)", x=values("float16", *h), s=0.1, y=zeros("float64", 4),
     expected={"y": (h.astype(np.float32) * np.float32(0.1)).astype(np.float64)})
case("quirk_bfloat16_rounding", "i = tl.arange(0, 4)\ntl.store(y + i, tl.load(x + i))", x=values("float32", 1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-20, -3.14159), y=zeros("bfloat16", 4),
     expected={"y": bfloat16(1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-20, -3.14159).values})
case("quirk_bfloat16_arithmetic", "i = tl.arange(0, 4)\na = tl.load(x + i)\ntl.store(y + i, a * a + a)", x=bfloat16(1.5, -2.25, 3.015625, 0.1), y=zeros("bfloat16", 4),
     expected={"y": (lambda v: bfloat16(*((bfloat16(*(v * v)).values.astype(np.uint32) << 16).view(np.float32) + v)).values)(
         (bfloat16(1.5, -2.25, 3.015625, 0.1).values.astype(np.uint32) << 16).view(np.float32))})
case("quirk_bfloat16_dot", "i = tl.arange(0, 16)\na = tl.load(x + i[:, None] * 16 + i[None, :])\ntl.store(y + i[:, None] * 16 + i[None, :], tl.dot(a, a))",
     x=bfloat16(*data(random.Random(5), "float32", 256, "whole")), y=zeros("float32", 256),
     expected={"y": (lambda v: (v @ v).reshape(-1))(data(random.Random(5), "float32", 256, "whole").reshape(16, 16))})
case("quirk_nan_minimum", "i = tl.arange(0, 4)\na = tl.load(x + i)\nb = tl.load(z + i)\ntl.store(y + i, tl.minimum(a, b))\ntl.store(w + i, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))\ntl.store(s, tl.max(a, axis=0))",
     x=values("float32", math.nan, 1, 2, math.nan), z=values("float32", 3, math.nan, 1, math.nan), y=zeros("float32", 4), w=zeros("float32", 4), s=zeros("float32", 1),
     expected={"y": np.array([3, 1, 1, math.nan], np.float32), "w": np.array([math.nan, math.nan, 2, math.nan], np.float32), "s": np.array([2], np.float32)})
case("quirk_bool_argument", "i = tl.arange(0, 4)\ntl.store(y + i, tl.where(flag, i, -i) + flag.to(tl.int32))", flag=True, y=zeros("int32", 4), expected={"y": [1, 2, 3, 4]})
case("quirk_wide_sum", "i = tl.arange(0, 4)\ntl.store(y, tl.sum(tl.load(x + i)))", x=values("int32", 2**31 - 1, 2**31 - 1, 5, 0), y=zeros("int64", 1), expected={"y": [3]})
case("quirk_float64_to_bfloat16", "i = tl.arange(0, 4)\ntl.store(y + i, tl.load(x + i))", x=values("float64", 1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8 - 2.0**-40, 1e300, -1 - 2.0**-8 - 2.0**-50), y=zeros("bfloat16", 4),
     expected={"y": bfloat16(1 + 2.0**-7, 1, math.inf, -1 - 2.0**-7).values})
case("quirk_nan_argmax", "i = tl.arange(0, 4)\ntl.store(y, tl.argmax(tl.load(x + i), axis=0))\ntl.store(y + 1, tl.argmin(tl.load(x + i), axis=0))",
     x=values("float32", math.nan, 1, 7, 2), y=zeros("int32", 2), expected={"y": [2, 1]})
case("quirk_fma", "i = tl.arange(0, 4)\na = tl.load(x + i)\ntl.store(y + i, tl.fma(a, a, -1.0))", x=values("float32", 1 + 2.0**-12, 1.5, 1 + 2.0**-13, -1), y=zeros("float32", 4),
     expected={"y": np.array([2.0**-11 + 2.0**-24, 1.25, 2.0**-12 + 2.0**-26, 0], np.float32)})
case("quirk_saturating_cast", "i = tl.arange(0, 4)\ntl.store(y + i, tl.load(x + i).to(tl.int32))", x=values("float32", 1e20, -1e20, math.nan, 2.0**31), y=zeros("int32", 4),
     expected={"y": [2**31 - 1, -2**31, 0, 2**31 - 1]})
case("quirk_loop_variable", "i = tl.arange(0, 4)\nv = tl.load(x + i)\nacc = tl.zeros([4], tl.int32)\nfor k in range(-3, n):\n    acc += v + k + k // 2\ntl.store(y + i, acc)", n=2, x=values("int8", 127, 126, -128, 0), y=zeros("int32", 4),
     expected={"y": [5 * v + sum(k + int(k / 2) for k in range(-3, 2)) for v in (127, 126, -128, 0)]})
case("quirk_invert_unsigned", "i = tl.arange(0, 4)\ntl.store(y + i, ~tl.load(x + i))", x=values("uint16", 0, 1, 65535, 255), y=zeros("uint16", 4), expected={"y": [65535, 65534, 0, 65280]})

# ---- libdevice, which Triton's interpreter does not have: against C's functions in float64
for f, reference, kind, ulps in (("tanh", np.tanh, "any", 4), ("erf", np.vectorize(math.erf), "any", 4), ("rsqrt", lambda v: 1 / np.sqrt(v), "positive", 2), ("exp", np.exp, "unit", 2),
                                 ("log1p", np.log1p, "positive", 4), ("expm1", np.expm1, "unit", 4), ("atan", np.arctan, "any", 4), ("asin", np.arcsin, "unit", 8), ("acos", np.arccos, "unit", 8),
                                 ("sinh", np.sinh, "unit", 16), ("cosh", np.cosh, "unit", 8), ("tan", np.tan, "unit", 4), ("log10", np.log10, "positive", 8), ("cbrt", np.cbrt, "positive", 8), ("rint", np.rint, "any", 0),
                                 ("trunc", np.trunc, "any", 0), ("round", lambda v: np.copysign(np.floor(np.abs(v) + 0.5), v), "any", 0), ("normcdf", np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2))), "unit", 8)):
    x = f32(256, kind)
    with np.errstate(all="ignore"):
        case(f"libdevice_{f}", f"i = tl.arange(0, 256)\ntl.store(y + i, libdevice.{f}(tl.load(x + i)))", x=x, y=zeros("float32", 256), ulps=ulps, atol=1e-7 if ulps else 0,
             expected={"y": reference(x.values.astype(np.float64)).astype(np.float32)})
for f, reference in (("pow", np.power), ("atan2", np.arctan2), ("fmod", np.fmod), ("copysign", np.copysign), ("hypot", np.hypot)):
    a, b = f32(256, "positive"), f32(256, "unit")
    case(f"libdevice_{f}", f"i = tl.arange(0, 256)\ntl.store(y + i, libdevice.{f}(tl.load(a + i), tl.load(b + i)))", a=a, b=b, y=zeros("float32", 256), ulps=0 if f in ("fmod", "copysign") else 8, atol=0 if f in ("fmod", "copysign") else 1e-7,
         expected={"y": reference(a.values.astype(np.float64), b.values.astype(np.float64)).astype(np.float32)})

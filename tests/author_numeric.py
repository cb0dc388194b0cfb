#!/usr/bin/env python3
"""What the author writes, against eager, over generated graphs: every rule with odd sizes, sizes of 0 and 1, broadcast in
every position, inputs that are not contiguous, all dtypes. The checked build runs too, so a wrong access is a failure.

    author_numeric.py TOOL [--seed N] [--only NAME] [--keep DIR] [--plan PLAN]

--plan lays the kernels over programs in another way (docs/author.md); `small` is one in which everything is cut: blocks
and tiles of a few elements, every reduction in pieces, few programs that walk over many blocks.

TOOL is bench_author: it authors, checks and compares a list of graphs in one process. Ends with `N passed, N failed`.
"""
import argparse, os, random, shutil, subprocess, sys, tempfile

SMALL = "block=16,tile=16,columns=4,split=4,split_from=5,split_rows=1000000,programs=3,product_rows=16,product_columns=16,product_depth=16"
HALVES = ["float16", "bfloat16"]
FLOATS = ["float32", "float64"] + HALVES
INTEGERS = ["int64", "int32"]
KIND_DTYPES = {"index": "int64", "first": "int64", "bytes": "uint8"}


class Case:
    def __init__(self, name, inputs, body, dtypes):
        self.name, self.inputs, self.body, self.dtypes = name, inputs, body, dtypes


# Tensors in another order of memory than row-major, with gaps, repeated: name, input's shape, t's shape, how it is made.
LAYOUTS = [
    ("turned", [6, 5], [5, 6], ["t = x.t()"]),
    ("part", [6, 9], [5, 6], ["p = x[:, :5]", "t = p.t()"]),
    ("repeated", [1, 5], [6, 5], ["t = x.expand(6, 5)"]),
    ("turned", [2, 3, 4], [4, 2, 3], ["t = x.permute(2, 0, 1)"]),
    ("single", [6, 1, 5], [5, 1, 6], ["t = x.transpose(0, 2)"]),
    ("last", [2, 6, 8, 4], [2, 4, 6, 8], ["t = x.permute(0, 3, 1, 2)"]),
    ("moved", [4, 6, 8, 2], [2, 4, 6, 8], ["t = x.permute(3, 0, 1, 2)"]),
    ("gaps", [2, 6, 8, 9], [2, 4, 6, 8], ["p = x[:, :, :, :4]", "t = p.permute(0, 3, 1, 2)"]),
]
# Operators of every law of memory: ranks, text, other inputs.
STORES = [
    ("iterator", (2, 3, 4), "torch.relu(t)", ""), ("number", (2, 3, 4), "t * 2.0", ""), ("compare", (2, 3), "t > 0.5", ""),
    ("clamp", (3,), "torch.clamp(t, -1.0, 1.0)", ""), ("power", (2,), "t ** 2", ""), ("plus_zero", (2, 3), "t + 0", ""),
    ("rsub", (2, 3), "torch.rsub(t, y)", "y"), ("sub", (2, 3), "torch.sub(y, t)", "y"), ("add", (2, 3, 4), "t + y", "y"),
    ("add_row", (3,), "t + row", "row"), ("where", (2, 3), "torch.where(t > 0, 1.0, y)", "y"),
    ("logical", (2,), "torch.logical_and(y, t)", "y"), ("masked_fill", (2, 3), "t.masked_fill(t > 0, 1.0)", ""),
    ("tril", (2, 3), "torch.tril(t)", ""), ("to", (2, 3, 4), "t.to(torch.float64)", ""), ("clone", (2, 3, 4), "t.clone()", ""),
    ("clone_dense", (2,), "t.clone(memory_format=torch.contiguous_format)", ""), ("zeros_like", (2, 3), "torch.zeros_like(t)", ""),
    ("new_ones", (2,), "t.new_ones((5, 6))", ""), ("flip", (2, 4), "t.flip(0)", ""), ("roll", (2, 4), "torch.roll(t, shifts=1, dims=1)", ""),
    ("pad", (2, 4), "torch.nn.functional.pad(t, [1, 1])", ""), ("pad_less", (2, 4), "torch.nn.functional.pad(t, [0, -1])", ""),
    ("cat", (2, 4), "torch.cat([t, t], dim=1)", ""), ("stack", (2, 4), "torch.stack([t, t], dim=1)", ""),
    ("repeat", (2,), "t.repeat(1, 2)", ""), ("softmax", (2, 3), "torch.nn.functional.softmax(t, dim=1)", ""), ("sum", (3, 4), "t.sum(1)", ""),
    ("mean", (3, 4), "t.mean(1, keepdim=True)", ""), ("gather_first", (2, 3, 4), "t[i]", "i"), ("gather", (3, 4), "t[:, :, i]", "i"),
    ("index_select", (3, 4), "torch.index_select(t, 0, i)", "i"), ("layer_norm", (4,), "torch.nn.functional.layer_norm(t, (8,))", ""),
    ("max_pool", (4,), "torch.nn.functional.max_pool2d(t, 2, 2)", ""), ("avg_pool", (4,), "torch.nn.functional.avg_pool2d(t, 2, 2)", ""),
    ("adaptive", (4,), "torch.nn.functional.adaptive_avg_pool2d(t, (3, 2))", ""), ("adaptive_one", (4,), "torch.nn.functional.adaptive_avg_pool2d(t, (1, 1))", ""),
    ("nearest", (4,), "torch.nn.functional.interpolate(t, size=(12, 16), mode='nearest')", ""),
    ("bilinear", (4,), "torch.nn.functional.interpolate(t, size=(12, 16), mode='bilinear')", ""),
    ("batch_norm", (4,), "torch.nn.functional.batch_norm(t, v, v, None, None, False, 0.1, 1e-05)", "v"),
    ("group_norm", (4,), "torch.nn.functional.group_norm(t, 2)", ""), ("conv", (4,), "torch.conv2d(t, w, None, (1, 1), (0, 0), (1, 1), 1)", "w"),
    ("einsum", (2,), "torch.functional.einsum('ij,kj->ki', t, t)", ""), ("einsum_view", (2,), "torch.functional.einsum('ij->ji', t)", ""),
]


def memory_cases():
    """The graph asks for the result's strides outside the pass: they are eager's, or the answer differs."""
    for op, ranks, text, other in STORES:
        for layout, shape, turned, lines in LAYOUTS:
            if len(turned) not in ranks:
                continue
            more = {"": [], "y": [("y", turned)], "row": [("row", turned[-1:])], "i": [("i", [3], "first")], "v": [("v", turned[1:2], "positive")], "w": [("w", [3, 4, 1, 1])]}[other]
            strides = range(len(turned) + (op == "stack") - (op == "sum"))
            asked = [line for d in strides for line in (f"s{d} = r.stride({d})", f"u{d} = one * s{d}")]
            yield Case(f"memory_{op}_{len(turned)}_{layout}", [("x", shape), ("one", [1])] + more,
                       lines + [f"h = {text}", "r = h.relu()" if op == "conv" else "r = h"] + asked + [f"return (r, {', '.join(f'u{d}' for d in strides)})"], ["float32"])


def some(rng, kinds=(1, 3, 7, 16, 33)):
    return rng.choice(kinds)


def cases(rng):
    a, b, c, d = (some(rng, (2, 3, 5, 9)), some(rng, (3, 7, 11)), some(rng, (1, 4, 6)), some(rng, (5, 8, 17)))
    x = [a, b, d]
    # broadcast in every position, by sizes of 1 and by missing dimensions
    for i, other in enumerate(([d], [1, d], [b, 1], [a, 1, 1], [1, b, d], [a, b, 1], [1], [])):
        yield Case(f"broadcast_{i}", [("x", x), ("y", other)], ["s = x + y", "t = torch.sigmoid(s)", "u = t * x", "return (u, s)"], FLOATS)
    unary = ["torch.relu({})", "torch.sigmoid({})", "torch.tanh({})", "torch.nn.functional.silu({})", "torch.nn.functional.gelu({})",
             "torch.nn.functional.gelu({}, approximate='tanh')", "torch.nn.functional.hardswish({})", "torch.nn.functional.hardsigmoid({})",
             "torch.nn.functional.leaky_relu({}, 0.1)", "torch.exp({})", "{}.abs().sqrt()", "torch.clamp({}, -0.5, 0.25)", "{} ** 2", "{} ** 3", "-{}",
             "torch.cos({})", "torch.nn.functional.hardtanh({}, 0.0, 6.0)", "{}.square()"]
    for i in range(0, len(unary), 3):
        lines, names = [], []
        for k, u in enumerate(unary[i:i + 3]):
            if ".abs().sqrt()" in u:
                lines += [f"p{k} = x.abs()", f"u{k} = p{k}.sqrt()"]
            else:
                lines.append(f"u{k} = " + u.format("x"))
            names.append(f"u{k}")
        yield Case(f"unary_{i}", [("x", [some(rng), some(rng)])], lines + [f"return ({', '.join(names)},)"], FLOATS)
    yield Case("integers", [("x", [a, b]), ("y", [b])], ["s = x + y", "t = s * 3", "u = t - x", "m = u > y", "w = torch.where(m, u, t)", "v = w.to(torch.float32)", "return (w, m, v)"], INTEGERS)
    yield Case("casts", [("x", x)], ["f = x.to(torch.float32)", "g = f * 1.5", "h = g.to(torch.float16)", "i = g.to(torch.int64)", "return (h, i, g)"], FLOATS)
    yield Case("masks", [("x", [a, b]), ("y", [a, b])], ["m = x > y", "f = x.masked_fill(m, -1.0)", "g = f + y", "n = ~m", "return (g, n)"], FLOATS)
    yield Case("views", [("x", [a, 6, d])], ["p = x.permute(2, 0, 1)", "r = p.reshape(-1, 6)", "q = r * 2.0", "s = q[1:, ::2]", "u = s.unsqueeze(1)", "t = u + 1.0", "return (t, q)"], FLOATS)
    yield Case("layout", [("x", [a, b, d]), ("y", [a, d, b])], ["t = x.transpose(1, 2)", "s = t + y", "g = torch.nn.functional.gelu(s)", "return (g,)"], FLOATS)
    yield Case("not_contiguous", [("x", [4, b, d])], ["m = torch.functional.einsum('abc->bca', x)", "s = m * 2.0", "t = torch.sigmoid(s)", "return (t,)"], FLOATS)
    yield Case("cat_small", [("x", [a, b]), ("y", [a, d]), ("z", [a, 1])], ["r = torch.relu(x)", "c = torch.cat([r, y, z], dim=1)", "s = c * 2.0", "return (s,)"], FLOATS)
    yield Case("cat_large", [("x", [4, 33, 129]), ("y", [4, 50, 129])], ["c = torch.cat([x, y], dim=1)", "s = torch.sigmoid(c)", "return (s,)"], FLOATS)
    yield Case("stack", [("x", [a, b]), ("y", [a, b])], ["n = -x", "s = torch.stack([n, y], dim=-1)", f"r = s.reshape({a}, {2 * b})", "t = r + 1.0", "return (t,)"], FLOATS)
    yield Case("split", [("x", [a, 12])], ["p = torch.functional.split(x, [5, 7], dim=1)", "q = p[0]", "r = p[1]", "u = q * 2.0", "v = r + 1.0", "return (u, v)"], FLOATS)
    yield Case("chunk", [("x", [a, 12])], ["p = x.chunk(2, dim=-1)", "q = p[0]", "r = p[1]", "u = q * r", "return (u,)"], FLOATS)
    yield Case("pad", [("x", [2, b, d])], ["p = torch.nn.functional.pad(x, [1, 2, 0, 3], 'constant', 0.5)", "s = p * 2.0", "return (s,)"], FLOATS)
    yield Case("repeat_roll", [("x", [a, b])], ["r = x.repeat(2, 1, 3)", f"s = torch.roll(r, shifts=1, dims=2)", "t = s + 1.0", "return (t,)"], FLOATS)
    yield Case("expand_copy", [("x", [a, 1, d])], [f"e = x.expand({a}, {b}, {d})", f"r = e.reshape({a * b}, {d})", "s = r * 2.0", "return (s,)"], FLOATS)
    for dim in (0, 1, 2, -1):
        yield Case(f"softmax_{dim}", [("x", x)], [f"s = torch.nn.functional.softmax(x, dim={dim})", "t = s * 2.0", "return (t,)"], FLOATS)
        yield Case(f"reduce_{dim}", [("x", x)], ["r = torch.relu(x)", f"s = r.sum(dim={dim})", f"m = r.mean(dim={dim}, keepdim=True)", "return (s, m)"], FLOATS)
        yield Case(f"max_{dim}", [("x", x)], ["r = x * 2", f"p = r.max({dim}, keepdim=True)", "m = p[0]", "s = x - m", f"q = r.min({dim})", "n = q[0]", "return (s, n)"], FLOATS + INTEGERS)
    yield Case("reduce_two", [("x", [2, 3, b, d])], ["r = torch.nn.functional.silu(x)", "m = r.mean((2, 3), keepdim=True)", "s = torch.sigmoid(m)", "y = x * s", "return (y, r)"], ["float32", "float64"])
    yield Case("reduce_all", [("x", x)], ["r = x * 2", "s = r.sum()", "p = x.max()", "q = x.min()", "return (s, p, q)"], FLOATS)
    yield Case("sum_of_integers", [("x", x)], ["r = x * 2", "s = r.sum()", "t = r.sum(dim=(0, 2))", "return (s, t)"], INTEGERS)
    yield Case("mean_all", [("x", [a, 33, d])], ["m = x.mean()", "y = x - m", "return (y, m)"], ["float32", "float64"])
    yield Case("reduce_apart", [("x", [2, b, 3, d])], ["r = torch.relu(x)", "m = r.mean((0, 2, 3), keepdim=True)", "y = x - m", "t = x.transpose(1, 3)", "s = t.sum((0, 1, 2))", "return (y, r, s)"], ["float32", "float64"])
    yield Case("norm", [("x", [a, d]), ("w", [d]), ("b", [d])], [f"y = torch.nn.functional.layer_norm(x, ({d},), w, b, 1e-05)", "return (y,)"], FLOATS)
    yield Case("norm_sum", [("x", [a, d]), ("r", [a, d])], [f"s = x + r", f"y = torch.nn.functional.layer_norm(s, ({d},))", "z = y + r", "return (s, z)"], ["float32", "float64"])
    yield Case("batch_norm", [("x", [2, b, 3, d]), ("m", [b]), ("v", [b], "positive"), ("w", [b]), ("k", [b])],
               ["n = torch.nn.functional.batch_norm(x, m, v, w, k, False, 0.1, 1e-05)", "r = torch.relu(n)", "return (r,)"], FLOATS)
    yield Case("group_norm", [("x", [2, 6, 3, d]), ("w", [6]), ("k", [6])], ["n = torch.nn.functional.group_norm(x, 3, w, k, 1e-05)", "return (n,)"], ["float32", "float64"])
    yield Case("vector_norm", [("x", [a, d])], ["n = x.norm(p=2, dim=-1, keepdim=True)", "y = x / n", "return (y,)"], ["float32", "float64"])
    yield Case("max_pool", [("x", [1, 3, 9, 10])], ["r = torch.relu(x)", "p = torch.nn.functional.max_pool2d(r, 3, 2, 1)", "return (p,)"], ["float32", "float64"] + HALVES)
    yield Case("avg_pool", [("x", [1, 3, 8, 10])], ["r = torch.relu(x)", "p = torch.nn.functional.avg_pool2d(r, 2, 2)", "return (p,)"], FLOATS)
    yield Case("adaptive_pool", [("x", [2, 3, 8, 12])], ["r = torch.relu(x)", "p = torch.nn.functional.adaptive_avg_pool2d(r, (4, 3))", "return (p,)"], ["float32", "float64"])
    yield Case("unfold", [("x", [1, 3, 8, 6])], ["u = torch.nn.functional.unfold(x, (2, 3), padding=(1, 0), stride=(2, 1))", "s = u * 2.0", "return (s,)"], FLOATS)
    yield Case("nearest", [("x", [1, 3, 4, 5])], ["s = x * 2.0", "u = torch.nn.functional.interpolate(s, size=(8, 15), mode='nearest')", "return (u,)"], FLOATS)
    yield Case("bilinear", [("x", [1, 3, 4, 5])], ["s = torch.sigmoid(x)", "u = torch.nn.functional.interpolate(s, size=(9, 13), mode='bilinear', align_corners=False)", "t = u * 2.0", "return (t,)"], ["float32"])
    yield Case("bilinear_corners", [("x", [1, 3, 4, 5])], ["u = torch.nn.functional.interpolate(x, size=(9, 13), mode='bilinear', align_corners=True)", "t = u * 2.0", "return (t,)"], ["float32"])
    yield Case("embedding", [("t", [9, d]), ("i", [2, 5], "index"), ("p", [5, d])], ["e = torch.nn.functional.embedding(i, t)", "s = e + p", "return (s,)"], FLOATS)
    yield Case("index_select", [("t", [9, d]), ("i", [5], "index")], ["e = torch.index_select(t, 0, i)", "g = t[i]", "s = e * g", "return (s,)"], FLOATS)
    yield Case("causal", [("x", [d, d])], [f"a = torch.arange({d})", f"r = a.view({d}, 1)", "m = a > r", "f = x.masked_fill(m, -100.0)", "s = torch.nn.functional.softmax(f, dim=-1)", "t = torch.tril(s)", "return (t,)"], ["float32", "float64"])
    yield Case("in_place", [("x", [a, b]), ("y", [a, b])], ["x += y", "z = torch.nn.functional.relu(x, inplace=True)", "return (z,)"], FLOATS)
    # an input that is read before it is changed: as it lies, and at other places
    reads = ["x + y", "x.t()", "x.flip(0)", "torch.roll(x, shifts=1, dims=0)", "x.sum(1)", "torch.nn.functional.softmax(x, dim=0)",
             "x.repeat(2, 1)", "torch.cat([x, y], 1)", "torch.stack([x, x])", "torch.nn.functional.pad(x, [1, 0], 'constant', 0.5)",
             "x[:, 1:]"]
    for i, read in enumerate(reads):
        yield Case(f"in_place_read_{i}", [("x", [a + 40, a + 40]), ("y", [a + 40, a + 40])], [f"f = {read}", "g = f * 2.0", "x *= y", "h = g + 1.0", "return (h, x)"], ["float32", "float16"])
        yield Case(f"in_place_read_late_{i}", [("x", [b, b]), ("y", [b, b])], [f"f = {read}", "x += 1.0", "g = f.sum()", "y *= x", "h = f * g", "return (h, y)"], ["float32", "float64"])
    for i, read in enumerate(["x.t()", "x.flip(0)", "torch.roll(x, shifts=1, dims=1)", "torch.nn.functional.softmax(x, dim=0)", "x.mean(1, keepdim=True)"]):
        yield Case(f"in_place_of_itself_{i}", [("x", [a + 60, a + 60])], [f"f = {read}", "g = torch.relu(f)", "x += g", "h = x * 2.0", "return (h,)"], ["float32", "float64"])
    yield Case("in_place_shifted", [("x", [a, 9])], ["f = x[:, :-1]", "g = torch.relu(f)", "x[:, 1:] = g", "y = x * 2.0", "return (y, x)"], FLOATS)
    yield Case("in_place_swap", [("x", [b, b]), ("y", [b, b])], ["p = x.t()", "q = y.t()", "r = p + 1.0", "x += q", "y += r", "return (x, y)"], FLOATS)
    # what is rounded to a half on the way, and numbers that are converted before there is a kernel
    for half in HALVES:
        yield Case(f"through_{half}", [("x", [a, b])], [f"h = x.to(torch.{half})", "w = h.to(torch.float32)", "z = w + 1.0", "d = w - z", "return (z, d)"], FLOATS)
        yield Case(f"through_{half}_loss", [("x", [a, b])], [f"h = x.to(torch.{half})", "w = h.to(torch.float32)", "d = w - x", "e = d * 1000.0", "return (e,)"], ["float32"])
    yield Case("product_of_halves", [("x", [a, b]), ("y", [a, b])], ["p = x.half()", "q = y.half()", "r = p * q", "return (r,)"], FLOATS)
    for i, like in enumerate(["torch.zeros_like(x)", "torch.ones_like(x)", "torch.full_like(x, 0.3)", "x.new_ones((7,))"]):
        yield Case(f"filled_{i}", [("x", [7])], [f"f = {like}", "s = f + x", "t = f * 2.0", "return (s, t)"], FLOATS)
    for i, (value, dtype) in enumerate([("300", "uint8"), ("-1", "uint8"), ("200", "int8"), ("5000000000", "int32"), ("0.1", "float64"), ("float('inf')", "float64")]):
        yield Case(f"folded_{i}", [("x", [a])], [f"f = torch.full(({a},), {value})", f"g = f.to(torch.{dtype})", "h = g.to(torch.float64)", "y = h - x", "return (y,)"], INTEGERS)
    yield Case("range_in_bytes", [("x", [200])], ["r = torch.arange(200)", "i = r.to(torch.int8)", "w = i.to(torch.int64)", "p = w + 1", "y = p + x", "return (y,)"], INTEGERS)
    yield Case("range_far", [("x", [900])], ["r = torch.arange(0, 943718400000, 1048576000)", "y = r + x", "q = torch.arange(2147483000, 2147483900)", "z = q + x", "f = torch.arange(900)", "g = f + 5000000000", "u = g + x", "return (y, z, u)"], INTEGERS)
    yield Case("in_place_slice", [("x", [a, 8])], ["y = x * 2.0", "s = y[:, 2:5]", "t = s.mul_(3.0)", "u = t + 1.0", "v = y - 1.0", "return (u, v)"], FLOATS)
    # products: unrolled, as a reduction, as tiles; convolutions as windows and as products
    products = ["float32", "float64"] + HALVES
    m, n, k = some(rng, (5, 17, 33)), some(rng, (7, 19, 40)), some(rng, (18, 37, 65))
    yield Case("linear_tiles", [("x", [a, m, k]), ("w", [n, k]), ("b", [n])], ["y = torch.nn.functional.linear(x, w, b)", "r = torch.relu(y)", "return (r,)"], products)
    yield Case("linear_row", [("x", [1, 1, k]), ("w", [n, k]), ("b", [n])], ["y = torch.nn.functional.linear(x, w, b)", "s = torch.sigmoid(y)", "return (s, y)"], products)
    yield Case("linear_few", [("x", [m, 3]), ("w", [n, 3])], ["y = torch.nn.functional.linear(x, w)", "z = y * 2.0", "return (z,)"], products)
    yield Case("linear_of_sum", [("x", [m, k]), ("z", [k]), ("w", [n, k])], ["s = x + z", "y = torch.nn.functional.linear(s, w)", f"v = y.view({m}, {n}, 1)", "t = v.permute(1, 2, 0)", "c = t.contiguous()", "return (c,)"], products)
    yield Case("matmul_tiles", [("x", [2, m, k]), ("y", [2, k, n])], ["p = torch.matmul(x, y)", "r = p * 0.5", "return (r,)"], products)
    yield Case("matmul_turned", [("x", [2, m, k]), ("y", [2, n, k])], ["t = y.transpose(1, 2)", "p = torch.bmm(x, t)", "s = torch.nn.functional.softmax(p * 0.01, dim=-1)", "return (s,)"], ["float32", "float64"])
    yield Case("matmul_shared", [("x", [2, 3, m, k]), ("y", [k, n])], ["p = torch.matmul(x, y)", "r = torch.relu(p)", "return (r,)"], products)
    yield Case("matmul_broadcast", [("x", [1, 3, m, 9]), ("y", [2, 1, 9, n])], ["p = x @ y", "r = p + 1.0", "return (r,)"], products)
    yield Case("matmul_column", [("x", [2, m, k]), ("y", [2, k, 1])], ["p = torch.matmul(x, y)", "r = p * 2.0", "return (r,)"], products)
    yield Case("matmul_chain", [("x", [m, k]), ("y", [k, n]), ("z", [n, 18])], ["p = torch.matmul(x, y)", "g = torch.tanh(p)", "q = torch.matmul(g, z)", "return (q,)"], ["float32", "float64"])
    conv = [("w", [n, 18, 1, 1]), ("k", [n])]
    yield Case("conv_pointwise", [("x", [2, 18, 5, 7])] + conv, ["c = torch.conv2d(x, w, k, (1, 1), (0, 0), (1, 1), 1)", "r = torch.relu(c)", "return (r,)"], products)
    yield Case("conv_pointwise_norm", [("x", [2, 18, 5, 7])] + conv + [("m", [n]), ("v", [n], "positive"), ("g", [n]), ("h", [n]), ("z", [2, n, 5, 7])],
               ["c = torch.conv2d(x, w, k, (1, 1), (0, 0), (1, 1), 1)", "b = torch.nn.functional.batch_norm(c, m, v, g, h, False, 0.1, 1e-05)", "s = b + z", "r = torch.relu(s)", "return (r,)"], products)
    yield Case("conv_gate", [("x", [2, n, 5, 6]), ("p", [2, 18, 1, 1])] + conv, ["c = torch.conv2d(p, w, k, (1, 1), (0, 0), (1, 1), 1)", "s = torch.sigmoid(c)", "y = x * s", "return (y,)"], products)
    yield Case("conv_mean", [("x", [2, 18, 5, 7])] + conv, ["c = torch.conv2d(x, w, k, (1, 1), (0, 0), (1, 1), 1)", "m = c.mean((2, 3), keepdim=True)", "return (c, m)"], ["float32", "float64"])
    yield Case("conv_cat", [("x", [2, 18, 5, 7]), ("z", [2, 3, 5, 7])] + conv, ["c = torch.conv2d(x, w, k, (1, 1), (0, 0), (1, 1), 1)", "t = torch.cat([z, c], dim=1)", "r = torch.relu(t)", "return (r,)"], products)
    for stride, pad, dilation in ((1, 1, 1), (2, 1, 1), (1, 2, 2), (3, 0, 1)):
        yield Case(f"conv_depthwise_{stride}{pad}{dilation}", [("x", [2, 6, 9, 20]), ("w", [6, 1, 3, 3]), ("k", [6])],
                   [f"c = torch.conv2d(x, w, k, ({stride}, {stride}), ({pad}, {pad}), ({dilation}, {dilation}), 6)", "r = torch.relu(c)", "return (r,)"], products)
    yield Case("conv_grouped", [("x", [1, 6, 5, 8]), ("w", [9, 2, 1, 3])], ["c = torch.conv2d(x, w, None, (1, 2), (0, 1), (1, 1), 3)", "r = c * 2.0", "return (r,)"], products)
    yield Case("conv_1d", [("x", [2, 4, 31]), ("w", [7, 4, 5]), ("k", [7])], ["c = torch.conv1d(x, w, k, (2,), (2,), (1,), 1)", "r = torch.relu(c)", "return (r,)"], products)
    yield Case("conv_tiles", [("x", [2, 5, 9, 11]), ("w", [18, 5, 3, 3]), ("k", [18])], ["c = torch.conv2d(x, w, k, (2, 1), (1, 2), (1, 1), 1)", "r = torch.relu(c)", "return (r,)"], products)
    yield Case("conv_grouped_tiles", [("x", [2, 8, 37]), ("w", [34, 4, 9]), ("k", [34])], ["c = torch.conv1d(x, w, k, (1,), (4,), (1,), 2)", "s = c[:, :, :-1]", "r = torch.relu(s)", "return (r,)"], products)
    yield Case("einsum_tiles", [("x", [2, m, 3, k]), ("y", [2, 3, n, k])], ["e = torch.functional.einsum('bchj,bhwj->bchw', x, y)", "r = e * 2.0", "return (r,)"], products)
    yield Case("einsum_few", [("x", [2, 6, 3, m]), ("y", [2, 6, 3, n])], ["e = torch.functional.einsum('bchw,bchj->bhwj', x, y)", "s = torch.nn.functional.softmax(e * 0.1, dim=-1)", "return (s,)"], ["float32", "float64"])
    yield Case("conv_pool", [("x", [1, 2, 9, 9]), ("w", [3, 2, 2, 2])], ["c = torch.conv2d(x, w, None, (1, 1), (0, 0), (1, 1), 1)", "p = torch.nn.functional.max_pool2d(c, 2, 2)", "return (p,)"], ["float32", "float64"])
    yield Case("conv_whole", [("x", [3, 4, 3, 3]), ("w", [n, 4, 3, 3]), ("k", [n])], ["c = torch.conv2d(x, w, k, (1, 1), (0, 0), (1, 1), 1)", "f = c.flatten(1)", "r = f + 1.0", "return (r,)"], products)
    # types: what integers, bytes and numbers next to halves become
    yield Case("whole", [("x", [a, b])], ["f = x.floor()", "c = torch.ceil(x)", "s = f + c", "return (s, f)"], FLOATS + INTEGERS)
    yield Case("compare_numbers", [("x", [7], [0.1, 0.2, 0.3, 0.0999755859375, 0.10003662109375, -0.1, 0.5])],
               ["m = x == 0.1", "n = x >= 0.1", "p = x > 0.3", "y = x * 2", "return (m, n, p, y)"], FLOATS)
    yield Case("sum_to_int32", [("x", [a, b])], ["y = x * 2", "s = y.sum(dim=1, dtype=torch.int32)", "t = s + 1", "return (t,)"], INTEGERS)
    yield Case("sum_to_float32", [("x", [a, b])], ["y = x * 2", "s = y.sum(dim=1, dtype=torch.float32)", "t = s + 1", "return (t,)"], HALVES + INTEGERS)
    yield Case("clamp_crossed", [("x", [a, b])], ["y = torch.clamp(x, 1.0, -1.0)", "z = y * 2", "return (z,)"], FLOATS)
    yield Case("to_bytes", [("x", [6], [1.9, -1.9, 300.5, -300.5, 0.5, -0.5])], ["u = x.to(torch.uint8)", "w = x.to(torch.int8)", "v = u + 1", "return (v, u, w)"], ["float32", "float64"])
    yield Case("index_of_bytes", [("t", [4, 3]), ("i", [4], "bytes")], ["g = t[i]", "s = g * 2", "return (s,)"], ["float32"])
    yield Case("index_of_a_number", [("t", [4, 3]), ("i", [], "first")], ["g = t[i]", "h = g.add_(1.0)", "s = t * 2", "r = h + 1.0", "return (s, r)"], ["float32"])
    yield Case("long_range", [("x", [8192])], ["a = torch.arange(0, 8589934592, 1048576)", "b = a + x", "return (b,)"], ["int64"])
    yield Case("large_number", [("x", [4])], ["a = torch.arange(4)", "c = a + 5000000000", "b = c + x", "return (b,)"], ["int64"])
    yield Case("einsum_view", [("x", [a, b])], ["y = x * 1.0", "z = y * 2.0", "r = torch.functional.einsum('ij->ji', y)", "s = r * 3", "y += 1", "t = r * 2", "return (z, s, t)"], FLOATS)
    yield from memory_cases()
    yield Case("empty", [("x", [0, 5]), ("y", [5])], ["s = x + y", "t = torch.relu(s)", "return (t,)"], FLOATS)
    yield Case("ones", [("x", [1, 1, 1]), ("y", [1])], ["s = x + y", "t = torch.nn.functional.softmax(s, dim=-1)", "m = t.mean(dim=1)", "return (t, m)"], FLOATS)
    yield Case("number", [("x", []), ("y", [b])], ["s = x * 2.0", "t = y + s", "return (t, s)"], FLOATS)


def meta(name, shape, dtype, kind):
    out = f'class {name}_meta:\n    name = "{name}"\n    shape = {shape}\n    dtype = "torch.{dtype}"\n    device = "cpu"\n'
    if isinstance(kind, list):
        return out + f"    data = {kind}\n"
    if kind in ("first", "bytes"):  # an index that is there in every dimension
        return out + "    min_val = 0\n    max_val = 1\n    data = None\n"
    if dtype.startswith("int"):
        return out + f"    min_val = {0 if kind == 'index' else -9}\n    max_val = 8\n    data = None\n"
    low = "    min_val = 0.1\n" if kind == "positive" else ""
    return out + "    mean = 0.2\n    std = 4.0\n" + low + "    data = None\n"


def write(folder, case, dtype):
    os.makedirs(folder)
    names = [i[0] for i in case.inputs]
    with open(folder + "/model.py", "w") as f:
        f.write(f"import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, {', '.join(names)}):\n")
        f.writelines(f"        {line}\n" for line in case.body)
    with open(folder + "/weight_meta.py", "w") as f:
        for item in case.inputs:
            kind = item[2] if len(item) > 2 else ""
            f.write(meta(item[0], item[1], KIND_DTYPES.get(kind, dtype) if isinstance(kind, str) else dtype, kind))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--keep")
    parser.add_argument("--plan")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    root = args.keep or tempfile.mkdtemp(prefix="author_")
    os.makedirs(root, exist_ok=True)
    graphs = []
    for case in cases(rng):
        if args.only and args.only != case.name:
            continue
        for dtype in case.dtypes:
            folder = f"{root}/{case.name}_{dtype}"
            shutil.rmtree(folder, ignore_errors=True)
            write(folder, case, dtype)
            graphs.append(folder)
    with open(root + "/list.txt", "w") as f:
        f.writelines(g + "\n" for g in graphs)
    plan = ["--plan", SMALL if args.plan == "small" else args.plan] if args.plan else []
    run = subprocess.run([args.tool, root + "/list.txt", "--no-time", "--all", "--threads", "1", "--folder", root + "/passes"] + plan, capture_output=True, text=True)
    statuses, failed, without = {}, 0, []
    note = ""
    for line in run.stdout.splitlines():
        if line.startswith("#"):
            note = line
            continue
        fields = line.split("\t")
        if len(fields) < 4:
            continue
        statuses[fields[0]] = fields[1]
        if fields[1] == "none":
            without.append(os.path.basename(fields[0]))
        elif fields[1] != "correct":
            print(f"{os.path.basename(fields[0])} (seed {args.seed}): {fields[1]}, right from t = {fields[2]} {note}")
            failed += 1
        note = ""
    missing = [g for g in graphs if g not in statuses]
    for g in missing:
        print(f"{os.path.basename(g)}: no result")
    failed += len(missing)
    print("without a pass:", ", ".join(without))
    if not args.keep:
        shutil.rmtree(root)
    print(f"{len(graphs) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())

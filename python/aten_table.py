#!/usr/bin/env python3
"""Writes the C++ table of ATen's operators from the installed torch (torchgen's native_functions.yaml), at build time.

    aten_table.py NATIVE_FUNCTIONS_YAML OUT

In: one entry per ATen function (schema, variants, python_module). Out: rows `{name, overload, flags, schema}` sorted by
name and, within a name, in the order in which torch's Python binding tries the overloads, so that the first that fits is
the one Python would call. The file is read line by line: only its flat fields are needed.
"""
import re, sys
from collections import defaultdict

# Functions that torch binds by hand, or not at all, to Python names: they get no spelling here, only torch.ops.aten.*.
NO_BINDING = re.compile(
    r"alias|contiguous|is_cuda|is_sparse.*|size|stride|sym_.*|.*_backward|.*_backward_(out|input|weight|bias)|.*_forward|"
    r".*_forward_out|.*_jvp|_unsafe_view|tensor|_?sparse_(coo|compressed|csr|csc|bsr|bsc)_tensor.*|_range.*|index|slice|item|"
    r"_local_scalar_dense|to|_to_copy|copy_|nonzero|numpy_T|matrix_H|mT|mH|set_data|.*_overrideable|data|is_leaf|output_nr|"
    r"_version|requires_grad_|retains_grad|set_|_fw_primal|replace_|_reshape_alias"
)
NO_BINDING_SCHEMA = re.compile(r"(add|sub|mul|div)_?\.Scalar\(")
MODULES = {"nn": "kNn", "linalg": "kLinalg", "fft": "kFft", "special": "kSpecial"}


def entries(path):
    fields = {}
    for line in open(path, encoding="utf-8"):
        line = line.split("  #")[0].rstrip()
        if line.startswith("- func:"):
            if fields:
                yield fields
            fields = {"func": line[len("- func:"):].strip()}
        elif fields and re.match(r"  (variants|python_module|tags):", line):
            key, value = line.strip().split(":", 1)
            fields[key] = value.strip()
    if fields:
        yield fields


def argument_types(schema):
    """The parameter types of a schema, without alias marks and names."""
    inside = re.sub(r"\([a-z*!|> -]+\)", "", schema[schema.index("(") + 1 : schema.rindex(") ->")])
    parts, depth, start = [], 0, 0
    for i, c in enumerate(inside + ","):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(inside[start:i].strip())
            start = i + 1
    return [p.rsplit(" ", 1)[0] for p in parts if p and p != "*"]


def yields_to(a, b):
    """Whether a type is tried after another: a number after a tensor, a list after a number."""
    return (
        (a, b) in (("Scalar", "Tensor"), ("Scalar?", "Tensor?"), ("int[]", "int"), ("int[]", "int?"), ("SymInt[]", "int[]"), ("SymInt", "Tensor"), ("int", "Tensor"))
        or (a == "Tensor[]" and "[]" in b)
    )


def later(a, b):
    """Whether overload a must be tried after overload b."""
    ta, tb = argument_types(a), argument_types(b)
    return len(ta) == len(tb) and ta != tb and all(x == y or yields_to(x, y) for x, y in zip(ta, tb))


def binding_order(schemas):
    left, done = sorted(schemas, key=lambda s: s[s.index("(") :]), []
    while left:
        first = next((s for s in left if not any(later(s, o) for o in left)), left[0])
        left.remove(first)
        done.append(first)
    return done


def main():
    source, out = sys.argv[1:3]
    by_name = defaultdict(dict)
    for e in entries(source):
        schema = e["func"]
        keyword_only = schema[: schema.rindex(") ->")].partition("*, ")[2]
        if "!" in keyword_only or "Dimname" in schema:
            continue  # out= variants and named tensors
        name = schema[: re.search(r"[.(]", schema).start()]
        flags = []
        if not NO_BINDING.fullmatch(name) and not NO_BINDING_SCHEMA.match(schema):
            variants = e.get("variants", "function")
            module = e.get("python_module")
            if "function" in variants:
                flags.append(MODULES.get(module, "kOther") if module else "kFunction")
            if "method" in variants:
                flags.append("kMethod")
        if "nondeterministic_seeded" in e.get("tags", ""):
            flags.append("kRandom")
        by_name[name][schema] = "|".join(flags) or "0"
    with open(out, "w", encoding="utf-8") as f:
        f.write("// Generated from native_functions.yaml of the installed torch by python/aten_table.py.\n")
        for name in sorted(by_name):
            for schema in binding_order(list(by_name[name])):
                overload = re.match(r"\w+(?:\.(\w+))?\(", schema)[1] or ""
                quoted = schema.replace("\\", "\\\\").replace('"', '\\"')
                f.write(f'{{"{name}", "{overload}", {by_name[name][schema]}, "{quoted}"}},\n')


if __name__ == "__main__":
    main()

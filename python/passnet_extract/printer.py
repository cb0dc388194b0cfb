"""Print: a subgraph as the text of model.py.

In: a `Subgraph` and a style. Out: one `class GraphModule` with a straight-line `forward`. Two styles occur in the field:

    raw    as torch.fx prints: annotated parameters, `x = f(a, k = v);  a = b = None`, products named after their function
    plain  one statement a line, as ast.unparse writes it; the parent's arguments get an alias first, computed inputs do not

Both number their values from the same counter, so a value has the same `tmp_k` in either, up to the names raw takes from functions.
"""
import ast
import math
import operator

import torch
from torch.fx.node import _get_qualified_name

STYLES = ("plain", "raw")

BINARY = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//", operator.mod: "%",
    operator.pow: "**", operator.matmul: "@", operator.and_: "&", operator.or_: "|", operator.xor: "^", operator.eq: "==",
    operator.ne: "!=", operator.lt: "<", operator.gt: ">", operator.le: "<=", operator.ge: ">=",
}
UNARY = {operator.neg: "-", operator.invert: "~", operator.pos: "+"}
IN_PLACE = {operator.iadd: "+=", operator.isub: "-=", operator.imul: "*=", operator.itruediv: "/="}

# Results that raw text names after the function; the counter moves on all the same.
NAMED = {torch.conv1d, torch.conv2d, torch.conv3d, torch.matmul, operator.matmul, torch.bmm, torch.functional.einsum,
         torch.nn.functional.linear, torch.nn.functional.scaled_dot_product_attention}


def function_name(function, public):
    """The dotted name; where `public`, a function of torch._C._nn goes by the name torch.nn.functional gives it."""
    name = _get_qualified_name(function)
    short = name.rpartition(".")[2]
    if public and name.startswith("torch._C._nn.") and hasattr(torch.nn.functional, short):
        return f"torch.nn.functional.{short}"
    return name


def literal(value, names):
    if isinstance(value, torch.fx.Node):
        return names[value]
    if isinstance(value, (tuple, list)):
        items = ", ".join(literal(v, names) for v in value)
        if isinstance(value, list):
            return f"[{items}]"
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, slice):
        return f"slice({literal(value.start, names)}, {literal(value.stop, names)}, {literal(value.step, names)})"
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value is None or isinstance(value, (bool, int, float, str, torch.dtype, torch.device)) or value is Ellipsis:
        return repr(value)
    raise ValueError(f"no literal form for a {type(value).__name__}: {value!r}")


def statement(node, names, public):
    """The node's effect, without its clean-ups."""
    target, name = node.target, names[node]
    args = [literal(a, names) for a in node.args]
    if target in BINARY and not node.kwargs:
        return f"{name} = {args[0]} {BINARY[target]} {args[1]}"
    if target in UNARY:
        return f"{name} = {UNARY[target]}{args[0]}"
    if target in IN_PLACE:
        return f"{args[0]} {IN_PLACE[target]} {args[1]};  {name} = {args[0]}"
    if target is operator.getitem:
        return f"{name} = {args[0]}[{args[1]}]"
    if target is operator.setitem:
        return f"{args[0]}[{args[1]}] = {args[2]};  {name} = {args[0]}"
    if target is getattr:
        return f"{name} = {args[0]}.{node.args[1]}"
    keywords = [f"{k} = {literal(v, names)}" for k, v in node.kwargs.items()]
    if node.op == "call_method":
        return f"{name} = {args[0]}.{target}({', '.join(args[1:] + keywords)})"
    return f"{name} = {function_name(target, public)}({', '.join(args + keywords)})"


def name_values(subgraph, style):
    """Node -> name, and (alias, input) pairs for the arguments that plain text renames first."""
    names, aliases, counter, taken = {}, [], 0, {}
    placeholders = [node for node in subgraph.graph.nodes if node.op == "placeholder"]
    for index, (node, item) in enumerate(zip(placeholders, subgraph.inputs)):
        names[node] = f"in_{index}"
        if item.is_argument:
            if style == "plain":
                aliases.append((f"tmp_{counter}", names[node]))
                names[node] = f"tmp_{counter}"
            counter += 1
    for node in subgraph.calls:
        cast = style == "raw" and node.meta.get("cast", False)
        if style == "raw" and (cast or node.target in NAMED or node.target is operator.setitem):
            base = node.target if node.op == "call_method" else node.target.__name__
            count = taken[base] = taken.get(base, -1) + 1
            names[node] = base if count == 0 else f"{base}_{count}"
        else:
            names[node] = f"tmp_{counter}"
        counter += 0 if cast else 1
    return names, aliases


def last_uses(subgraph, names):
    """Call -> the names to clear after it: what it is the last to use, and its own result if nobody uses that."""
    cleared, seen = {}, set()
    for node in reversed(subgraph.graph.nodes):
        ending = [n for n in node.all_input_nodes if n not in seen]
        seen.update(ending)
        if node.op.startswith("call_"):
            cleared[node] = [names[n] for n in ending] + ([names[node]] if not node.users else [])
    return cleared


def print_model(subgraph, style, public=True):
    names, aliases = name_values(subgraph, style)
    cleared = last_uses(subgraph, names)
    output = next(node for node in subgraph.graph.nodes if node.op == "output")
    lines = []
    for node in subgraph.calls:
        line = statement(node, names, public)
        # Plain text never clears an input: what was computed in the parent is not its own.
        clear = [n for n in cleared[node] if style == "raw" or not n.startswith("in_")]
        lines.append(line + (f";  {' = '.join(clear)} = None" if clear else ""))
    result = f"return {literal(output.args[0], names)}"
    body = "\n".join(lines)
    imports = [f"from torch import {name}" for name, used in (("device", "device(" in body), ("inf", uses_inf(body))) if used]
    parameters = [f"in_{i}" for i in range(len(subgraph.inputs))]
    if style == "raw":
        signature = ", ".join(["self"] + [f"{p} : torch.Tensor" for p in parameters])
        head = "import torch\n\n" + "".join(f"{line}\n\n" for line in imports)
        head += "class GraphModule(torch.nn.Module):\n    \n    \n    \n"
        return head + f"    def forward({signature}):\n" + "".join(f"        {line}\n" for line in lines + [result]) + "        "
    plain = [f"{alias} = {name}" for alias, name in aliases]
    plain += [ast.unparse(part) for line in lines for part in ast.parse(line).body] + [result]
    head = "\n".join(["import torch"] + imports) + "\n\nclass GraphModule(torch.nn.Module):\n\n"
    return head + f"    def forward({', '.join(['self'] + parameters)}):\n" + "\n".join(f"        {line}" for line in plain)


def uses_inf(text):
    return any(isinstance(n, ast.Name) and n.id == "inf" for n in ast.walk(ast.parse(text)))

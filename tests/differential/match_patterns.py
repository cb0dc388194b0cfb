"""Patterns for the differential test of matching: pieces of a graph as statements, their mutations, and their text as a pass file."""
import operator
import torch
from torch.fx import Node

INFIX = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@", "and_": "&", "or_": "|", "xor": "^",
         "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
IN_PLACE = {"iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/="}
SAME = {"torch.conv2d": "torch.nn.functional.conv2d", "torch._C._nn.linear": "torch.nn.functional.linear", "torch._C._nn.gelu": "torch.nn.functional.gelu",
        "torch.nn.functional.linear": "torch._C._nn.linear", "torch.functional.split": "torch.split", "torch.einsum": "torch.functional.einsum",
        "torch._C._nn.scaled_dot_product_attention": "torch.nn.functional.scaled_dot_product_attention", "torch.cat": "torch._VF.cat"}
OTHER = {"torch.relu": "torch.sigmoid", "torch.nn.functional.relu": "torch.nn.functional.gelu", "torch.nn.functional.silu": "torch.nn.functional.relu"}


class Ref(str):
    """A variable of the pattern."""


class Statement:
    def __init__(self, name, kind, target, args, kwargs):
        self.name, self.kind, self.target, self.args, self.kwargs = name, kind, target, list(args), dict(kwargs)

    def copy(self):
        return Statement(self.name, self.kind, self.target, self.args, self.kwargs)


def map_value(v, f):
    if isinstance(v, (list, tuple)):
        return [map_value(x, f) for x in v] if isinstance(v, list) else tuple(map_value(x, f) for x in v)
    if isinstance(v, slice):
        return slice(map_value(v.start, f), map_value(v.stop, f), map_value(v.step, f))
    return f(v)


def value_text(v):
    if isinstance(v, Ref):
        return str(v)
    if isinstance(v, tuple):
        return "(" + "".join(value_text(x) + ", " for x in v) + ")"
    if isinstance(v, list):
        return "[" + ", ".join(map(value_text, v)) + "]"
    if isinstance(v, slice):
        return f"slice({value_text(v.start)}, {value_text(v.stop)}, {value_text(v.step)})"
    if isinstance(v, torch.device):
        return "device(type='cuda', index=0)"
    if isinstance(v, float) and (v != v or v in (float("inf"), float("-inf"))):
        return f"float('{v}')"
    return repr(v)


def statement_text(s, rng):
    args = [value_text(a) for a in s.args]
    args += [f"{k}={value_text(v)}" for k, v in s.kwargs.items()]
    simple = not s.kwargs and all(isinstance(a, Ref) or (isinstance(a, (int, float)) and a == a and a >= 0 and a != float("inf")) for a in s.args)
    has_ref = any(isinstance(a, Ref) for a in s.args)
    if s.kind == "method":
        return [f"{s.name} = {args[0]}.{s.target}({', '.join(args[1:])})"]
    if s.target == "getattr":
        return [f"{s.name} = {args[0]}.{s.args[1]}"]
    if s.target == "operator.setitem":
        return [f"{args[0]}[{args[1]}] = {args[2]}"]
    if s.target == "operator.getitem" and isinstance(s.args[0], Ref):
        return [f"{s.name} = {args[0]}[{args[1]}]"]
    last = s.target.rpartition(".")[2]
    if s.target.startswith("operator.") and len(args) == 2 and simple and has_ref and rng.random() < 0.7:
        if last in INFIX:
            return [f"{s.name} = {args[0]} {INFIX[last]} {args[1]}"]
        if last in IN_PLACE and isinstance(s.args[0], Ref):
            return [f"work = {args[0]}", f"work {IN_PLACE[last]} {args[1]}", f"{s.name} = work"]
    return [f"{s.name} = {s.target}({', '.join(args)})"]


class PatternText:
    """Parameters, statements and returned variables; `text()` is a pass file."""

    def __init__(self, parameters, statements, returned):
        self.parameters, self.statements, self.returned = parameters, statements, returned

    def copy(self):
        return PatternText(list(self.parameters), [s.copy() for s in self.statements], list(self.returned))

    def text(self, rng):
        body = [line for s in self.statements for line in statement_text(s, rng)]
        values = ", ".join(self.returned)
        body.append(f"return {values}" if len(self.returned) == 1 else f"return ({values})" if self.returned else "return 1")
        return "import operator\nimport torch\nfrom torch import device, inf\n\n\ndef pattern(" + ", ".join(self.parameters) + "):\n" + "".join(f"    {l}\n" for l in body)


def spelled(node):
    if node.op == "call_method":
        return node.target
    if "spelled" in node.meta:
        return node.meta["spelled"]
    return "getattr" if node.target is getattr else "operator." + node.target.__name__


def cut(graph, rng):
    """A random connected piece of the graph as a pattern that matches there, unless it leaks or runs in a circle."""
    calls = [n for n in graph.nodes if n.op in ("call_function", "call_method") and n.target is not operator.setitem]
    if not calls:
        return None
    size = rng.choice([1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 8, 12])
    often = [n for n in calls if sum(n.target == m.target for m in calls) > 1]
    if often and rng.random() < 0.3:
        chosen, size = {rng.choice(often)}, min(size, 3)  # several matches
    else:
        chosen = {rng.choice(calls)}
    while len(chosen) < size:
        near = {m for n in chosen for m in [*n.all_input_nodes, *n.users] if m.op.startswith("call") and m.target is not operator.setitem} - chosen
        if rng.random() < 0.06:
            near = set(calls) - chosen  # a second output that is not connected
        if not near:
            break
        chosen.add(rng.choice(sorted(near, key=graph.order.get)))
    names, parameters = {}, []

    def parameter(hint):
        parameters.append(f"{hint}_{len(parameters)}")
        return Ref(parameters[-1])

    def value(v):
        if isinstance(v, Node):
            if v not in names:
                names[v] = parameter("p")
            return names[v]
        if isinstance(v, (int, float)) and not isinstance(v, bool) and rng.random() < 0.05:
            return parameter("number")
        return v

    statements = []
    for n in sorted(chosen, key=graph.order.get):
        attribute = n.target is getattr
        args = [a if attribute and i == 1 else parameter("list") if isinstance(a, (list, tuple, slice)) and rng.random() < 0.08 else map_value(a, value) for i, a in enumerate(n.args)]
        kwargs = {k: map_value(v, value) for k, v in n.kwargs.items()}
        names[n] = Ref(f"v_{len(statements)}")
        statements.append(Statement(names[n], "method" if n.op == "call_method" else "function", spelled(n), args, kwargs))
    returned = [names[n] for n in sorted(chosen, key=graph.order.get) if not n.users or any(u not in chosen for u in n.users)]
    return PatternText(parameters, statements, returned)

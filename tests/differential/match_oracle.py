"""torch.fx's own matcher on graphs built from text: one fx node per written call, nothing traced.

Aliases (`a = b`) and clean-ups (`a = None`) make no node, `x += y` is operator.iadd, `x[i] = v` operator.setitem, every device literal one constant.
"""
import ast, operator
import torch
from torch.fx import Graph, Node
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

OPERATORS = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow", "MatMult": "matmul", "BitAnd": "and_",
    "BitOr": "or_", "BitXor": "xor", "LShift": "lshift", "RShift": "rshift", "USub": "neg", "Invert": "invert", "UAdd": "pos", "Not": "not_", "Lt": "lt",
    "LtE": "le", "Gt": "gt", "GtE": "ge", "Eq": "eq", "NotEq": "ne",
}
DEVICE = torch.device("cpu")
GLOBALS = {"torch": torch, "inf": float("inf"), "nan": float("nan"), "slice": slice, "float": float, "operator": operator, "device": lambda *a, **k: DEVICE}
SPELL_LITERALS = {"slice", "float", "device", "torch.device"}


class TextGraph:
    """An fx graph and, in step with it, where each node stands in the text (`order`: node -> index)."""

    def __init__(self, text, function):
        tree = next(n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef) and n.name == function)
        self.fx, self.variables = Graph(), {}
        for a in tree.args.args:
            if a.arg != "self":
                self.variables[a.arg] = self.fx.placeholder(a.arg)
        for s in tree.body:
            self.run(s)
            for n in reversed(self.fx.nodes):  # those of this statement
                if "line" in n.meta or n.op == "placeholder":
                    break
                n.meta["line"] = s.lineno
        self.nodes = list(self.fx.nodes)
        self.order = {n: i for i, n in enumerate(self.nodes)}

    def run(self, s):
        if isinstance(s, ast.Assign):
            if not (isinstance(s.value, ast.Constant) and s.value.value is None):
                value = self.evaluate(s.value)
                for t in s.targets:
                    self.store(t, value)
        elif isinstance(s, ast.AugAssign):
            name = "i" + OPERATORS[type(s.op).__name__].rstrip("_")
            self.variables[s.target.id] = self.fx.call_function(getattr(operator, name), (self.evaluate(s.target), self.evaluate(s.value)))
        elif isinstance(s, ast.Return):
            self.fx.output(self.evaluate(s.value))
        elif isinstance(s, ast.Expr):
            self.evaluate(s.value)

    def store(self, target, value):
        if isinstance(target, ast.Name):
            self.variables[target.id] = value
        elif isinstance(target, ast.Subscript):
            self.fx.call_function(operator.setitem, (self.evaluate(target.value), self.evaluate(target.slice), value))
        else:
            for i, item in enumerate(target.elts):
                self.store(item, self.fx.call_function(operator.getitem, (value, i)))

    def is_literal(self, e):
        return not any((isinstance(n, ast.Name) and n.id in self.variables) or (isinstance(n, ast.Call) and ast.unparse(n.func) not in SPELL_LITERALS) for n in ast.walk(e))

    def evaluate(self, e):
        if self.is_literal(e):
            return eval(compile(ast.Expression(e), "literal", "eval"), dict(GLOBALS))
        kind = type(e)
        if kind is ast.Name:
            return self.variables[e.id]
        if kind in (ast.Tuple, ast.List):
            return (tuple if kind is ast.Tuple else list)(self.evaluate(x) for x in e.elts)
        if kind is ast.Slice:
            return slice(*(x and self.evaluate(x) for x in (e.lower, e.upper, e.step)))
        if kind is ast.Attribute:
            return self.fx.call_function(getattr, (self.evaluate(e.value), e.attr))
        if kind is ast.Call:
            return self.written_call(e)
        operands = {ast.BinOp: lambda: (e.left, e.right), ast.UnaryOp: lambda: (e.operand,), ast.Compare: lambda: (e.left, e.comparators[0]), ast.Subscript: lambda: (e.value, e.slice)}[kind]()
        name = "getitem" if kind is ast.Subscript else OPERATORS[type(e.ops[0] if kind is ast.Compare else e.op).__name__]
        return self.fx.call_function(getattr(operator, name), tuple(self.evaluate(x) for x in operands))

    def written_call(self, e):
        spelled = ast.unparse(e.func)
        function = spelled == "slice" or spelled.startswith(("torch.", "operator."))
        args = [] if function else [self.evaluate(e.func.value)]
        args += [self.evaluate(a) for a in e.args]
        keywords = {k.arg: self.evaluate(k.value) for k in e.keywords}
        if spelled == "slice":
            return slice(*args)
        if function:
            node = self.fx.call_function(eval(spelled, dict(GLOBALS)), tuple(args), keywords)
            node.meta["spelled"] = spelled
            return node
        return self.fx.call_method(e.func.attr, tuple(args), keywords)


def find_matches(graph, pattern):
    """Each match as indices: the graph node of every call of the pattern that is bound, then of every placeholder (-1: a literal).
    None where torch.fx refuses the pattern or fails on it: no match, for us."""
    try:
        matcher = SubgraphMatcher(pattern.fx, match_output=False, match_placeholder=False, remove_overlapping_matches=True, ignore_literals=False)
        matches = matcher.match(graph.fx)
    except (AssertionError, KeyError):
        return None
    out = []
    for m in matches:
        calls = [graph.order[m.nodes_map[n]] for n in pattern.nodes if n.op not in ("placeholder", "output") and n in m.nodes_map]
        inputs = [m.nodes_map[n] for n in pattern.nodes if n.op == "placeholder"]
        out.append(calls + [graph.order[v] if isinstance(v, Node) else -1 for v in inputs])
    return out


def search_size(graph, pattern):
    """How many combinations of anchor candidates torch.fx may try: it takes them all."""
    size = 1
    for n in next(iter(reversed(pattern.fx.nodes))).all_input_nodes:
        if len(n.users) == 1:
            size *= max(1, sum(n.op == "placeholder" or (n.op == g.op and n.target == g.target) for g in graph.nodes))
    return size

"""Mutations of patterns: near misses (what they do to a match is for the oracle to say) and respellings (which must not change a `normal` match)."""
import inspect
import torch
from match_patterns import OTHER, SAME, Ref, Statement


def pick(rng, items):
    return rng.choice(items) if items else None


def literal_places(p, kinds):
    return [(s, i) for s in p.statements for i, a in enumerate(s.args) if isinstance(a, kinds) and not isinstance(a, Ref) and s.target != "getattr"]


def other_literal(p, rng):
    place = pick(rng, literal_places(p, (int, float, bool)))
    if place:
        s, i = place
        a = s.args[i]
        s.args[i] = rng.choice([a + 1, float(a), int(a) if a == a and abs(a) < 1e9 else 0, bool(a), -a, None, "text"])


def literal_keyword(p, rng):
    places = [(s, k) for s in p.statements for k, v in s.kwargs.items() if isinstance(v, (int, float, bool))]
    if places:
        s, k = rng.choice(places)
        s.kwargs[k] = rng.choice([s.kwargs[k] + 1, float(s.kwargs[k]), not s.kwargs[k]])


def swap_operands(p, rng):
    s = pick(rng, [s for s in p.statements if len(s.args) >= 2 and s.target != "getattr" and (s.kind == "function" or isinstance(s.args[1], Ref))])
    if s:
        s.args[0], s.args[1] = s.args[1], s.args[0]


def keyword_for_positional(p, rng):
    s = pick(rng, [s for s in p.statements if len(s.args) > 1 and s.target.startswith("torch.")])
    if s:
        s.kwargs = {rng.choice(["dim", "other", "bias", "p"]): s.args.pop(), **s.kwargs}


def keyword_order(p, rng):
    for s in p.statements:
        s.kwargs = dict(reversed(s.kwargs.items()))


def drop_argument(p, rng):
    s = pick(rng, [s for s in p.statements if len(s.args) > 1 or s.kwargs])
    if s and s.target != "getattr" and not s.target.startswith("operator."):
        s.kwargs.popitem() if s.kwargs else s.args.pop()


def method_for_function(p, rng):
    s = pick(rng, [s for s in p.statements if s.kind == "function" and s.target.startswith("torch.") and s.args and isinstance(s.args[0], Ref)])
    if s:
        s.kind, s.target = "method", s.target.rpartition(".")[2]


def function_for_method(p, rng):
    s = pick(rng, [s for s in p.statements if s.kind == "method" and callable(getattr(torch, s.target, None))])
    if s:
        s.kind, s.target = "function", "torch." + s.target


def same_object(p, rng):
    for s in p.statements:
        if s.kind == "function":
            s.target = SAME.get(s.target, s.target)


def other_target(p, rng):
    s = pick(rng, [s for s in p.statements if s.target in OTHER])
    if s:
        s.target = OTHER[s.target]


def in_place(p, rng):
    s = pick(rng, [s for s in p.statements if s.target in ("operator.add", "operator.mul", "operator.iadd", "operator.imul")])
    if s:
        name = s.target[9:]
        s.target = "operator." + (name[1:] if name.startswith("i") else "i" + name)


def list_for_tuple(p, rng):
    for s in p.statements:
        s.args = [tuple(a) if isinstance(a, list) else list(a) if isinstance(a, tuple) and s.target != "operator.getitem" else a for a in s.args]


def leak(p, rng):
    if len(p.returned) > 1:
        p.returned.pop(rng.randrange(len(p.returned)))


def return_more(p, rng):
    p.returned.append(rng.choice([s.name for s in p.statements] + p.parameters[:1]))


def return_shuffled(p, rng):
    rng.shuffle(p.returned)


def one_placeholder(p, rng):
    """Two parameters become one: it is bound twice."""
    if len(p.parameters) > 1:
        a, b = rng.sample(p.parameters, 2)
        rename(p, b, a)
        p.parameters.remove(b)


def two_placeholders(p, rng):
    places = [(s, i) for s in p.statements for i, a in enumerate(s.args) if isinstance(a, Ref) and a in p.parameters]
    if places:
        s, i = rng.choice(places)
        p.parameters.append(f"twin_{len(p.parameters)}")
        s.args[i] = Ref(p.parameters[-1])


def rename(p, old, new):
    swap = lambda v: Ref(new) if isinstance(v, Ref) and v == old else [swap(x) for x in v] if isinstance(v, list) else tuple(map(swap, v)) if isinstance(v, tuple) else slice(swap(v.start), swap(v.stop), swap(v.step)) if isinstance(v, slice) else v
    for s in p.statements:
        s.args, s.kwargs = [swap(a) for a in s.args], {k: swap(v) for k, v in s.kwargs.items()}
    p.returned = [Ref(new) if r == old else r for r in p.returned]


def dead_code(p, rng):
    p.statements.append(Statement(Ref(f"dead_{len(p.statements)}"), "method", "relu", [p.statements[-1].name], {}))


def unused_placeholder(p, rng):
    p.parameters.append(f"unused_{len(p.parameters)}")


def random_draw(p, rng):
    p.statements.append(Statement(Ref(f"noise_{len(p.statements)}"), "function", "torch.rand_like", [p.statements[-1].name], {}))


NEAR_MISSES = [other_literal, other_literal, literal_keyword, swap_operands, keyword_for_positional, keyword_order, drop_argument, method_for_function, function_for_method, same_object, same_object,
               other_target, in_place, list_for_tuple, list_for_tuple, leak, return_more, return_more, return_shuffled, return_shuffled, one_placeholder, two_placeholders, dead_code, unused_placeholder, random_draw]


def signature(target):
    """[(name, default or inspect._empty)] of a Python function of torch, else None."""
    if not target.startswith("torch."):
        return SIGNATURES.get(target)
    try:
        f = eval(target, {"torch": torch})
        if inspect.isclass(f):
            return None  # torch.set_grad_enabled: a statement, not an operator
        parameters = inspect.signature(f).parameters.values()
    except (ValueError, TypeError, AttributeError):
        return SIGNATURES.get(target)
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
        return None
    return [(p.name, p.default) for p in parameters]


NEEDED = inspect.Parameter.empty
SIGNATURES = {  # functions of C++, which Python cannot ask
    "torch.conv2d": [("input", NEEDED), ("weight", NEEDED), ("bias", None), ("stride", 1), ("padding", 0), ("dilation", 1), ("groups", 1)],
    "torch._C._nn.linear": [("input", NEEDED), ("weight", NEEDED), ("bias", None)],
    "torch._C._nn.gelu": [("input", NEEDED)],
    "torch.cat": [("tensors", NEEDED), ("dim", 0)],
    "torch.stack": [("tensors", NEEDED), ("dim", 0)],
    "torch.sigmoid": [("input", NEEDED)],
    "torch.transpose": [("input", NEEDED), ("dim0", NEEDED), ("dim1", NEEDED)],
    "torch.unsqueeze": [("input", NEEDED), ("dim", NEEDED)],
    "torch.flatten": [("input", NEEDED), ("start_dim", 0), ("end_dim", -1)],
    ".flatten": [("", NEEDED), ("start_dim", 0), ("end_dim", -1)],
    ".transpose": [("", NEEDED), ("dim0", NEEDED), ("dim1", NEEDED)],
    ".unsqueeze": [("", NEEDED), ("dim", NEEDED)],
    ".softmax": [("", NEEDED), ("dim", NEEDED)],
    ".chunk": [("", NEEDED), ("chunks", NEEDED), ("dim", 0)],
}


def respell(p, rng):
    """Keywords for positions, defaults written or left out; True where something changed."""
    changed = False
    for s in p.statements:
        if s.kind == "method" and s.target in ("view", "reshape", "permute", "repeat", "expand") and len(s.args) > 1 and rng.random() < 0.7:
            s.args = [s.args[0], *s.args[1]] if isinstance(s.args[1], (list, tuple)) and len(s.args[1]) > 1 else [s.args[0], tuple(s.args[1:])] if len(s.args) > 2 else s.args
            changed = True
            continue
        known = signature("." + s.target if s.kind == "method" else s.target)
        if known is None or len(s.args) > len(known) or any(k not in [n for n, _ in known] for k in s.kwargs):
            continue
        given = dict(zip([n for n, _ in known], s.args))
        if given.keys() & s.kwargs.keys():
            continue  # a mutation gave one argument twice
        given.update(s.kwargs)
        args, kwargs, by_name = [], {}, False
        for name, default in known:
            written = name in given
            value = given.get(name, default)
            if value is NEEDED:
                args = None
                break
            is_default = default is not NEEDED and type(value) is type(default) and value == default
            private = name.startswith("_") and not written
            if private or (is_default and rng.random() < 0.5) or (not written and rng.random() < 0.5):
                by_name = True
                continue
            by_name = by_name or (name != "" and rng.random() < 0.4)
            if by_name:
                kwargs[name] = value
            else:
                args.append(value)
        if args is not None:
            s.args, s.kwargs, changed = args, kwargs, True
    return changed

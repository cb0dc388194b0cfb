#!/usr/bin/env python3
"""Compares our parser with CPython's (3.11): same tree, same places, and the same texts refused.

    compare_ast.py --dump BUILD/dump_ast [--every N] [--generate N] [--seed N] [path...]

Cases: the snippets of snippets.txt beside this file, N generated programs, and every N-th .py file under the paths. What
we refuse as `unsupported` or `limit` is counted apart. A file that does not agree is named with both trees around the
first difference; generated ones are kept in a folder that is printed. Ends with one line of counts; exit 1 on a mismatch.
"""
import argparse, ast, json, os, random, subprocess, sys, tempfile, warnings

HERE = os.path.dirname(os.path.abspath(__file__))
warnings.simplefilter("ignore")

OPS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
       ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.USub: "-", ast.UAdd: "+",
       ast.Invert: "~", ast.Not: "not", ast.And: "and", ast.Or: "or", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
       ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}


class Dump:
    """Python's tree in the words of dump_ast.cpp."""

    def __init__(self):
        self.places = True

    def open(self, kind, n):
        return f"({kind}@{n.lineno}:{n.col_offset + 1}" if self.places else f"({kind}"

    def word(self, text):
        return " " + (str(text) if text else "-")

    def optional(self, n):
        return " -" if n is None else self.expr(n)

    def list(self, items):
        return "[" + "".join(self.optional(i) for i in items) + "]"

    def body(self, statements):
        return "[" + "".join(self.stmt(s) for s in statements) + "]"

    def constant(self, n):
        v = n.value
        if v is None: return self.open("none", n)
        if v is Ellipsis: return self.open("ellipsis", n)
        if v is True: return self.open("true", n)
        if v is False: return self.open("false", n)
        if isinstance(v, int): return self.open("integer", n) + self.word(str(v))
        if isinstance(v, float): return self.open("real", n) + self.word(repr(v))
        if isinstance(v, complex): return self.open("imaginary", n) + self.word(repr(v.imag))
        if isinstance(v, str): return self.open("string", n) + self.word(json.dumps(v))
        raise ValueError("bytes")

    def fstring(self, n):
        head, places, self.places = self.open("fstring", n), self.places, False
        items = self.list(n.values)
        self.places = places
        return head + items

    def expr(self, n):
        return self.bare(n) + ")"

    def bare(self, n):
        o, l, w = self.open, self.list, self.word
        match n:
            case ast.Constant(): return self.constant(n)
            case ast.Name(): return o("name", n) + w(n.id)
            case ast.JoinedStr(): return self.fstring(n)
            case ast.FormattedValue():
                return o("field", n) + self.expr(n.value) + w(chr(n.conversion) if n.conversion > 0 else "") + self.optional(n.format_spec)
            case ast.Tuple(): return o("tuple", n) + l(n.elts)
            case ast.List(): return o("list", n) + l(n.elts)
            case ast.Set(): return o("set", n) + l(n.elts)
            case ast.Dict(): return o("dict", n) + l([x for pair in zip(n.keys, n.values) for x in pair])
            case ast.UnaryOp(): return o("unary", n) + w(OPS[type(n.op)]) + l([n.operand])
            case ast.BinOp(): return o("binary", n) + w(OPS[type(n.op)]) + l([n.left, n.right])
            case ast.BoolOp(): return o("logic", n) + w(OPS[type(n.op)]) + l(n.values)
            case ast.Compare(): return o("compare", n) + "".join(w(OPS[type(x)]) for x in n.ops) + l([n.left] + n.comparators)
            case ast.Call(): return o("call", n) + l([n.func] + n.args) + self.keywords(n.keywords)
            case ast.Attribute(): return o("attribute", n) + l([n.value]) + w(n.attr)
            case ast.Subscript(): return o("subscript", n) + l([n.value, n.slice])
            case ast.Slice(): return o("slice", n) + l([n.lower, n.upper, n.step])
            case ast.Lambda(): return o("lambda", n) + self.parameters(n.args) + l([n.body])
            case ast.IfExp(): return o("conditional", n) + l([n.test, n.body, n.orelse])
            case ast.ListComp(): return o("list_comp", n) + l([n.elt]) + self.clauses(n)
            case ast.SetComp(): return o("set_comp", n) + l([n.elt]) + self.clauses(n)
            case ast.DictComp(): return o("dict_comp", n) + l([n.key, n.value]) + self.clauses(n)
            case ast.GeneratorExp(): return o("generator", n) + l([n.elt]) + self.clauses(n)
            case ast.Starred(): return o("starred", n) + l([n.value])
            case ast.NamedExpr(): return o("named", n) + l([n.target, n.value])
            case ast.Yield(): return o("yield", n) + w("") + l([n.value] if n.value else [])
            case ast.YieldFrom(): return o("yield", n) + w("from") + l([n.value])
        raise ValueError(type(n).__name__)

    def keywords(self, all):
        return "".join(self.open("keyword", k) + self.word(k.arg) + self.expr(k.value) + ")" for k in all)

    def clauses(self, n):
        return "".join("(for" + self.expr(c.target) + self.expr(c.iter) + self.list(c.ifs) + ")" for c in n.generators)

    def parameters(self, a):
        defaults = [None] * (len(a.posonlyargs) + len(a.args) - len(a.defaults)) + a.defaults
        rows = [("/", p, d) for p, d in zip(a.posonlyargs, defaults)] + [("parameter", p, d) for p, d in zip(a.args, defaults[len(a.posonlyargs):])]
        rows += [("*", a.vararg, None)] if a.vararg else []
        rows += [("key", p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults)] + ([("**", a.kwarg, None)] if a.kwarg else [])
        return "".join(f"({kind} {p.arg}" + self.optional(p.annotation) + self.optional(d) + ")" for kind, p, d in rows)

    def aliases(self, all):
        return "".join(self.open("alias", a) + self.word(a.name) + self.word(a.asname) + ")" for a in all)

    def stmt(self, n):
        return self.bare_stmt(n) + ")"

    def bare_stmt(self, n):
        o, l, b, e, opt, w = self.open, self.list, self.body, self.expr, self.optional, self.word
        match n:
            case ast.Expr(): return o("expression", n) + e(n.value)
            case ast.Assign(): return o("assign", n) + l(n.targets) + e(n.value)
            case ast.AnnAssign(): return o("annotated", n) + l([n.target]) + e(n.annotation) + opt(n.value)
            case ast.AugAssign(): return o("augmented", n) + w(OPS[type(n.op)]) + l([n.target]) + e(n.value)
            case ast.Return(): return o("return", n) + opt(n.value)
            case ast.If(): return o("if", n) + e(n.test) + b(n.body) + b(n.orelse)
            case ast.For(): return o("for", n) + l([n.target]) + e(n.iter) + b(n.body) + b(n.orelse)
            case ast.While(): return o("while", n) + e(n.test) + b(n.body) + b(n.orelse)
            case ast.FunctionDef(): return o("def", n) + w(n.name) + l(n.decorator_list) + self.parameters(n.args) + opt(n.returns) + b(n.body)
            case ast.ClassDef(): return o("class", n) + w(n.name) + l(n.decorator_list) + l(n.bases) + self.keywords(n.keywords) + b(n.body)
            case ast.Import(): return o("import", n) + self.aliases(n.names)
            case ast.ImportFrom(): return o("from", n) + w(str(n.level)) + w(n.module) + self.aliases(n.names)
            case ast.Pass(): return o("pass", n)
            case ast.Break(): return o("break", n)
            case ast.Continue(): return o("continue", n)
            case ast.Raise(): return o("raise", n) + opt(n.exc) + opt(n.cause)
            case ast.Assert(): return o("assert", n) + e(n.test) + opt(n.msg)
            case ast.Delete(): return o("del", n) + l(n.targets)
            case ast.Global() | ast.Nonlocal(): return o(type(n).__name__.lower(), n) + "".join(f"(alias {x} -)" for x in n.names)
            case ast.With(): return o("with", n) + l([x for i in n.items for x in (i.context_expr, i.optional_vars)]) + b(n.body)
            case ast.Try():
                handlers = "".join(o("except", h) + opt(h.type) + w(h.name) + b(h.body) + ")" for h in n.handlers)
                return o("try", n) + b(n.body) + handlers + b(n.orelse) + b(n.finalbody)
            case ast.Match(): return o("match", n) + e(n.subject) + "[" + "".join(f"(case{opt(c.guard)}{b(c.body)})" for c in n.cases) + "]"
        raise ValueError(type(n).__name__)


# What the compiler refuses after parsing (scopes, loops): no matter of syntax, and later stages here say it better.
AFTER_PARSING = ("outside function", "outside loop", "not properly in loop", "is parameter and", "assigned to before", "used prior to",
                 "no binding for nonlocal", "nonlocal declaration", "multiple starred", "two starred", "import * only allowed",
                 "annotated name", "from __future__", "future feature", "cannot assign to __debug__", "assignment expression cannot",
                 "assignment expression within", "is nonlocal and global", "too many statically nested", "cannot delete __debug__",
                 "not a chance", "comprehension inner loop", "rebind comprehension iteration", "annotation expression")


def cpython(data):
    """("tree", dump), ("error", message), ("skip", why), or ("scope", dump) where only a later stage refuses it"""
    kind = "tree"
    try:
        tree = ast.parse(data)
        try:
            compile(data, "f", "exec", dont_inherit=True)
        except SyntaxError as e:
            if not any(x in str(e) for x in AFTER_PARSING):
                return "error", f"{e.lineno}: {e.msg}"
            kind = "scope"  # and may hide another error
        return kind, Dump().body(tree.body)
    except SyntaxError as e:
        return "error", f"{e.lineno}: {e.msg}"
    except ValueError as e:
        return ("error", str(e)) if "null bytes" in str(e) else ("skip", str(e))
    except (RecursionError, MemoryError) as e:
        return "skip", type(e).__name__


class Generator:
    """Programs of the subset: most are valid, some are spoilt by one random edit."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def pick(self, *items):
        return self.r.choice(items)

    def many(self, f, low=0, high=3, sep=", "):
        return sep.join(f() for _ in range(self.r.randint(low, high)))

    def name(self):
        return self.pick("a", "b", "c", "x1", "_y", "match", "type", "é", "変数", "print")

    def number(self):
        return self.pick("0", "1", "00", "1_000", "0xFf", "0o17", "0b1_0", "1.5", "1.", ".5", "1e5", "1E-3", "1_0.5e-1_0", "1e999", "1e-999", "2j", "1.5J",
                         "0_0", "07.5", "9223372036854775807", "0x9E37_79B9_7F4A_7C15", "123456789.123456789", "1e16", "1e-5", "0.1", "4.9e-324")

    def string(self, deep=0):
        body = self.pick("", "a", "it", "\\n", "\\x41", "\\u00e9", "\\101", "\\q", "é", "\\\\", "{{", "%s", "\\\n", "#", "\\'", '\\"')
        prefix = self.pick("", "", "r", "u", "R", "f", "fr", "rF")
        if "f" in prefix.lower():
            body = body.replace("\\\n", "") + self.field(deep) + self.pick("", "}}", "t")
            body = "".join(body)
            if "r" in prefix.lower(): body = body.replace("\\'", "").replace('\\"', "")
        quote = self.pick("'", '"', "'''", '"""')
        if "f" in prefix.lower():
            quote = '"""'
        return prefix + quote + body + quote

    def field(self, deep):
        if deep > 0:
            return "{a}"
        inner = self.pick("a", "a + 1", "a['k']", "f'{b}'", "a!r", "a:>10", "a:{b}", "a=", "a = ", "a==b", "a!=b", "a<=b", "a<b", "(lambda: 1)", "a if b else c",
                          "{1: 2}", " {1}", "a, b", "*a, b", "a:{b}.{c}", "a!s:{b!r}", "a=:>5", "a=!s", "[x for x in y]", "'a' 'b'", "a['x:y']", "'}'", "a:%H:%M",
                          "f'{b:{c}}'", "'''q'''", "(a:=1)", "x.y(z)[1:2]", "a:\\x41", "not a", "-1", "a if b else 'c'", "'it' \"'\"", "a\n", "f'{f\"{b}\"}'")
        return "{" + inner + "}"

    def expr(self, d=0):
        if d > 3 or self.r.random() < 0.15:
            return self.pick(self.name, self.name, self.number, self.string, lambda: self.pick("None", "True", "False", "..."))()
        e = lambda: self.expr(d + 1)
        op = lambda: self.pick("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in", "and", "or")
        return self.pick(
            lambda: f"{e()} {op()} {e()}", lambda: f"{e()} {op()} {e()} {op()} {e()}", lambda: f"{self.pick('-', '+', '~', 'not ')}{e()}", lambda: f"({e()})",
            lambda: f"{self.name()}({self.args(d)})", lambda: f"{self.name()}.{self.name()}", lambda: f"({e()}).{self.name()}", lambda: f"{self.name()}[{self.index(d)}]",
            lambda: f"({self.many(e, 0, 3)}{self.pick('', ',')})" , lambda: f"[{self.many(self.item(d), 1, 3)}{self.pick('', ',')}]", lambda: f"{{{self.many(self.item(d), 1, 3)}}}",
            lambda: f"{{{self.many(lambda: self.pick(e() + ': ' + e(), '**' + self.name()), 0, 3)}}}", lambda: f"{e()} if {e()} else {e()}",
            lambda: f"lambda {self.params(False)}: {e()}", lambda: f"[{e()}{self.clauses(d)}]", lambda: f"{{{e()}{self.clauses(d)}}}", lambda: f"{{{e()}: {e()}{self.clauses(d)}}}",
            lambda: f"({e()}{self.clauses(d)})", lambda: f"{self.name()}({e()}{self.clauses(d)})", lambda: f"({self.name()} := {e()})", lambda: self.string() + " " + self.string(),
            lambda: f"{e()}\\\n + {e()}", lambda: f"({e()}  # note\n\n + {e()})")()

    def item(self, d):
        return lambda: self.pick("", "", "", "*") + self.expr(d + 1) if self.r.random() < 0.9 else f"{self.name()} := {self.expr(d + 1)}"

    def args(self, d):
        one = lambda: self.pick(lambda: self.expr(d + 1), lambda: "*" + self.expr(d + 1), lambda: "**" + self.expr(d + 1), lambda: f"{self.name()}={self.expr(d + 1)}", lambda: self.expr(d + 1),
                                lambda: f"{self.name()}:={self.expr(d + 1)}")()
        return self.many(one) + self.pick("", "", ",")

    def index(self, d):
        e = lambda: self.pick("", self.expr(d + 1))
        one = lambda: self.pick(lambda: self.expr(d + 1), lambda: e() + ":" + e(), lambda: e() + ":" + e() + ":" + e(), lambda: "*" + self.name(), lambda: "...")()
        return self.many(one, 1, 3) + self.pick("", "", ",")

    def clauses(self, d):
        one = lambda: f" for {self.target()} in {self.pick(self.name(), self.expr(d + 2))}" + self.many(lambda: f" if {self.pick(self.name(), self.expr(d + 2))}", 0, 2, "")
        return self.many(one, 1, 2, "")

    def target(self):
        return self.pick("a", "a, b", "(a, b)", "[a, *b]", "a,", "a.b", "a[0]", "*a, b", "(a)", "()", "a, (b, c)")

    def params(self, annotated):
        note = lambda: self.pick("", ": int", ": 'x'") if annotated else ""
        names = iter("abcdefghij")
        rows = [next(names) + note() for _ in range(self.r.randint(0, 2))]
        rows += ["/"] if rows and self.r.random() < 0.2 else []
        rows += [next(names) + note() + "=1" for _ in range(self.r.randint(0, 2))]
        if self.r.random() < 0.3:
            rows += [self.pick("*", "*" + next(names) + note()), next(names) + note() + self.pick("", "=" + self.number())]
        rows += ["**" + next(names) + note()] if self.r.random() < 0.2 else []
        if self.r.random() < 0.05:
            self.r.shuffle(rows)
        return ", ".join(rows) + (self.pick("", "", ",") if rows else "")

    def simple(self):
        e = self.expr
        return self.pick(
            lambda: e(), lambda: f"{self.target()} = {e()}", lambda: f"{self.target()} = {self.target()} = {e()}, {e()}", lambda: f"a = *{self.name()}, {e()}",
            lambda: f"{self.pick('a', 'a.b', 'a[1]', '(a)')} {self.pick('+', '-', '*', '/', '//', '%', '@', '&', '|', '^', '<<', '>>', '**')}= {e()}", lambda: f"a: {e()}",
            lambda: f"a: int = {e()}", lambda: "pass", lambda: f"return {e()}", lambda: "return", lambda: f"raise {e()}", lambda: f"raise {e()} from {e()}", lambda: f"assert {e()}, {e()}",
            lambda: f"del {self.target()}", lambda: "import a.b as c, d", lambda: f"from {self.pick('.', '..', '....', '.a', 'a . b')} import {self.pick('x', '(x as y, z,)', '*')}",
            lambda: "global a, b", lambda: "x = None; y = None", lambda: "")()

    def block(self, depth, tab):
        if self.r.random() < 0.2:
            return " " + "; ".join(self.simple() or "pass" for _ in range(self.r.randint(1, 2))) + self.pick("", ";") + "\n"
        indent = tab + self.pick("    ", "  ", "\t", " ")
        return self.pick("", "  # why") + "\n" + "".join(self.statement(depth + 1, indent) for _ in range(self.r.randint(1, 3)))

    def statement(self, depth=0, tab=""):
        e = self.expr
        if depth > 2 or self.r.random() < 0.5:
            return tab + (self.simple() or "pass") + self.pick("", ";", "  # c", " ") + "\n" + self.pick("", "", "\n", "   # odd\n", tab + "\f\n")
        b = lambda: self.block(depth, tab)
        return tab + self.pick(
            lambda: f"if {e()}:{b()}" + self.many(lambda: f"{tab}elif {e()}:{b()}", 0, 2, "") + self.pick("", f"{tab}else:{b()}"), lambda: f"for {self.target()} in {e()}:{b()}",
            lambda: f"while {e()}:{b()}{tab}else:{b()}", lambda: f"def f({self.params(True)}){self.pick('', ' -> int')}:{b()}", lambda: f"@{e()}\n{tab}def f():{b()}", lambda: f"class A:{b()}",
            lambda: f"class A({self.args(2)}):{b()}", lambda: f"with {self.many(lambda: self.expr(2) + self.pick('', ' as a', ' as (a, b)'), 1, 2)}:{b()}",
            lambda: f"with ({self.many(lambda: self.expr(2) + self.pick('', ' as a', ' as a.b'), 1, 2)}{self.pick('', ',')}){self.pick('', ' as q')}:{b()}",
            lambda: f"try:{b()}{tab}except {self.pick('A', '(A, B)', 'A as e', 'a.B')}:{b()}{tab}{self.pick('else', 'finally')}:{b()}", lambda: f"try:{b()}{tab}finally:{b()}")()

    def program(self):
        text = "".join(self.statement() for _ in range(self.r.randint(1, 4)))
        if self.r.random() < 0.3:
            at = self.r.randrange(len(text) + 1)
            text = text[:at] + self.pick("", "(", ")", ",", ":", "=", " if ", "*", "'", "\\", "\n", " ", "for", "{", "}", "1", ".", "\t") + text[at + self.pick(0, 1, 2):]
        if self.r.random() < 0.1:
            text = text.replace("\n", self.pick("\r\n", "\r"))
        return self.pick("", "", "", "\ufeff") + text


def snippets():
    """The cases of snippets.txt: separated by lines of dashes; one that begins with `!` is written with escapes."""
    with open(os.path.join(HERE, "snippets.txt"), encoding="utf-8", newline="") as f:
        for case in f.read().split("----\n"):
            yield case[1:].rstrip("\n").encode().decode("unicode_escape") if case.startswith("!") else case


def first_difference(ours, theirs):
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    return f"   ours    ...{ours[max(0, at - 60):at + 80]}\n   CPython ...{theirs[max(0, at - 60):at + 80]}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("paths", nargs="*")
    p.add_argument("--dump", required=True, help="the program built from dump_ast.cpp")
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--generate", type=int, default=500)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--show", type=int, default=20, help="mismatches shown")
    opt = p.parse_args()
    if sys.version_info[:2] != (3, 11):
        print(f"Python 3.11 is the reference, this is {sys.version.split()[0]}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    folder = tempfile.mkdtemp(prefix="compare_ast_")
    files = []
    for i, text in enumerate(list(snippets()) + [Generator(opt.seed * 1000003 + i).program() for i in range(opt.generate)]):
        files.append(os.path.join(folder, f"{i}.py"))
        with open(files[-1], "wb") as f:
            f.write(text.encode("utf-8", "surrogatepass"))
    made = len(files)
    for path in opt.paths:
        files += [path] if os.path.isfile(path) else sorted(os.path.join(d, f) for d, _, fs in os.walk(path) for f in fs if f.endswith(".py"))[:: opt.every]
    with tempfile.TemporaryFile("w+") as names:
        names.write("\n".join(files) + "\n")
        names.seek(0)
        answers = subprocess.run([opt.dump, "--print"], stdin=names, capture_output=True, text=True, errors="surrogateescape")
    lines = answers.stdout.split("\n")
    if answers.returncode != 0 or len(lines) - 1 != len(files):
        print(f"dump_ast ended with {answers.returncode} at {files[min(len(lines), len(files)) - 1]}")
        return 1
    agree = refused = unsupported = skipped = wrong = 0
    for i, (file, line) in enumerate(zip(files, lines)):
        ours, _, text = line.partition(" ")
        with open(file, "rb") as f:
            theirs, expected = cpython(f.read())
        if ours == "error" and ("error[unsupported]" in text or "error[limit]" in text):
            unsupported += 1
        elif theirs == "skip" and ours != "print":
            skipped += 1
        elif ours == "error" and theirs in ("error", "scope"):
            refused += 1
        elif ours == "tree" and theirs in ("tree", "scope") and text == expected:
            agree += 1
        else:
            wrong += 1
            if wrong <= opt.show:
                detail = first_difference(text, expected) if ours == "tree" and theirs != "error" else f"   ours    {ours}: {text[:300]}\n   CPython {theirs}: {expected[:100]}"
                print(f"MISMATCH {file}\n{detail}")
    print(f"{agree} same tree, {refused} refused by both, {unsupported} outside the subset, {skipped} that CPython cannot say, {wrong} wrong ({made} made in {folder})")
    print(f"{agree + refused} passed, {wrong} failed")
    return 1 if wrong or not agree else 0


if __name__ == "__main__":
    sys.exit(main())

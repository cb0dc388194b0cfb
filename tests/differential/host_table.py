"""Cases for host_cases.py. x, y, z and w are the tensors below; w has no dimensions."""

TENSORS = [  # sizes, strides, dtype
    ((2, 3, 4, 5), (60, 20, 5, 1), "float32"),
    ((4, 6, 5), (1, 20, 4), "float16"),  # not contiguous: a permutation
    ((1, 8, 1, 12), (96, 12, 12, 1), "int64"),
    ((), (), "float32"),
]

CLASSES = """
class Blocks:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


class NoNext:
    def __iter__(self):
        return self


class NoBool:
    def __bool__(self):
        return self


class Empty:
    def __len__(self):
        return 0


class Rank:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        return self.n < other.n


class Config(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)


class Attr(dict):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.__dict__ = self


class Typed(dict):
    def __init__(self, *args, **kw):
        super().__init__(*args, **kw)
        self.extra = 5

    def __missing__(self, key):
        return key * 2

    def area(self):
        return self["a"] * self.get("b", 1)


class SetAttr(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Blocks2(list):
    def total(self):
        return sum(self)

    def append(self, v):
        super().append(v + 1)


class Shape(tuple):
    @property
    def rows(self):
        return self[0]


class Lazy:
    def __init__(self):
        self.known = 1

    def __getattr__(self, name):
        if name.startswith("x"):
            return name
        raise AttributeError(name)


class Meta:
    def __class_getitem__(cls, item):
        return item


class Reg(collections.OrderedDict):
    pass


class DD(collections.defaultdict):
    pass


class Names(set):
    pass


class Checked:
    def __init__(self):
        object.__setattr__(self, "log", [])

    def __setattr__(self, name, value):
        self.log.append(name)
        super().__setattr__(name, value)


class Open:
    pass


class Closed:
    def __init__(self):
        self.n = 1

    def close(self):
        self.n = 2
"""

EXPRESSIONS = [
    # arguments, as Python binds them
    "int('12', base=16), int('0x10', 0), int('-0x10', 16), int('0b11', 2), int('+7'), int('-0o17', 8), int('1_000')", "int('8', 8)", "int('7', 40)", "int(x=3)", "int('1', 10, 3)", "round(2.567, ndigits=2), round(number=2.5), round(12, ndigits=1)", "round(1, 2, 3)",
    "pow(2, 5, mod=7), pow(2, 5, None), pow(base=3, exp=2)", "pow(2)", "list(zip([1, 2], [3, 4], strict=True)), list(zip([1, 2], [3]))", "list(zip([1, 2], [3], strict=True))", "zip([1], foo=2)", "sorted([3, 1], foo=1)", "max([1, 2], foo=1)", "max([], default=4), min(3, 1, key=lambda v: -v)", "len()", "len([], [])", "len(obj=[])",
    "sum([1, 2], start=5), sum([1], 2)", "list(enumerate(iterable=[1, 2], start=3))", "dict([(1, 2)], a=3)", "bool(x=1)", "isinstance(1)", "getattr(x)", "str(object=3)", "str(3, 4)", "list(iterable=[])", "range()", "range(1, 2, 3, 4)", "list(map(lambda a, b: a + b, [1, 2], [3, 4]))", "map(len)",
    "triton.cdiv(y=2, x=10), triton.cdiv(10, y=3), triton.next_power_of_2(n=5)", "triton.cdiv(1)", "triton.cdiv(1, 2, 3)", "triton.cdiv(1, z=2)",
    "math.fsum([0.1] * 10), math.fsum([1e100, 1, -1e100, 0.1]), math.fsum([1, 2.0**-53, 2.0**-110]), math.fsum([1, 2.0**-53]), math.fsum([-1, -(2.0**-53), -(2.0**-110)]), math.fsum([-0.0]), math.fsum([]), math.fsum([float('inf'), 1]), math.fsum([float('nan'), float('inf')])", "math.fsum([float('inf'), -float('inf')])", "math.fsum([1e308, 1e308, -1e308])", "math.fsum([3.0 ** -i * (-1) ** (i // 7) for i in range(99)])",
    "math.hypot(1, 2, 2), math.hypot(), math.perm(4), math.perm(5, 2), math.gcd(), math.lcm(), math.gcd(12, 18, 27), math.lcm(4, 6)", "math.sqrt(x=4)", "math.sqrt()", "math.sqrt(1, 2)", "math.isclose(1.0, 1.05, rel_tol=0.1), math.isclose(a=1.0, b=1.05, abs_tol=0.1)", "math.isclose(1.0, 2.0, foo=1)", "math.prod([2, 3], start=4), math.log(8, 2)",
    "list(itertools.accumulate([1, 2, 3], initial=10)), list(itertools.accumulate([1, 2, 3], func=lambda a, b: a * b)), list(itertools.accumulate([1, 2], None))", "list(itertools.combinations([1, 2, 3], r=2)), list(itertools.permutations(iterable=[1, 2]))", "list(itertools.repeat(object=1, times=2))", "itertools.combinations([1])", "functools.reduce(lambda a, b: a + b, [1, 2], 10)",
    "'aaa'.replace('a', 'b', 1), 'aaa'.replace('a', 'b', 0), 'aaa'.replace('a', 'b', -1)", "'aaa'.replace('a')", "'abcabc'.find('a', 1), 'abcabc'.find('a', 4), 'abcabc'.rfind('a', 0, 3), 'abcabc'.find('', 6), 'abcabc'.find('', 7), 'abcabc'.find('c', -1), 'abc'.find('a', 2, 1)", "'abcabc'.index('a', 1), 'abcabc'.rindex('a', 0, -3)", "'abc'.index('a', 1)",
    "'abcabc'.count('a', 1), 'abc'.count('', 1), 'abc'.count('', 4), 'aaaa'.count('a', 1, -1)", "'abcabc'.startswith('b', 1), 'abcabc'.endswith('b', 0, 2), 'abc'.startswith(('x', 'b'), 1), 'abc'.startswith('', 3), 'abc'.endswith('c', 0, 2)", "'a,b,c'.split(sep=','), 'a,b,c'.split(',', maxsplit=1), 'a-b-c'.rsplit('-', 1), 'a b'.split(sep=None)", "'a'.split(foo=1)", "'a'.upper(1)", "'a\\r\\nb\\n'.splitlines()", "'{a} {}'.format(1, a=2)",
    "[1, 2, 3, 2].index(2, 2), (1, 2, 3).index(3, -1), [1, 2].index(2, 0, 9)", "[1, 2, 3].index(1, 1)", "[1].append()", "[1].append(1, 2)", "[1].pop(foo=1)", "{'a': 1}.get('b', default=3)", "{'a': 1}.get('b', 3), {'a': 1}.pop('b', None), {'a': 1}.setdefault('b', 2)", "{'a': 1}.keys(1)", "sorted({1, 2}.union([3], [4])), sorted({1, 2, 3}.difference([1], [2])), sorted({1, 2, 3}.intersection([1, 2], [2, 3])), sorted({1}.union()), {1} is {1}.union()", "{1}.issubset()",
    "(5).bit_length(1)", "x.size(dim=1), x.stride(dim=-1)",
    # arithmetic
    "7 // 2, -7 // 2, 7 // -2, -7 // -2", "7 % 3, -7 % 3, 7 % -3, -7 % -3", "7.5 // 2, -7.5 // 2, 7.5 % -2, 1.0 // 0.1", "2 ** 10, 2 ** -1, (-2) ** 3, 0 ** 0, 2.0 ** 0.5",
    "7 / 2, 6 / 3, -1 / 3", "1 << 10, 1023 >> 3, -8 >> 1, 5 & 3, 5 | 3, 5 ^ 3, ~5", "True + True, True * 3, -True, +True, ~True", "True & False, True | False, True ^ True, True & 1",
    "1 // 0", "1 % 0", "1 / 0", "1.0 / 0.0", "0 ** -1", "1 << -1", "1.5 << 1", "'a' + 1", "[1] + (2,)", "3 * [1, 2], (1,) * 3, 'ab' * 2, [1] * 0, [1] * -1",
    "1 + 2.5, 3 - 0.5, 2 * 1.5, 1e300 * 1e10, -1e300 * 1e10", "0.1 + 0.2, 1e16 + 1, 1e-5, 1e22, 123456789.123, 1e15, 1e16, 1e17", "-0.0, 0.0, 0 * -1.0", "int(3.9), int(-3.9), int('12'), int(' 7 '), int('-5'), int('ff', 16), int('1_000')",
    "int('x')", "int(float('nan'))", "int(float('inf'))", "int(None)", "float('1e-5'), float('inf'), float('-inf'), float(' 2.5 '), float('NaN'), float(3)", "float('x')", "bool(0), bool(''), bool([]), bool([0]), bool(None), bool(0.0), bool('a'), bool({})",
    "round(2.5), round(3.5), round(-2.5), round(2.675, 2), round(1234.5678, 1), round(5), round(5, 2), round(0.5), round(1.005, 2)", "abs(-3), abs(3.5), abs(-2.5), abs(True)", "divmod(7, 2), divmod(-7, 2), divmod(7.5, 2)",
    "pow(2, 5), pow(2, 5, 7), pow(2.0, 3)", "(5).bit_length(), (0).bit_length(), (-8).bit_length(), (1023).bit_length()", "1 << (100 - 1).bit_length()", "(2.0).is_integer(), (2.5).is_integer()", "9223372036854775807, -9223372036854775807 - 1",
    "str(2 ** 63 - 1), str((1 << 64) - 1), str(0xFFFFFFFFFFFFFFFF), str(-2 ** 63), str(-9223372036854775809)", "str(2 ** 254 - 3 ** 100), str(-3 ** 150 // 7 ** 20), str(-3 ** 150 % 7 ** 20), str(divmod(10 ** 50, -3 ** 40))",
    "str(0x9E3779B97F4A7C15 * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF)", "str(-2 ** 100 >> 37), str(~2 ** 100), str(-2 ** 100 & 3 ** 60), str(-2 ** 90 | 5), str(3 ** 100 ^ -2 ** 70)", "2 ** 64 >> 200, -2 ** 64 >> 200, 0 << 10 ** 30, str(1 << 200)",
    "(2 ** 64 - 1) / 3, 10 ** 30 / 7, 2 ** 70 / 2 ** 69, 3 / 2 ** 80", "2 ** 53 + 1 == 2.0 ** 53, 2 ** 64 == 2.0 ** 64, 2 ** 100 < float('inf'), 10 ** 30 > 1e30, float('nan') < 2 ** 70", "float(2 ** 64 - 1), float(2 ** 54 + 2), float(2 ** 54 + 6), str(int(1e30)), str(int(-2.0 ** 70))",
    "f'{2 ** 70:,} {2 ** 64 - 1:#x} {2 ** 65:b} {-2 ** 70:o} {10 ** 20:>25}', hex(2 ** 64), '%d' % 2 ** 2", "str(int('123456789012345678901234567890')), str(int('-0xFFFFFFFFFFFFFFFFF', 16))", "(2 ** 70).bit_length(), (-2 ** 70).bit_length(), (2 ** 70 - 1).bit_count(), (-2 ** 64).bit_length()",
    "math.factorial(25) // math.factorial(23), str(math.isqrt(10 ** 40)), math.gcd(2 ** 80, 6 ** 60) == 2 ** 60, str(math.lcm(2 ** 40, 3 ** 30)), str(math.comb(100, 50)), str(math.prod([10 ** 9] * 4))", "round(10 ** 20 + 5, -1) == 10 ** 20, str(round(-10 ** 30 - 500, -3)), abs(-2 ** 70) == 2 ** 70, max(2 ** 70, 2 ** 69) == 2 ** 70",
    "hash(-1), hash(2 ** 61), hash(-2 ** 61), hash(2 ** 61 - 1), hash(1.0)", "{2 ** 64: 1}[1 << 64], 2 ** 64 in {2 ** 64}, sorted([2 ** 65, -2 ** 65, 0]) == [-2 ** 65, 0, 2 ** 65]", "str(sum([2 ** 62] * 4)), bool(2 ** 64), not 2 ** 64",
    "[1, 2][2 ** 64]", "[1, 2][-2 ** 64:2 ** 64]", "'ab'[2 ** 64]", "(1, 2)[-2 ** 64]",
    # comparisons and logic
    "1 < 2 < 3, 1 < 2 > 3, 1 == 1.0, 1 != 2, 3 >= 3, 2 <= 1", "1 == True, 0 == False, '1' == 1, None == None, None == 0, None is None, [] is None", "(1, 2) < (1, 3), (1, 2) < (1, 2, 0), [3] > [2, 9], 'a' < 'b', 'Z' < 'a', () < (0,)",
    "1 in [1, 2], 3 not in (1, 2), 'a' in 'cat', 'k' in {'k': 1}, 1 in {'k': 1}, 2 in {1, 2}, 1.0 in [1]", "1 < 'a'", "None < 1", "[1] < (2,)", "float('nan') == float('nan'), float('nan') < 1, float('nan') != 1",
    "0 or 5, 3 and 0, None or 'x', '' and 1, 1 and 2 and 3, 0 or [] or {}", "not 0, not [], not 'a', not None", "1 if 2 > 1 else 0, 'a' if [] else 'b'", "(1, 2) == [1, 2], [1, 2] == [1, 2], {'a': 1} == {'a': 1}, {1, 2} == {2, 1}, {'a': 1, 'b': 2} == {'b': 2, 'a': 1}",
    "{1} < {1, 2}, {1, 2} <= {1, 2}, {1, 3} < {1, 2}, {1, 2} > {1}", "torch.float16 == torch.half, torch.float32 == torch.float, torch.float16 == torch.float32, torch.int64 is torch.long", "x.dtype in (torch.float16, torch.float32), y.dtype == torch.float16, x.dtype != y.dtype",
    # strings
    "'abc'[0], 'abc'[-1], 'abc'[1:], 'abc'[::-1], 'abc'[5:], 'abcdef'[1:5:2]", "'abc'[9]", "'Hello'.upper(), 'Hello'.lower(), 'hello world'.title(), 'hELLO'.capitalize()", "'  a b '.strip(), 'xxaxx'.strip('x'), 'xxa'.lstrip('x'), 'axx'.rstrip('x')",
    "'a,b,,c'.split(','), 'a b  c '.split(), ''.split(), ''.split(','), 'a,b,c'.split(',', 1), 'a_b_c'.rsplit('_', 1), 'abc'.split('x')", "'-'.join(['a', 'b']), ''.join(['x', 'y']), ','.join([]), ','.join(['', 'a', ''])", "'a.b.c'.replace('.', '_'), 'aaa'.replace('aa', 'b')",
    "'route_add'.startswith('route'), 'route_add'.endswith('add'), 'abc'.startswith(('x', 'a')), 'abc'.endswith(())", "'abcabc'.find('c'), 'abc'.find('z'), 'abcabc'.rfind('c'), 'abcabc'.count('bc'), 'abc'.index('b')", "'abc'.index('z')",
    "'a=b=c'.partition('='), 'a=b=c'.rpartition('='), 'abc'.partition('='), 'abc'.rpartition('=')", "'12'.isdigit(), 'a1'.isdigit(), ''.isdigit(), 'ab'.isalpha(), 'a1'.isalnum(), 'AB'.isupper(), 'ab'.islower(), ' '.isspace()", "'5'.zfill(3), '-5'.zfill(4), 'a'.ljust(3) + '|', 'a'.rjust(3, '*'), 'ab'.center(5, '-')",
    "'prefix_x'.removeprefix('prefix_'), 'x.py'.removesuffix('.py'), 'x'.removesuffix('.py')", "'a\\nb\\n'.splitlines(), 'a'.splitlines()", "'{} {}'.format(1, 'b'), '{1}{0}'.format('a', 'b'), '{n:>4}|'.format(n=7), '{{}}'.format(), '{!r}'.format('a')", "'%d of %s' % (3, 'x'), '%.2f' % 1.5, '%5d|' % 42, '%-5s|' % 'ab', '%%' % (), '%r' % 'a', '%05d' % 42, '%x' % 255, '%s' % [1, 2]",
    "'{} {}'.format(1)", "'%d %d' % (1,)", "str(1), str(1.0), str(True), str(None), str('a'), str([1, 'a']), str((1,)), str({'a': 1}), str(()), str(1e-7)", "repr('a'), repr(\"it's\"), repr('a\\n'), repr([None, 1.5])", "str(torch.float32), str(x.dtype), f'{y.dtype}'", "ord('A'), chr(97), bin(10), hex(255), oct(8), bin(-5)",
    "f'{1}', f'{1.5:.3f}', f'{3:>5}|', f'{3:<5}|', f'{3:^5}|', f'{3:05d}', f'{-3:05d}', f'{255:x}', f'{255:#x}', f'{10:b}', f'{1234567:,}', f'{0.256:.1%}'", "f'{\"a\":>4}|', f'{\"abc\":.2}', f'{\"a\"!r}', f'{True}', f'{None}', f'{[1, 2]}', f'{1e10:g}', f'{1234.5:e}', f'{1234567.891:,.2f}', f'{5:+d}', f'{5: d}', f'{2.0}', f'{1:.2f}', f'{12:3}|'",
    "f'{1.0:.3}', f'{123456.0:.3}', f'{0.00012345:.3}', f'{1e20:.3}', f'{100.0:.3}', f'{float(\"inf\"):.2f}', f'{3.14159:10.2f}|', f'{3.14159:<10.2f}|'", "f'{x.shape[0]}x{x.shape[1]} {tuple(x.shape)}', f'{{}}', f'{1 + 1}{\"b\"}'", "f'{3:{5}}|', f'{2.5:.{2}f}'", "f'{True:5}|', f'{False:05}', f'{True:<3}|', f'{True:d}', format(False, '>4')", "f'{\"a\":d}'", "len('abc'), len(''), 'a' 'b', 'x' * 3", "max('abc'), min('abc'), sorted('bca'), list('ab')",
    # lists, tuples
    "[1, 2, 3][0], [1, 2, 3][-1], [1, 2, 3][1:], (1, 2, 3)[:-1], [1, 2, 3, 4][::2], (1, 2, 3)[::-1], [1, 2, 3][5:], [1, 2, 3][-5:2], [1, 2, 3, 4, 5][4:1:-2], [1, 2, 3][:0]", "[1, 2, 3][3]", "(1, 2)[-3]", "[1, 2][::0]", "[1, 2][x.shape]", "(1, 2) + (3,), [1] + [2, 3]", "[1, 2, 2].count(2), (1, 2).index(2)", "[1].index(5)",
    "[*range(3), *[7]], (*x.shape, 9), [*'ab']", "{**{'a': 1}, 'b': 2}, {'a': 1} | {'a': 2}", "len([1, 2]), len(()), len({'a': 1}), len({1, 1, 2}), len(x.shape), len(x)", "len(5)", "sum([1, 2, 3]), sum([]), sum([0.5, 1]), sum((1, 2), 10), sum([1], start=5)", "sum(['a'])", "min(3, 1, 2), max([1, 5, 3]), min([2.5, 1]), max(1, 2.0), max(2, 2.0), min((3, 1), (2, 9)), max([], default=7), max('a', 'b'), max([1, -5], key=abs), min([3, 1, 2], key=lambda v: -v)", "min([])",
    "sorted([3, 1, 2]), sorted([3, 1, 2], reverse=True), sorted(['b', 'A'], key=lambda s: s.lower()), sorted([(1, 'b'), (0, 'c'), (1, 'a')]), sorted([(1, 'b'), (1, 'a'), (0, 'z')], key=lambda p: p[0], reverse=True), sorted({3, 1})", "sorted([1, 'a'])", "list(reversed([1, 2, 3])), tuple(reversed((1, 2)))",
    "list(enumerate(['a', 'b'])), list(enumerate('ab', 1)), list(enumerate([5], start=3))", "list(zip([1, 2, 3], 'ab')), list(zip()), list(zip([1])), dict(zip('ab', [1, 2]))", "list(map(lambda a, b: a * b, [1, 2], [3, 4])), list(map(str, [1, 2])), list(filter(None, [0, 1, '', 2])), list(filter(lambda v: v > 1, [1, 2, 3]))",
    "any([0, 1]), any([]), all([1, 0]), all([]), any(v > 2 for v in (1, 2, 3)), all(v > 0 for v in (1, 2))", "list(range(3)), list(range(1, 7, 2)), list(range(5, 0, -2)), list(range(0)), len(range(10)), range(5)[2], 3 in range(5), list(range(3, 1))", "range(1, 2, 0)", "tuple([1, 2]), list((1, 2)), tuple('ab'), list({'a': 1}), set([1, 1, 2]), tuple(range(2))",
    "[i * i for i in range(4)], [i for i in range(6) if i % 2], [(i, j) for i in range(2) for j in range(2)], [i for i in range(9) if i % 2 if i > 3]", "{i: i * 2 for i in range(3)}, {i % 2 for i in range(5)}, {k: v for k, v in [('a', 1), ('a', 2)]}, tuple(i for i in range(3)), sum(i for i in range(4))", "[[j for j in range(i)] for i in range(3)], [a + b for a, b in [(1, 2), (3, 4)]], [first for first, *rest in [(1, 2, 3)]]",
    "list(itertools.product((i for i in range(2)), (i for i in range(3)))), list(itertools.product((c for c in 'ab'), repeat=2))", "list(itertools.product([1, 2], 'ab')), list(itertools.chain([1], (2, 3))), list(itertools.product((0, 1), repeat=2))", "functools.reduce(lambda a, b: a * b, [1, 2, 3]), functools.reduce(operator.mul, x.shape, 1), functools.reduce(operator.add, [[1], [2]])", "functools.reduce(operator.mul, [])", "next(iter([4, 5])), next((v for v in [1, 2, 3] if v > 1), None), next((v for v in [] if v), 9)",
    # dicts and sets
    "{'a': 1}['a'], {'a': 1}.get('a'), {'a': 1}.get('b'), {'a': 1}.get('b', 5), {1: 'x', True: 'y'}, {(1, 2): 3}[(1, 2)]", "{'a': 1}['b']", "{}[0]", "{[1]: 2}", "{'a': 1, 'b': 2}.keys(), list({'a': 1}.values()), list({'a': 1}.items()), [k for k in {'a': 1, 'b': 2}]", "dict(a=1, b=2), dict([('a', 1)]), dict({'a': 1}, b=2), dict()", "{torch.float16: 1, torch.float32: 2}[x.dtype], {torch.float16: 'h'}.get(x.dtype, 'other')", "{1, 2} | {3}, {1, 2} & {2, 3}, {1, 2} - {2}, {1, 2} ^ {2, 3}", "{1, 2}.union([3]), {1, 2}.intersection({2}), {1}.issubset({1, 2}), {1, 2}.issuperset({1}), {1}.isdisjoint({2})",
    # functions of libraries
    "math.ceil(2.1), math.floor(-2.1), math.ceil(7 / 2), math.trunc(-2.7), math.ceil(3), math.floor(2.9)", "math.sqrt(16), math.sqrt(2), math.isqrt(17), math.pow(2, 3), math.exp(1), math.log(10), math.log2(8), math.log10(1000), math.log(8, 2)", "math.prod([2, 3, 4]), math.prod(x.shape), math.prod([]), math.prod(x.shape[1:]), math.prod([2], start=5)", "math.gcd(12, 18), math.gcd(0, 5), math.gcd(-4, 6), math.lcm(4, 6), math.lcm(0, 3)", "math.pi, math.e, math.inf, -math.inf, math.tau, math.isnan(math.nan), math.isinf(math.inf), math.isfinite(1.0)",
    "math.sin(1), math.cos(1), math.tan(1), math.tanh(0.5), math.erf(0.5), math.atan2(1, 2), math.fabs(-2), math.hypot(3, 4), math.copysign(1, -0.0), math.fmod(7, 3), math.radians(180), math.degrees(math.pi)", "math.isclose(1.0, 1.0 + 1e-12), math.isclose(1, 1.1), math.isclose(1, 1.1, rel_tol=0.2)", "math.sqrt(-1)", "math.log(0)", "math.ceil(math.inf)", "math.exp(1000)", "math.factorial(5), math.floor(True)", "triton.cdiv(10, 4), triton.cdiv(8, 4), triton.cdiv(0, 4), triton.cdiv(1, 1024)", "triton.cdiv(1, 0)", "[triton.next_power_of_2(n) for n in (0, 1, 2, 3, 5, 64, 65, 1000, 1025)]",
    "isinstance(1, int), isinstance(True, int), isinstance(1.0, float), isinstance('a', str), isinstance((1,), (list, tuple)), isinstance(x, torch.Tensor), isinstance(1, torch.Tensor), isinstance(None, int), isinstance({}, dict), isinstance(x.shape, tuple), isinstance(x.dtype, torch.dtype)", "type(1) is int, type(1.0) == float, type('a') is str, type(True) is int, type([]) is list", "callable(len), hasattr(x, 'shape'), getattr(x, 'ndim')", "torch.finfo(torch.float16).max, torch.finfo(torch.float32).min, torch.finfo(torch.bfloat16).eps, torch.finfo(x.dtype).tiny, torch.iinfo(torch.int32).max, torch.iinfo(torch.int64).min, torch.iinfo(torch.uint8).max, torch.finfo(torch.float16).bits",
    "x.is_meta, x.is_quantized, x.is_sparse, x.is_leaf, x.requires_grad, x.grad is None, x.grad_fn is None, x.layout == torch.strided", "x.is_complex(), torch.is_complex(x), z.is_signed(), x.is_same_size(y), x.is_same_size(x), x.is_same_size(x[0]), x.is_conj(), x.is_inference()", "x.dim_order(), y.dim_order(), z.dim_order(), w.dim_order(), x.permute(0, 2, 3, 1).dim_order(), x.permute(0, 3, 1, 2).dim_order(), x[:1].expand(3, 3, 4, 5).dim_order(), z.transpose(0, 1).dim_order()",
    "hasattr(x, 'sum'), hasattr(x, 'sums'), getattr(x, 'sums', 3), getattr(x, 'ndim', 0)", "next(iter([1, 2])), list(iter((1, 2))), sum(v for v in (1, 2)), tuple(v for v in 'ab'), [*(v for v in (1, 2))]", "next(iter([]))", "(lambda it: (next(it), next(it), list(it), list(it)))(iter([1, 2, 3, 4]))", "(lambda g: (sum(g), sum(g)))(i for i in range(4))", "len(i for i in range(3))",
    "undefined_name()", "x.shape.foo()", "(1).foo()", "'a'.foo()", "[].foo()", "len()", "int([1])", "'a'.join([1])", "{}.pop('a')", "[].pop()", "{1}.remove(5)", "[1].remove(5)", "(lambda a: a)()", "(lambda a: a)(1, 2)", "(lambda a, b=2: a + b)(1), (lambda *a: a)(1, 2), (lambda **k: k)(a=1), (lambda a, *, b: a - b)(5, b=2), (lambda: 7)()", "(lambda a: a)(b=1)",
    # ranges and the views of dicts
    "len(range(10)), range(10)[2], range(10)[-1], 3 in range(0, 10, 3), list(range(10)[2:5]), range(3) == range(3), repr(range(3)), str(range(1, 3)), repr(range(1, 9, 2)), repr(range(5, 0, -2)), repr(range(10)[::-3]), repr(range(20)[3:15:4][1:])", "range(3) == [0, 1, 2], isinstance(range(3), list), type(range(3)).__name__, isinstance(range(3), range)", "range(10).index(3), range(10).count(3), range(0, 10, 2).stop, range(0, 10, 2).start, range(0, 10, 2).step, range(10).count(11), range(0, 10, 3).index(9.0)", "range(10).index(12)", "range(10)[10]", "range(10)[-11]", "range(3)[1.0]", "list(reversed(range(3))), sum(range(4)), max(range(3)), bool(range(0)), bool(range(2)), [*range(3)], tuple(range(3)), list(range(5, 0, -2)), list(reversed(range(1, 10, 4)))", "range(3) + [1]", "range(3).append(1)", "range(3) * 2", "range(1, 2, 0)", "range(10**12)[5], len(range(10**12)), 10**11 in range(10**12), -1 in range(10**12), 5.0 in range(10), True in range(2), 'a' in range(3), None in range(3)", "{range(3): 1}[range(0, 3, 1)], range(0) == range(2, 1), range(0, 3, 2) == range(0, 4, 2), range(3) != range(4)", "range(0, 10, 2)[1:3] == range(2, 6, 2), list(zip(range(3), range(10**9))), next(iter(range(4, 9))), list(enumerate(range(2), 1)), sorted(range(3), reverse=True), min(range(3, 5)), list(map(str, range(2)))", "range(2.0)", "range('a')", "'-'.join(map(str, range(3))), list(itertools.islice(range(10**12), 2)), dict.fromkeys(range(2)), set(range(2)), range(3) is None, f'{range(3)}', range(2) < range(3)", "x.permute(*range(4)), x.permute(*reversed(range(4)))", "functools.reduce(operator.mul, range(1, 5)), math.prod(range(1, 4)), [i for i in range(3) if i in range(1, 3)], tuple(x.shape[i] for i in range(x.dim())), any(range(2))", "{'a': 1, 'b': 2}.keys() & {'a'}, {'a': 1}.keys() | {'b'}, {'a': 1}.keys() - {'a'}, {'a': 1}.items() & {('a', 1)}, {'a': 1}.keys() ^ {'b'}, {'a': 1}.keys() & ['a', 'a'], {'a', 'c'} - {'a': 1}.keys(), {'a': 1}.keys() | 'bb'", "{'a': 1}.keys()[0]", "{'a': 1}.keys() == {'a'}, {'a': 1}.keys() == {'a': 2}.keys(), {'a': 1}.values() == {'a': 1}.values(), {'a': 1}.items() == {'a': 1}.items(), {'a': 1}.keys() == ['a'], {'a': 1}.items() != {('a', 1)}", "isinstance({}.keys(), list), type({}.items()).__name__, type({}.values()).__name__", "list(reversed({'a': 1, 'b': 2}.items())), list(reversed({'a': 1, 'b': 2}.keys())), sorted({'b': 1, 'a': 2}.items()), ('a', 1) in {'a': 1}.items(), ('a', 2) in {'a': 1}.items(), 'a' in {'a': 1}.items(), 1 in {'a': 1}.values(), max({'a': 1}.values())", "{'a': 1}.keys().isdisjoint({'b'}), {'a': 1}.keys() <= {'a', 'b'}, {'a', 'b'} >= {'a': 1}.keys(), {'c'} | {'a': 1}.keys(), {'a': 1}.keys() < {'b': 1}.keys()", "{'a': 1}.items() + [('b', 2)]", "{'a': 1}.values() & {1}", "{'a': 1}.values().isdisjoint({1})", "next({'a': 1}.keys())", "len({'a': 1}.items()), next(iter({'a': 1}.items())), list({'a': 1}.items())[0], sorted({'a': 1}.keys() | {'c': 1}.keys()), {'a': 1}.keys() | set(), {**{'a': 1}}, functools.reduce(operator.add, {'a': 1, 'b': 4}.values())",
    # classes that are containers, and those of collections
    "Config(a=1).a, Config(a=1)['a'], Config({'b': 2}).b, len(Config(a=1)), list(Config(a=1)), Config(a=1) == {'a': 1}, dict(Config(a=1)), isinstance(Config(), dict), isinstance(Config(), Config)", "Config().a", "getattr(Config(), 'a', 3), hasattr(Config(a=1), 'a'), hasattr(Config(), 'a')", "Lazy().yy", "Names([1, 2]) | {3}, 1 in Names([1])", "sorted(Config(b=1, a=2)), max(Config(b=1)), sum(Blocks2([1, 2])), list(zip(Blocks2([1]), Blocks2([2]))), list(reversed(Blocks2([1, 2])))", "bool(Config()), bool(Blocks2()), not Blocks2([1])", "{Config(a=1).a: 2}, Config(a=Config(b=2)).a.b", "Config(a=1) | {'b': 2}", "'{a}'.format(**Config(a=1)), '%(a)s' % Config(a=1), f\"{Config(a=1)}\"", "issubclass(Config, dict), issubclass(Blocks2, list), issubclass(Config, list), isinstance(Config(), typing.Mapping), isinstance(Config(), object)", "Meta[3], Meta['a']", "type(Config()).__name__, type(Config()) is Config, type(Blocks2([1])) is list, Config(a=1).copy() == {'a': 1}", "Checked().columns", "collections.deque([1, 2, 3], maxlen=2) == collections.deque([2, 3]), collections.deque([1]) == [1], isinstance(collections.deque(), list), isinstance(collections.deque(), collections.deque), repr(collections.deque([1, 2], maxlen=3)), str(collections.deque())", "collections.deque([1], maxlen=-1)", "[1].popleft()", "[1].appendleft(2)", "collections.Counter('aab').most_common(1), collections.Counter(a=1) + collections.Counter(a=2), collections.Counter([1, 1, 2]) - collections.Counter([1]), collections.Counter('ab') & collections.Counter('b'), collections.Counter('ab') | collections.Counter('bb')", "repr(collections.Counter('abb')), repr(collections.defaultdict(int, a=1)), repr(collections.Counter()), type(collections.OrderedDict()).__name__, isinstance(collections.OrderedDict(), dict), isinstance({}, collections.OrderedDict), isinstance(collections.Counter(), collections.Counter)", "[[1, 2].__getitem__(1), {'a': 1}.__contains__('a'), (1, 2).__len__()]", "list(filter({'a': 1}.__contains__, 'ab'))",
    # json, operator's functions that call, limits of dtypes
    "operator.methodcaller('upper')('a'), operator.methodcaller('split', ',', maxsplit=1)('a,b,c'), list(map(operator.methodcaller('count', 1), [[1, 1], (1,)]))", "operator.methodcaller('nothing')(1)", "operator.attrgetter('n.n')(Rank(Rank(3))), operator.attrgetter('n', 'n')(Rank(2)), operator.itemgetter(1, 2)([1, 2, 3]), operator.itemgetter(-1)([1, 2])", "operator.attrgetter('a.b.c')(1)", "json.dumps({'a': [1, 2.5, None, True, 'x\"y\\n\\t']}), json.dumps([1, 2], separators=(',', ':')), json.dumps({'b': 1, 'a': 2}, sort_keys=True), json.dumps((1,), indent=2), json.dumps({'a': {'b': []}, 'c': [1, {}]}, indent=4)", "json.dumps({1: 2, None: 3, True: 4, 2.5: 1}), json.dumps('\\u00e9\\u4e2d'), json.dumps('\\u00e9', ensure_ascii=False) == '\"\\u00e9\"', json.dumps(float('inf')), json.dumps([float('-inf'), 1e300, 0.1]), json.dumps(Config(a=1)), json.dumps({}), json.dumps([], indent=2), json.dumps('a/b\\\\')", "json.dumps({(1, 2): 3})", "json.dumps({1, 2})", "json.dumps({'a': {1}}, default=list), json.dumps(torch.float32, default=str)", "json.dumps({'b': 1, 'a': [1, 2]}, indent=1, separators=(',', ': '), sort_keys=True)", "json.loads('{\"a\": [1, 2.5, null, true, \"x\"], \"b\": {}, \"c\": -3, \"d\": 1e3}')", "json.loads('[1, 2')", "json.loads('')", "json.loads(json.dumps({'a': [1, (2, 3)], 'b': None}))", "json.loads(3)", "torch.finfo(torch.float32).resolution, torch.finfo(torch.float16).smallest_normal, torch.finfo(torch.bfloat16).tiny, torch.finfo(torch.float32).eps, torch.finfo(torch.float16).max, torch.finfo(torch.float16).min, torch.finfo(torch.float16).bits, torch.finfo(torch.float16).dtype, torch.finfo(torch.bfloat16).resolution, torch.finfo(torch.float64).resolution, torch.finfo(torch.float16).resolution, torch.finfo(torch.float8_e4m3fn).resolution, torch.finfo(torch.float8_e5m2).resolution", "torch.iinfo(torch.int8).max, torch.iinfo(torch.int8).min, torch.iinfo(torch.int64).bits, torch.iinfo(torch.int32).dtype", "typing.NewType('Id', int)(3), list(map(typing.NewType('Id', int), [1, 2]))",
]

BODIES = [
    """
    v0 = 0
    v1 = 1
    v2 = 2
    v3 = 3
    v4 = 4
    v5 = 5
    v6 = 6
    v7 = 7
    v8 = 8
    v9 = 9
    v10 = 10
    v11 = 11
    v12 = 12
    v13 = 13
    v14 = 14
    v15 = 15
    v16 = 16
    v17 = 17
    v18 = 18
    v19 = 19
    v20 = 20
    v21 = 21
    v22 = 22
    v23 = 23
    del v3, v20
    v20 = 'again'
    try:
        v3
    except NameError:
        v21 = 'gone'
    for v5 in range(3):
        del v6
        v6 = v5
    del v0, v1, v2, v4, v7, v8, v9, v10, v11, v12, v13, v14, v15
    v1 = v6 + v5
    return v1, v16, v20, v21, v22, v23, (lambda: v19 + v1)()
    """,
    """
    total = 0
    for i in range(10):
        if i == 3:
            continue
        if i == 7:
            break
        total += i
    else:
        total = -1
    return total, i
    """,
    """
    for i in range(3):
        pass
    else:
        i = 9
    return i
    """,
    """
    n, block = 1000, 1024
    while block > 64 and triton.cdiv(n, block) < 8:
        block //= 2
    return block
    """,
    """
    i = 0
    while True:
        i += 1
        if i % 2 == 0:
            continue
        if i > 8:
            break
    else:
        return -1
    return i
    """,
    """
    i = 3
    while i:
        i -= 1
    else:
        i = 'done'
    return i
    """,
    """
    a, b = 1, 2
    a, b = b, a
    (c, d), e = (3, 4), 5
    first, *rest = [1, 2, 3]
    *init, last = (1, 2, 3)
    h, *m, t = 'abcd'
    p = q = 7
    return a, b, c, d, e, first, rest, init, last, h, m, t, p, q
    """,
    """
    a, b = [1, 2, 3]
    return a
    """,
    """
    a, *b, c = [1]
    return a
    """,
    """
    def outer(n):
        count = 0
        def inner():
            nonlocal count
            count += n
            return count
        inner()
        inner()
        return count, inner
    got, f = outer(5)
    return got, f()
    """,
    """
    fs = [lambda: i for i in range(3)]
    gs = [lambda i=i: i for i in range(3)]
    return [f() for f in fs], [g() for g in gs]
    """,
    """
    n = 4
    def f(a, b=n, *rest, c=10, **more):
        return a, b, rest, c, more
    n = 99
    return f(1), f(1, 2, 3, 4), f(1, c=5, d=6), f(*[1, 2], **{'c': 3})
    """,
    """
    def f(a, /, b, *, c):
        return a + b + c
    return f(1, 2, c=3), f(1, b=2, c=3)
    """,
    """
    def f(a, b):
        return a
    return f(1, 2, 3)
    """,
    """
    def f(a, b):
        return a
    return f(1, a=2)
    """,
    """
    def f(*, b):
        return b
    return f(1)
    """,
    """
    def fact(n):
        return 1 if n <= 1 else n * fact(n - 1)
    return fact(10)
    """,
    """
    def even(n):
        return True if n == 0 else odd(n - 1)
    def odd(n):
        return False if n == 0 else even(n - 1)
    return even(10), odd(7)
    """,
    """
    out = []
    try:
        out.append(1)
        {}['k']
        out.append(2)
    except KeyError as e:
        out.append(3)
    else:
        out.append(4)
    finally:
        out.append(5)
    return out
    """,
    """
    out = []
    try:
        out.append(1)
    except ValueError:
        out.append(2)
    else:
        out.append(3)
    finally:
        out.append(4)
    return out
    """,
    """
    def f():
        try:
            return 1
        finally:
            return 2
    def g():
        for i in range(3):
            try:
                continue
            finally:
                if i == 1:
                    break
        return i
    return f(), g()
    """,
    """
    try:
        raise ValueError('bad value')
    except (TypeError, ValueError) as e:
        return str(e)
    """,
    """
    try:
        try:
            raise ValueError('inner')
        except ValueError:
            raise
    except ValueError as e:
        return 'outer ' + str(e)
    """,
    """
    try:
        try:
            1 / 0
        finally:
            seen = 1
    except ArithmeticError:
        return seen
    """,
    """
    try:
        raise NotImplementedError('x')
    except RuntimeError:
        return 'caught'
    """,
    """
    try:
        [][1]
    except LookupError:
        return 'lookup'
    """,
    """
    raise ValueError(f'no {1 + 1}')
    """,
    """
    assert 1 == 1, 'fine'
    assert x.dim() == 9, f'bad {x.dim()}'
    """,
    """
    a = [1, 2]
    b = a
    b += [3]
    c = a + [4]
    a.append(5)
    t = (1,)
    u = t
    u += (2,)
    return a, b, c, t, u, a is b, a is c
    """,
    """
    a = [3, 1, 2]
    a.sort()
    b = a.copy()
    b.reverse()
    b.insert(0, 9)
    b.insert(-1, 8)
    b.insert(100, 7)
    c = b.pop()
    d = b.pop(0)
    b.remove(8)
    b.extend((5, 6))
    a[0] = 10
    a[-1] += 1
    del b[0]
    return a, b, c, d, a.sort(reverse=True), a
    """,
    """
    d = {}
    d['b'] = 1
    d['a'] = 2
    d['b'] = 3
    d.setdefault('c', 4)
    d.setdefault('a', 9)
    d.update({'z': 0}, y=1)
    d.update([('q', 5)])
    p = d.pop('z')
    r = d.pop('nope', None)
    d['n'] = d.get('n', 0) + 1
    del d['y']
    d['a'] *= 5
    e = d.copy()
    e.clear()
    return d, p, r, e, list(d), d.popitem()
    """,
    """
    s = set()
    s.add(1)
    s.add(1)
    s.add(2)
    s.discard(7)
    s.update([3, 4])
    s.remove(4)
    s |= {9}
    return s, len(s), 2 in s
    """,
    """
    d = {'a': {'b': [1, 2]}}
    d['a']['b'].append(3)
    d['a']['c'] = {}
    d['a']['c']['x'] = 1
    m = [[0] * 2 for _ in range(2)]
    m[1][0] = 5
    n = [[0]] * 2
    n[0].append(1)
    return d, m, n
    """,
    """
    if (n := x.shape[1]) > 2 and (m := n * 2):
        return n, m
    return None
    """,
    """
    B, C, *spatial = x.shape
    HW = math.prod(spatial)
    rows = x.numel() // x.shape[-1]
    shape = (*x.shape[:-1], 7)
    return B, C, spatial, HW, rows, shape, list(x.shape), x.shape[1:3], x.shape[-1:], x.size(), x.size(-2), x.size(dim=1)
    """,
    """
    strides = []
    step = 1
    for size in reversed(x.shape):
        strides.insert(0, step)
        step *= size
    return tuple(strides) == x.stride(), x.stride(0), x.stride(-1), y.stride(), x.stride()[1]
    """,
    """
    return x.numel(), x.dim(), x.ndim, y.element_size(), x.is_contiguous(), y.is_contiguous(), x.nelement(), w.numel(), w.dim(), w.shape, z.dtype == torch.int64, x.dtype.itemsize, x.is_floating_point(), z.dtype.is_floating_point, x.shape.numel(), x.nbytes
    """,
    """
    x.size(9)
    """,
    """
    table = {'add': lambda a, b: a + b, 'mul': lambda a, b: a * b}
    return [table[k](3, 4) for k in ('add', 'mul')]
    """,
    """
    def pick(n, *, small=64, large=1024):
        if n <= small:
            return small
        elif n <= large:
            return 1 << (n - 1).bit_length()
        else:
            return large
    return [pick(n) for n in (1, 64, 65, 100, 1000, 5000)], pick(10, small=16)
    """,
    """
    acc: int = 0
    unused: float
    acc -= 3
    acc *= -2
    acc **= 2
    acc //= 5
    acc <<= 3
    acc |= 1
    acc &= 0xff
    acc ^= 2
    acc %= 50
    acc >>= 1
    acc /= 2
    return acc
    """,
    """
    def swap(pair):
        a, b = pair
        return b, a
    return [swap(p) for p in zip('ab', range(2))], [i + j for i, (j, _) in enumerate([(5, 6), (7, 8)])]
    """,
    """
    def gen(n):
        out = []
        def go(k):
            if k == 0:
                return
            out.append(k)
            go(k - 1)
        go(n)
        return out
    return gen(5)
    """,
    """
    words = 'conv2d_relu_v2'.split('_')
    kind, *flags = words
    version = int(flags[-1][1:])
    return kind, flags, version, 'relu' in flags, '_'.join(reversed(words))
    """,
    """
    best = None
    for bm, bn in itertools.product((16, 32, 64), repeat=2):
        if bm * bn <= 2048 and (best is None or bm + bn > sum(best)):
            best = (bm, bn)
    return best
    """,
    """
    value = None
    result = value if value is not None else 'default'
    flag = isinstance(result, str) and result.startswith('def')
    return result, flag, value is None, not value
    """,
    """
    for k, v in {'a': 1, 'b': 2}.items():
        if v == 2:
            break
    del v
    return k
    """,
    """
    local_only = 1
    def f():
        local_only = 2
        return local_only
    return f(), local_only
    """,
    """
    i = 'outer'
    squares = [i for i in range(3)]
    return i, squares
    """,
    """
    return len(undefined_list())
    """,
    """
    with torch.no_grad():
        a = 5
    return a
    """,
    """
    import math as m
    from math import ceil as up, floor
    from functools import reduce
    return m.sqrt(4), up(1.2), floor(1.8), reduce(lambda a, b: a + b, [1, 2, 3])
    """,
    """
    def kind(v):
        match v:
            case 0 | -1:
                return 'small'
            case 1.5:
                return 'real'
            case None | True:
                return 'single'
            case 'a' | 'b' as letter:
                return letter * 2
            case () | [[]]:
                return 'empty'
            case [first, second]:
                return first, second
            case (1, *rest, last) if last > 2:
                return rest, last
            case [_, _, *_]:
                return 'long'
            case torch.float16:
                return 'half'
            case other:
                return other
        return 'never'
    return [kind(v) for v in (0, -1, 1, 1.5, None, True, False, 'a', 'ab', (), [[]], [1, 2], (1, 2, 3, 4), (1, 2, 2), [3, 4, 5], 0.0, 7, {'k': 1})], kind(y.dtype)
    """,
    """
    match x.shape:
        case (2, n):
            return 'two'
        case (a, b, *rest) if a == b:
            return 'square'
        case _ if len(x.shape) == 4:
            found = a, b, rest
        case _:
            found = None
    match = 3
    return found, match
    """,
    """
    def up_to(n):
        i = 0
        while True:
            if i == n:
                return 'ignored'
            yield i
            yield
            i += 1

    def both(n):
        yield from up_to(n)
        yield from 'ab'
        for i in up_to(1):
            yield i, n
    g = up_to(2)
    a, *rest = both(1)
    return next(g), next(g), list(g), list(g), next(g, 'end'), a, rest, [*both(0)], sum(v or 0 for v in up_to(3)), dict(zip(up_to(2), both(2)))
    """,
    """
    def empty():
        return
        yield
    return list(empty()), next(empty())
    """,
    """
    b = Blocks(5)
    return next(b), [i for i in b], list(b), next(b, 'none'), max(Blocks(3)), 1 in Blocks(4)
    """,
    """
    return list(NoNext())
    """,
    """
    return 1 if NoBool() else 2
    """,
    """
    return bool(Empty()), not Empty(), [1 for s in (Empty(),) if s]
    """,
    """
    ranks = sorted([Rank(i * 7 % 11) for i in range(11)]), sorted([Rank(i % 3) for i in range(5)], reverse=True)
    return [[r.n for r in ranked] for ranked in ranks]
    """,
    """
    a, s = [1, 2], {1, 2, 3, 4}
    b, t = a, s
    a *= 2
    s -= {1}
    s &= {2, 3, 9}
    s ^= {3, 7}
    return b, sorted(t), a is b, s is t, type(1).__name__, type("a").__name__ == "str", type([]).__name__
    """,
    """
    a, b, *c = range(5)
    return a, b, c
    """,
    """
    a, b = range(3)
    return a
    """,
    """
    r = range(3)
    r[0] = 1
    """,
    """
    match range(2):
        case [a, b]:
            return a, b
    return 0
    """,
    """
    d = {'a': 1}
    k = d.keys()
    d['b'] = 2
    return list(k), len(k), 'b' in k, repr(k), repr(d.values()), repr(d.items()), bool(k), bool({}.keys())
    """,
    """
    d = {'a': 1}
    for k in d.keys():
        d['b'] = 1
    return 1
    """,
    """
    d = {'a': 1}
    for k, v in d.items():
        d['b'] = 1
    return 1
    """,
    """
    d = {'a': 1}
    for k, v in d.items():
        d[k] = 2
    return d
    """,
    """
    d = {'a': 1, 'b': 2}
    for k in list(d.keys()):
        d.pop(k)
    return d
    """,
    """
    d = {'a': 1, 'b': 2}
    for v in d.values():
        del d['a']
    return d
    """,
    """
    d = {'a': 1}
    e = dict(d.items())
    e.update(d.items())
    return e, set(d.values()), tuple(d.keys()), list(zip(d.keys(), d.values())), sum(d.values()), ','.join(d.keys()), dict(zip(d.values(), d)), [*d.items()], max(d.items(), key=lambda kv: kv[1]), x.permute(*{0: 1, 1: 2, 2: 3, 3: 0}.values())
    """,
    """
    d = {'a': 1}
    v = d.values()
    d['a'] = 5
    return list(v), v is d.values(), d.keys() is d.keys()
    """,
    """
    c = Config(a=1)
    c['b'] = 2
    c.update(d=4)
    return c.b, c.items(), c.get('z', 9), 'b' in c, {**c}, c.pop('a'), bool(c), repr(c), [k for k in c], c.copy()
    """,
    """
    t = Typed(a=2, b=3)
    return t.area(), t['q'], t.extra, t
    """,
    """
    t = Typed([('a', 1)])
    t.more = 3
    return t.more, t, len(t), sorted(t.keys())
    """,
    """
    a = Attr(x=1)
    return a.x
    """,
    """
    s = SetAttr()
    s.a = 3
    return s.a, s
    """,
    """
    b = Blocks2([1, 2])
    b.append(3)
    return b.total(), b, len(b), b[0], b[-1], b[1:], isinstance(b, list), b == [1, 2, 4], [v for v in b], b + [1], type(b).__name__, repr(b), 2 in b, max(b)
    """,
    """
    s = Shape((3, 4))
    return s.rows, s, len(s), s == (3, 4), s[1], list(s), isinstance(s, tuple), tuple(s)
    """,
    """
    l = Lazy()
    return l.known, l.xyz, hasattr(l, 'yy'), getattr(l, 'q', 2)
    """,
    """
    r = Reg(a=1)
    r['b'] = 2
    r.move_to_end('a')
    return list(r)
    """,
    """
    d = DD(list)
    d['a'].append(1)
    return d['a'], d
    """,
    """
    def f(**kw):
        return kw
    return f(**Config(a=1))
    """,
    """
    json_like = {'c': Config(a=1)}
    return json_like
    """,
    """
    a, b = Blocks2([1, 2])
    return a, b
    """,
    """
    c = Config(a=1)
    c.b = 3
    return c.b, c, 'b' in c
    """,
    """
    c = Config(a=1)
    del c['a']
    return c
    """,
    """
    c = Config(a=1)
    c |= {'b': 2}
    return c, isinstance(c, Config)
    """,
    """
    c = Blocks2([1])
    c += [5]
    return c, isinstance(c, Blocks2)
    """,
    """
    s = Checked()
    s.rows = 3
    return s.rows, s.log
    """,
    """
    l = Lazy()
    l.known = 4
    del l.known
    return l.known
    """,
    """
    d = Open()
    d.__dict__.update(a=1, b=2)
    return d.a + d.b, d.__dict__
    """,
    """
    d = collections.deque(maxlen=3)
    for i in range(5):
        d.append(i)
    d.appendleft(9)
    d.rotate(1)
    d.extendleft([7, 8])
    return list(d), d.maxlen, len(d), d[0], d[-1], d.pop(), d.popleft()
    """,
    """
    c = collections.Counter('aab').copy()
    d = collections.defaultdict(list).copy()
    d['q'].append(1)
    return c['zz'], d
    """,
    """
    with contextlib.ExitStack() as s:
        a = s.enter_context(contextlib.nullcontext(3))
        s.callback(lambda: None)
    return a
    """,
    """
    seen = []
    @contextlib.contextmanager
    def f(n):
        seen.append(n)
        try:
            yield n
        finally:
            seen.append(-n)
    with contextlib.ExitStack() as s:
        for i in range(1, 4):
            s.enter_context(f(i))
        s.callback(seen.append, 9)
        seen.append(0)
    return seen
    """,
    """
    seen = []
    with contextlib.ExitStack() as s:
        s.enter_context(contextlib.suppress(KeyError))
        s.callback(seen.append, 1)
        {}['a']
    return seen
    """,
    """
    seen = []
    try:
        with contextlib.ExitStack() as s:
            s.callback(seen.append, 1)
            s.callback(lambda: {}['a'])
            s.callback(seen.append, 2)
            raise ValueError(3)
    except KeyError:
        seen.append('key')
    return seen
    """,
    """
    seen = []
    with contextlib.ExitStack() as s:
        s.callback(seen.append, 1)
        kept = s.pop_all()
    seen.append(2)
    kept.close()
    return seen
    """,
    """
    class_like = Blocks(2)
    with contextlib.closing(Closed()) as c:
        n = c.n
    return n, c.n
    """,
    """
    with contextlib.ExitStack() as s:
        s.push(contextlib.suppress(ValueError))
        raise ValueError
    return 5
    """,
    """
    def f():
        with contextlib.ExitStack() as s:
            s.callback(g.append, 1)
            return 3
    g = []
    return f(), g
    """,
]

VIEWS = [
    "x.size(foo=1)", "x.size(1, 2)", "x.size(None)", "x.numel(1)", "x.dim(foo=2)", "x.stride(dim=None)", "x.is_contiguous(torch.contiguous_format)", "x.contiguous(foo=1)", "x.contiguous(memory_format=torch.channels_last)", "x.element_size(1)", "x.storage_offset(1)",
    "x.transpose(0)", "x.transpose(0, 1, 2)", "x.transpose(0, dim0=1)", "x.transpose(dim1=0, dim0=2)", "x.transpose(0, dim=1)", "x.swapdims(dim0=0, dim1=2)", "x.unsqueeze()", "x.unsqueeze(0, 1)", "x.unsqueeze(axis=0)", "x.size(axis=1)", "x.unbind(axis=1)", "x.view(dtype=torch.int32)", "x.view(torch.int32)", "x.view(foo=1)", "x.squeeze(0, 2)", "x.squeeze(dims=0)", "x.narrow(0, 0)", "x.narrow(dim=1, start=1, length=2)", "x.select(0)", "x.select(index=1, dim=2)", "x.flatten(0, 1, 2)", "x.unflatten(1)", "x.unflatten(sizes=(1, 3), dim=1)",
    "x.view(size=(6, 20))", "x.view()", "x.reshape()", "x.reshape(shape=(6, 20))", "x.reshape(size=(6, 20))", "x.permute()", "w.permute()", "x.expand()", "x.expand(size=(2, 3, 4, 5))", "x.view_as()", "x.view_as(other=x.view(6, 20))", "x.expand_as(x, x)", "x.movedim(0)", "x.movedim(destination=0, source=2)", "x.as_strided((2, 2))", "x.as_strided(stride=(1, 2), size=(2, 2), storage_offset=3)",
    "x.chunk()", "x.chunk(2, 1, 0)", "x.chunk(dim=2, chunks=2)", "x.split()", "x.split(split_size=2, dim=3)", "torch.split(x, split_size_or_sections=2, dim=3)", "x.unbind(0, 1)", "torch.transpose(input=x, dim0=0, dim1=1)", "torch.transpose(x, 0, 1, 2)", "x.fill_()", "torch.empty(3).fill_(value=2)", "torch.empty(3).zero_(1)", "x.detach(1)", "x.t(1)", "x.float(foo=1)", "x.to(foo=1)", "x.to(dtype=torch.float32)", "x.to(other=x)", "x.requires_grad_(False)",
    "torch.empty()", "torch.empty(2, foo=1)", "torch.empty(size=(2, 3))", "torch.full((2, 3))", "torch.full((2, 3), 1, 2)", "torch.full(fill_value=1.5, size=(2, 3))", "torch.full(size=(2,), fill_value=True)", "torch.full_like(x)", "torch.full_like(x, fill_value=2)", "torch.full_like(input=x, fill_value=2, dtype=torch.float64)", "torch.empty_like()", "torch.empty_like(x, x)", "torch.empty_like(input=x)", "torch.empty_like(x, foo=1)", "torch.zeros_like(x, dtype=None)", "torch.empty_strided((2, 3))", "torch.as_tensor(3, torch.float16)", "torch.as_tensor(2.5)", "torch.as_tensor(data=3, dtype=torch.int32)", "torch.as_tensor()", "torch.tensor(3, torch.float16)", "torch.tensor(data=True)", "x.new_full((2,))", "x.new_full(fill_value=1, size=(2,))", "x.new_empty()", "x.new_zeros(size=(2, 3), dtype=torch.int64)", "x.new_ones((2,), foo=1)", "x.new_empty(2, 3)",
    "x[..., ...]", "x[0, ..., ..., 1]", "w[..., ...]", "w.unflatten(0, (1,))", "x[:, :0].chunk(3, 1)", "x[:, :0].split(2, 1)", "torch.empty(4, 5)[1:].as_strided((2,), (1,), 0)", "torch.empty(4, 5)[1:].as_strided((2, 5), (5, 1))", "torch.empty(20)[5:].as_strided((3,), (2,), 7)",
    "x.new_empty_strided((2, 3), (1, 2))", "x.new_empty_strided(size=(2, 3), stride=(3, 1))", "torch.empty_strided(size=(2, 3), stride=(1, 2))", "torch.empty_permuted((2, 3, 4), (2, 0, 1))", "torch.empty_permuted((2, 3, 4, 5), (0, 2, 3, 1), dtype=torch.float16)", "torch.empty_permuted((2, 3), (0, 0))", "torch.empty_permuted((2, 3), physical_layout=(1, 0))", "torch.empty_permuted((2, 0, 3), (0, 2, 1))",
    "torch.split(x, 2, dim=3)", "torch.split(x, [1, 2], 1)", "torch.chunk(x, 2, 2)", "torch.unbind(x, 1)", "torch.unbind(x)", "torch.as_strided(x, (2, 2), (1, 2))", "torch.tensor_split(x, 3, dim=2)", "x.tensor_split(2, 3)", "x.tensor_split((1, 3), dim=3)", "x.tensor_split([1, -1], 3)", "x.tensor_split(7, 1)", "x.tensor_split(0)", "torch.narrow(x, 1, 1, 2)", "torch.select(x, 1, 2)", "torch.movedim(x, 1, 3)",
    "list(x)", "[*y[:2]]", "[r for r in x[0, 0]]", "list(w)", "dict(zip('ab', x))", "tuple(enumerate(x))",
    "x.view(-1)", "x.view(2, 60)", "x.view(2, -1)", "x.view((6, 20))", "x.view(x.shape[0], -1, 5)", "x.view(7, 3)", "x.view(-1, -1)", "x.view(-1, 7)", "y.view(4, 30)", "y.view(-1)", "y.view(4, 2, 3, 5)", "y.view(1, 4, 6, 5, 1)", "y.view(2, 2, 6, 5)", "x.view(2, 3, 20)", "w.view(1)", "w.view(1, 1)", "w.view(())",
    "x.reshape(6, -1)", "x.reshape([24, 5])", "y.reshape(4, 30)", "y.reshape(-1)", "y.reshape(2, 2, 6, 5)", "y.transpose(0, 1).reshape(30, 4)", "x.transpose(1, 2).reshape(2, 4, 15)", "x.transpose(-1, -2).reshape(2, 3, 20)", "x[:, :, ::2].reshape(2, 3, 10)", "x[:, :, 1:3].reshape(6, 10)", "z.reshape(8, 12)", "z.view(8, 12)", "z.view(2, 4, 3, 4)", "x.reshape(1)", "x.expand(2, 3, 4, 5).reshape(-1)", "x[:1].expand(4, 3, 4, 5).reshape(4, 60)", "x[:1].expand(4, 3, 4, 5).reshape(-1)",
    "x.permute(0, 2, 3, 1)", "x.permute((3, 2, 1, 0))", "x.permute(dims=(0, 1, 3, 2))", "x.permute(0, -1, 1, 2)", "x.permute(0, 1)", "x.permute(0, 0, 1, 2)", "y.permute(1, 2, 0)", "y.permute(1, 2, 0).contiguous()", "y.permute(2, 1, 0).is_contiguous()", "w.permute(())",
    "x.transpose(1, 2)", "x.transpose(-1, 0)", "x.transpose(dim0=0, dim1=3)", "x.transpose(0, 4)", "x.swapaxes(0, 1)", "x[0, 0].t()", "x[0, 0, 0].t()", "x[0].t()", "x[0, 0].T", "x.mT", "x.transpose(1, 1)", "x.movedim(1, 3)", "x.movedim(-1, 0)",
    "x.flatten()", "x.flatten(1)", "x.flatten(1, 2)", "x.flatten(start_dim=2)", "x.flatten(0, -2)", "x.flatten(end_dim=1)", "y.flatten()", "y.flatten(1)", "x.transpose(2, 3).flatten(2)", "x.transpose(2, 3).flatten(0, 1)", "w.flatten()", "x.flatten(2, 1)", "x.ravel()", "y.ravel()",
    "x.unsqueeze(0)", "x.unsqueeze(-1)", "x.unsqueeze(2)", "x.unsqueeze(4)", "x.unsqueeze(5)", "y.unsqueeze(1)", "y.unsqueeze(-1)", "w.unsqueeze(0)", "x.unsqueeze(dim=1)",
    "z.squeeze()", "z.squeeze(0)", "z.squeeze(1)", "z.squeeze(-2)", "z.squeeze((0, 2))", "w.squeeze()", "w.squeeze(0)", "x.squeeze(9)",
    "z.expand(3, 8, 1, 12)", "z.expand(-1, -1, 5, -1)", "z.expand(2, 1, 8, 4, 12)", "x.expand(2, 3, 4, 6)", "w.expand(3, 4)", "z.expand(8, 12)", "z.expand_as(z)", "z.squeeze().expand(3, 8, 12)", "x.expand(-1, 2, 3, 4, 5)",
    "x[0]", "x[-1]", "x[2]", "x[0, 1]", "x[0][1]", "x[:, 1]", "x[..., 0]", "x[..., -1:]", "x[:, :, 1:3]", "x[:, :, ::2]", "x[:, None]", "x[None]", "x[..., None]", "x[:, :, None, :, :]", "y[None, :, None]", "x[0, ..., 0]", "x[1:, 1:, 1:, 1:]", "x[:, 5:]", "x[:, 2:1]", "x[:, -2:]", "x[0, 0, 0, 0]", "x[0, 0, 0, 0, 0]", "x[:, :, ::-1]", "x[1][2][3][4]", "y[1:3, ::2]", "y[..., 1]", "w[()]" , "w[...]", "w[None]", "x[:, 1:3].contiguous()", "x[1]", "x[1].view(60)", "x[1].permute(2, 0, 1)[1:]",
    "x.narrow(1, 1, 2)", "x.narrow(dim=2, start=1, length=3)", "x.narrow(1, 2, 2)", "x.select(1, 2)", "x.select(-1, -1)", "x.select(dim=0, index=1)", "x.chunk(2, dim=2)", "x.chunk(2, 3)", "x.chunk(7)", "x.split(2, dim=3)", "x.split([1, 2], 1)", "x.split([1, 1], 1)", "x.split(10)", "x.unbind()", "x.unbind(1)", "x.unbind(dim=-1)", "y.chunk(3, dim=1)", "x.unflatten(1, (3, 1))", "x.unflatten(-1, (5,))", "x.unflatten(2, (2, -1))", "z.view_as(z)", "z.reshape_as(z)", "x.as_strided((2, 2), (1, 2))", "x.as_strided((3,), (20,), 1)", "x.as_strided((200,), (1,))",
    "x.contiguous()", "y.contiguous()", "x.contiguous(memory_format=torch.channels_last)", "z.is_contiguous(memory_format=torch.channels_last), z.transpose(0, 1).is_contiguous(memory_format=torch.channels_last)", "z.transpose(0, 1).contiguous(memory_format=torch.channels_last)", "x.permute(0, 2, 3, 1).contiguous()", "x.is_contiguous(memory_format=torch.channels_last)", "x.permute(0, 3, 1, 2).is_contiguous(memory_format=torch.channels_last)",
    "torch.empty(2, 3)", "torch.empty((2, 3), dtype=torch.float16)", "torch.empty([4], device=x.device)", "torch.empty(x.shape, dtype=y.dtype)", "torch.empty(*x.shape)", "torch.empty(())", "torch.empty(size=(2, 2))", "torch.empty(0, 3)", "torch.empty(-1)", "torch.empty((2, 3, 4, 5), memory_format=torch.channels_last)", "torch.zeros(3, dtype=torch.int32)", "torch.ones((2,), dtype=torch.bool)", "torch.full((2, 2), 1.5)", "torch.full((2,), 7, dtype=torch.float16)", "torch.full([2], True)", "torch.full(size=(3,), fill_value=0)",
    "torch.empty_like(x)", "torch.empty_like(y)", "torch.zeros_like(y, dtype=torch.float32)", "torch.empty_like(x.transpose(1, 2))", "torch.empty_like(x[:, ::2])", "torch.empty_like(z.expand(3, 8, 5, 12))", "torch.ones_like(x[0])", "torch.full_like(y, 2.0)", "torch.empty_like(x, memory_format=torch.contiguous_format)", "torch.empty_like(y, memory_format=torch.contiguous_format)", "torch.empty_like(x[:, :, None])", "torch.empty_strided((2, 3), (1, 2))", "torch.empty_like(x.permute(0, 2, 3, 1)[:, 1:])", "torch.zeros_like(w)", "torch.empty_like(x.permute(3, 0, 1, 2))", "torch.empty_like(z.transpose(1, 3))",
    "x.new_empty(3, 4)", "x.new_empty((2,))", "y.new_zeros((2, 2))", "y.new_empty(y.shape)", "x.new_full((2,), 3.0)", "x.new_ones(2, dtype=torch.int64)", "x.new_empty(size=(5,))", "x.to(torch.float32)", "x.to(x.device)", "x.to(x)", "torch.empty(2).to(torch.float16)", "torch.zeros(3).half()", "x.float()", "y.half()", "x.detach()", "x.data", "torch.as_tensor(x)", "torch.as_tensor(3.0)", "torch.as_tensor(3)",
    "torch.reshape(x, (6, 20))", "torch.transpose(x, 0, 1)", "torch.permute(x, (3, 2, 1, 0))", "torch.flatten(x, 1)", "torch.unsqueeze(x, 0)", "torch.squeeze(z, 0)", "torch.flatten(x, start_dim=1)", "torch.numel(x)", "torch.is_tensor(x), torch.is_tensor(1)", "torch.Size([1, 2])", "x.type(torch.float32)", "x.type_as(x)",
    "x.transpose(1, 2).contiguous().view(2, 4, 15)", "x.view(2, 3, 20).permute(2, 0, 1).unsqueeze(1)", "x.view(6, 20)[2:4].view(40)", "x.permute(0, 2, 3, 1).reshape(-1, 3)", "x.flatten(2).transpose(1, 2)", "x.flatten(2).transpose(1, 2).contiguous()", "x.reshape(2, 3, 2, 2, 5).permute(0, 2, 1, 3, 4).reshape(4, 30)", "z.squeeze(0).squeeze(1).t()", "y[0].t()[1:].unsqueeze(-1)",
]

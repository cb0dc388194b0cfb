"""Iterators and generators for host_cases.py: what is taken when, and by whom. `seen` notes in which order things happen."""
import random

HELPERS = """
def noted(seen, values):
    for v in values:
        seen.append(v)
        yield v


def failing(n):
    for i in range(n):
        yield i
    raise ValueError('no more')


def naturals():
    n = 0
    while True:
        yield n
        n += 1


def guarded(seen, n):
    try:
        for i in range(n):
            yield i
    except ValueError as e:
        seen.append(str(e))
        yield 'caught'
    else:
        seen.append('else')
    finally:
        seen.append('end')


def first(it):
    for v in it:
        return v


def tree(n):
    if n > 0:
        yield from tree(n - 1)
        yield n
        yield from tree(n - 1)


@contextlib.contextmanager
def context(seen, name):
    seen.append('enter ' + name)
    try:
        yield name
    finally:
        seen.append('leave ' + name)


@contextlib.contextmanager
def swallow(seen):
    try:
        yield
    except ValueError as e:
        seen.append('swallowed')


class Ends:
    def __init__(self, seen, takes):
        self.seen = seen
        self.takes = takes

    def __enter__(self):
        self.seen.append('in')

    def __exit__(self, kind, error, trace):
        self.seen.append(kind.__name__ if kind else 'out')
        return self.takes and kind is KeyError


def inner(seen):
    try:
        got = yield 'inner'
        seen.append(repr(got))
        yield 'inner again'
        return 'done'
    except KeyError:
        yield 'inner caught'
    finally:
        seen.append('inner end')


def total():
    value, count = 0, 0
    while True:
        got = yield value
        if got is None:
            return count
        value += got
        count += 1


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        while self.n > 0:
            yield self.n
            self.n -= 1


class Letters:
    def __getitem__(self, i):
        return 'abc'[i]


class Sized:
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return i * i


class Both:
    def __iter__(self):
        return iter([1, 2])

    def __reversed__(self):
        return iter([2, 1])


class NotAnIterator:
    def __iter__(self):
        return [1, 2]
"""

EXPRESSIONS = [
    # one iterator, several users
    "[(it := iter([1, 2, 3, 4, 5])), list(zip(it, it)), list(it)][1:]", "[(it := iter(range(6))), list(zip(it, it, it))][1]", "[(it := iter('abcd')), next(it), list(it), list(it)][1:]",
    "[(it := iter([1, 2])), iter(it) is it, next(iter(it)), list(it)][1:]", "[(it := iter([1, 2, 3, 4])), 2 in it, list(it)][1:]", "[(it := enumerate('abc')), next(it), next(it), list(it), list(it)][1:]",
    "[(it := zip([1, 2, 3], 'ab')), next(it), list(it), next(it, 'end')][1:]", "[(it := map(lambda v: v + 1, [1, 2, 3])), next(it), list(it), list(it)][1:]", "[(it := filter(None, [0, 1, 2, 0, 3])), next(it), list(it)][1:]",
    "[(it := reversed([1, 2, 3])), next(it), list(it), list(it)][1:]", "[(a := iter([1, 2, 3])), list(zip([10], a)), list(a)][1:]", "[(a := iter([1, 2, 3])), list(zip(a, [10])), list(a)][1:]",
    "[(n := iter(range(7))), [(i, next(n)) for i in n if i % 4 == 0]][1]", "[(it := iter([3, 1, 2])), max(it), list(it), sorted(it)][1:]", "[(it := iter([1, 2, 3, 4])), any(v > 1 for v in it), list(it)][1:]",
    "[(it := iter([1, 2, 3, 4])), all(v < 2 for v in it), list(it)][1:]", "[(it := iter('abc')), [*it], [*it]][1:]", "[(it := iter('ab')), (lambda *v: v)(*it, *it)][1]", "[(it := iter([1, 2, 3])), next(it) + next(it) * next(it)][1]",
    "next(iter([]))", "next(iter([]), None)", "next([1])", "next({1: 2})", "next(5)", "iter(5)", "iter(None)", "list(iter('ab'))", "list(NotAnIterator())", "next(zip())", "list(zip()), list(zip([], [1]))",
    "len(iter([1]))", "len(zip([1]))", "zip([1])[0]", "map(len, ['a'])[0]", "reversed({1, 2})", "reversed(iter([1]))", "reversed(5)", "reversed('abc')[0]", "list(reversed('abc')), list(reversed((1, 2))), list(reversed({'a': 1, 'b': 2})), list(reversed(range(3)))",
    "list(reversed(Sized())), list(Sized())[:0] if False else [v for v, _ in zip(Sized(), range(5))], list(Letters()), list(reversed(Both())), list(Both()), 'b' in Letters(), 'z' in Letters()", "bool(iter([])), bool(zip()), bool(i for i in [])", "iter([]) == iter([]), (lambda i: (i == i, i is i, i in [i]))(iter([1]))",
    "type(iter([])) is type(iter([1])), type(zip()) is zip, isinstance(map(len, []), map), isinstance(enumerate([]), enumerate), isinstance(iter([]), list), isinstance(filter(None, []), filter), isinstance(reversed([]), reversed)",
    "type(iter([])).__name__, type(i for i in []).__name__, type(zip()).__name__, type(naturals()).__name__" if False else "1", "iter([1]).__next__(), [1, 2] == list(iter([1, 2]).__iter__())",
    # laziness
    "next(v for v in (1, 2, 0, 4 // 0) if v > 1)" if False else "1", "next(10 // v for v in (5, 2, 0))", "[10 // v for v in (5, 2, 0)]", "any(10 // v > 4 for v in (2, 0))", "all(10 // v < 4 for v in (2, 0))", "next(failing(1)), any(v == 0 for v in failing(1)), 0 in failing(1)", "list(failing(2))", "sum(failing(2))", "max(failing(1))", "3 in failing(2)", "[v for v in failing(1)]", "tuple(zip([1, 2], failing(2)))",
    "list(zip(range(2), naturals())), list(zip(naturals(), 'ab')), dict(zip('ab', naturals()))", "[v for v, _ in zip(naturals(), range(4))]", "next(v for v in naturals() if v * v > 50)", "list(itertools.islice(naturals(), 3)), list(itertools.islice(naturals(), 2, 9, 3)), list(itertools.takewhile(lambda v: v < 4, naturals()))",
    "list(map(lambda a, b: a * b, naturals(), [5, 6, 7]))", "a, b = itertools.count()" if False else "1", "list(enumerate(itertools.islice(itertools.count(5), 2), 7))", "5 in naturals(), 5 in itertools.count(), 9 in itertools.count(1, 4)", "min(itertools.islice(itertools.cycle([3, 1, 2]), 7)), list(itertools.islice(itertools.cycle('ab'), 5)), list(itertools.cycle([]))",
    # generators
    "list(tree(3)), list(tree(0)), sum(tree(4))", "[(g := tree(2)), next(g), list(g), list(g)][1:]", "list(Countdown(3)), [(c := Countdown(3)), next(iter(c)), list(c)][1:]", "[(g := (v * v for v in range(4))), next(g), sum(g), sum(g)][1:]", "list(v for v in [1, 2, 3] if v != 2), set(v % 2 for v in range(5)), dict((v, v * v) for v in range(3)), ','.join(str(v) for v in range(3))",
    "[(g := naturals()), next(g), next(g), g.close(), next(g, 'closed')][1:]", "naturals().send(1)", "[(g := total()), next(g), g.send(3), g.send(4), next(g, 'end')][1:]", "[(g := (i for i in 'ab')), next(g), g.close(), list(g)][1:]", "naturals().throw(KeyError)", "naturals().throw(ValueError('x'))", "naturals()[0]", "len(naturals())", "naturals() + naturals()",
    "[f() for f in [lambda: i for i in range(3)]], [f() for f in (lambda: i for i in range(3))]", "[list(g) for g in [(i * j for j in range(2)) for i in range(3)]]", "[(x0, y0) for x0 in range(3) for y0 in range(x0)], [[j for j in range(i)] for i in range(3)], {i: j for i in 'ab' for j in range(2)}, sorted({i + j for i in range(2) for j in range(2)})",
    "[y0 := 1, [y0 := y0 + v for v in range(3)], y0][1:]", "[last := v for v in range(3)] + [last]", "any((hit := v) > 1 for v in range(5)) and hit", "[v for v in [1, 2, 3] if (w := v) > 1] + [w]",
    # itertools
    "list(itertools.chain([1], (2,), 'a', {3: 4})), list(itertools.chain()), list(itertools.chain.from_iterable([[1], 'ab', (v for v in range(2))]))", "[(c := itertools.chain([1], failing(1))), next(c), next(c)][1:]", "next(itertools.chain([1], 5))", "list(itertools.chain([1], 5))", "list(itertools.chain.from_iterable(5))", "list(itertools.accumulate([1, 2, 3])), list(itertools.accumulate([3, 1, 2], max)), list(itertools.accumulate([], initial=5)), list(itertools.accumulate([])), list(itertools.accumulate('abc'))",
    "list(itertools.repeat(1, 3)), list(itertools.repeat(1, 0)), list(itertools.repeat(1, -2)), list(zip(itertools.repeat('a'), range(2)))", "list(itertools.islice('abcdef', 2)), list(itertools.islice('abcdef', 1, None)), list(itertools.islice('abcdef', 0, None, 2)), list(itertools.islice('abcdef', 1, 5, 2)), list(itertools.islice('abc', 0)), list(itertools.islice('abc', None))", "itertools.islice([1], -1)", "itertools.islice([1], 0, 1, 0)", "itertools.islice([1], 'a')",
    "[(it := iter(range(10))), list(itertools.islice(it, 0, 5, 3)), list(it)][1:]", "[(it := iter(range(10))), list(itertools.islice(it, 5, 3)), list(it)][1:]", "[(it := iter(range(10))), list(itertools.islice(it, 3)), list(itertools.islice(it, 3)), list(it)][1:]", "[(it := iter(range(5))), list(itertools.takewhile(lambda v: v < 2, it)), list(it)][1:]", "list(itertools.dropwhile(lambda v: v < 2, [1, 3, 1])), list(itertools.filterfalse(lambda v: v % 2, range(5))), list(itertools.filterfalse(None, [0, 1]))",
    "list(itertools.starmap(pow, [(2, 3), (3, 2)])), list(itertools.starmap(lambda *v: v, ['ab', (1,), ()]))", "list(itertools.pairwise('abcd')), list(itertools.pairwise([1])), list(itertools.pairwise([]))", "list(itertools.zip_longest('ab', [1, 2, 3])), list(itertools.zip_longest('ab', [1], (), fillvalue='-')), list(itertools.zip_longest())", "list(itertools.compress('abcd', [1, 0, True])), list(itertools.compress([], [1]))",
    "[(k, list(g)) for k, g in itertools.groupby('aabbbc')], [k for k, g in itertools.groupby('aaba')], [(k, list(g)) for k, g in itertools.groupby([1, 3, 2, 4, 5], lambda v: v % 2)]", "[list(g) for _, g in list(itertools.groupby('aab'))]", "[(g := itertools.groupby('aab')), (a := next(g)[1]), next(a), next(g)[0], list(a)][2:]", "[(a := itertools.tee([1, 2, 3])), next(a[0]), list(a[1]), list(a[0])][1:]", "[list(v) for v in itertools.tee('ab', 3)], itertools.tee([1], 0)", "itertools.tee([1], -1)", "[(a := itertools.tee([1, 2, 3])[0]), next(a), (b := itertools.tee(a)), next(b[0]), list(b[1]), list(a), b[0] is a][3:]",
    "list(itertools.product('ab', [1, 2])), list(itertools.product()), list(itertools.product([], [1])), list(itertools.product('ab', repeat=2)), list(itertools.product([1], repeat=0)), len(list(itertools.product(range(3), repeat=3)))", "list(itertools.combinations('abcd', 2)), list(itertools.combinations('abc', 0)), list(itertools.combinations('ab', 3)), list(itertools.combinations([], 0)), list(itertools.combinations(range(5), 4))", "list(itertools.combinations_with_replacement('abc', 2)), list(itertools.combinations_with_replacement([], 2)), list(itertools.combinations_with_replacement([], 0)), list(itertools.combinations_with_replacement('a', 3))",
    "list(itertools.permutations('abc')), list(itertools.permutations('abc', 2)), list(itertools.permutations('ab', 3)), list(itertools.permutations([])), list(itertools.permutations(range(4), 1))", "next(itertools.product(range(1000), repeat=4)), next(itertools.permutations(range(100))), next(itertools.combinations(range(300), 150))[-1], list(itertools.permutations(range(9), 12))", "itertools.product([1], repeat=-1)", "itertools.combinations([1], -1)", "itertools.product(5)", "[(c := itertools.count(3, 2)), next(c), next(c), next(c)][1:], next(itertools.count()), next(itertools.count(step=2.5, start=1))", "itertools.count('a')",
    "zip([1], [2, 3], strict=True).__next__()", "list(zip([1], [2, 3], strict=True))", "list(zip([1, 2], [3], strict=True))", "list(zip([1, 2], [3, 4], strict=True)), list(zip(strict=True))", "dict(zip('ab', iter([1, 2]))), dict(iter([('a', 1)])), list(dict.fromkeys(iter('ab'))), set(iter('aa'))", "iter(5, 6)", "list(map(next, [iter([1]), iter([]), iter([2])])), list(iter(iter([1]).__next__, 5)), next(map(next, [iter([])]), 'end')", "next(map(next, [iter([])]))", "list(iter(lambda: 5, 5)), next(iter(lambda: 5, 6)), list(iter(iter([1, 2, 3]).__next__, 3))",
    "functools.reduce(lambda a, b: a * b, (v for v in (1, 2, 3))), functools.reduce(lambda a, b: a + [b], iter('ab'), [])", "functools.reduce(lambda a, b: a, iter([]))", "math.prod(v for v in (2, 3)), math.fsum(iter([0.5, 0.25]))", "sorted(iter([2, 1])), sum(iter([1, 2]), 10), min(iter([2, 1]), default=0), max(iter([]), default=7), min(v for v in (3, 1, 2))", "max(iter([]))", "'-'.join(iter('abc')), '-'.join(map(str, range(3))), str.join('', (c for c in 'ab'))", "tuple(map(int, '1 2 3'.split())), list(map(max, [1, 5], [3, 2])), list(map(len, {'a': 1, 'bc': 2}))",
    "max(map(len, ['a', 'bcd'])), sum(map(lambda v: v[0] * v[1], zip([1, 2], [3, 4])))", "list(filter(lambda v: v % 2, range(6))), list(filter(None, 'a')), list(filter(str.isdigit, 'a1b2'))", "[1, 2] + list(iter([3])), [*map(str, [1])], (*reversed([1, 2]),), {*zip([1], [2])}, {**dict(enumerate('a'))}", "[1] + iter([2])", "torch.Size(v for v in (1, 2)), torch.Size(map(int, '34'))", "x.permute(*reversed(range(4))).shape, x.reshape(*map(int, ('6', '20'))).shape",
]

BODIES = [
    """
    seen = []
    first = next(v for v in noted(seen, [1, 2, 3]) if v > 1)
    found = any(v == 1 for v in noted(seen, [1, 5, 6]))
    inside = 5 in noted(seen, [4, 5, 6])
    pairs = list(zip(noted(seen, 'abc'), noted(seen, [7, 8])))
    return first, found, inside, pairs, seen
    """,
    """
    seen = []
    g = noted(seen, [1, 2])
    before = list(seen)
    m = map(lambda v: seen.append(-v), g)
    f = filter(lambda v: v is None, m)
    between = list(seen)
    next(f)
    return before, between, seen, list(f), seen
    """,
    """
    out = []
    it = iter(range(6))
    for v in it:
        out.append((v, next(it, None)))
    for v in it:
        out.append('never')
    return out
    """,
    """
    it = enumerate('abcdef')
    out = []
    for i, c in it:
        out.append(c)
        if i == 1:
            out.append(next(it))
        if i == 3:
            break
    return out, list(it)
    """,
    """
    values = [1, 2, 3]
    out = []
    for v in values:
        out.append(v)
        if v < 3 and len(values) < 6:
            values.append(v + 10)
        if v == 2:
            values.remove(1)
    it = iter(values)
    list(it)
    values.append(9)
    return out, values, list(it)
    """,
    """
    values = [1, 2, 3, 4]
    for v in values:
        values.remove(v)
    back = reversed(values)
    values.append(7)
    values.insert(0, 8)
    return values, list(back)
    """,
    """
    d = {'a': 1, 'b': 2}
    for k in d:
        d[k] += 1
    it = iter(d)
    first = next(it)
    d['c'] = 3
    return d, first, next(it)
    """,
    """
    s = {1, 2}
    for v in s:
        s.add(v + 10)
    """,
    """
    d = {1: 2, 3: 4}
    for k in d:
        del d[k]
    """,
    """
    seen = []
    for v in guarded(seen, 5):
        if v == 2:
            break
    seen.append('after')
    return seen
    """,
    """
    seen = []
    g = guarded(seen, 2)
    out = [next(g), list(g), list(g)]
    return out, seen
    """,
    """
    seen = []
    g = guarded(seen, 5)
    out = [next(g), g.throw(ValueError('from outside')), next(g, 'end')]
    return out, seen
    """,
    """
    seen = []
    g = guarded(seen, 5)
    next(g)
    try:
        g.throw(KeyError('k'))
    except KeyError as e:
        seen.append(e.args[0])
    return list(g), seen
    """,
    """
    seen = []
    g = guarded(seen, 5)
    next(g)
    g.close()
    g.close()
    return list(g), seen
    """,
    """
    seen = []
    unstarted = guarded(seen, 5)
    unstarted.close()
    del unstarted
    try:
        guarded(seen, 1).throw(ValueError('early'))
    except ValueError as e:
        seen.append(str(e))
    return seen
    """,
    """
    seen = []
    g = guarded(seen, 3)
    next(g)
    g = None
    seen.append('gone')
    def f():
        for v in guarded(seen, 9):
            return v
    f()
    seen.append('returned')
    first = next(guarded(seen, 4))
    seen.append(first)
    return seen
    """,
    """
    def f():
        try:
            yield 1
            yield 2
        finally:
            yield 3
    g = f()
    next(g)
    g.close()
    """,
    """
    def f():
        value = yield 'ready'
        while value != 'stop':
            try:
                value = yield value * 2
            except ValueError as e:
                value = 'error ' + str(e)
        return 'stopped'
    g = f()
    out = [next(g), g.send('a'), g.send('b'), g.throw(ValueError('v')), g.send('c')]
    try:
        g.send('stop')
    except StopIteration as e:
        out.append(e.value)
    return out
    """,
    """
    def inner():
        got = yield 1
        seen.append(got)
        yield 2
        return 'result'
    def outer():
        result = yield from inner()
        seen.append(result)
        total = yield from [3, 4]
        seen.append(total)
        yield from ()
        yield 5
    seen = []
    g = outer()
    out = [next(g), g.send('sent')] + list(g)
    return out, seen
    """,
    """
    def inner():
        try:
            yield 1
        except ValueError:
            yield 'handled'
        finally:
            seen.append('inner')
    def outer():
        try:
            yield from inner()
            yield 2
        finally:
            seen.append('outer')
    seen = []
    g = outer()
    out = [next(g), g.throw(ValueError), next(g)]
    g.close()
    h = outer()
    next(h)
    h.close()
    return out, seen
    """,
    """
    def f():
        yield 1
        next(iter([]))
        yield 2
    g = f()
    next(g)
    next(g)
    """,
    """
    list(next(iter([])) for _ in range(2))
    """,
    """
    def f():
        yield next(g)
    g = f()
    next(g)
    """,
    """
    def f():
        for i in range(3):
            yield i
        else:
            yield 'else'
        while True:
            yield 'while'
            if i > 1:
                break
        else:
            yield 'never'
        if i:
            yield 'if'
        elif i > 5:
            yield 'elif'
        else:
            yield 'never'
        return
        yield 'never'
    return list(f())
    """,
    """
    def f():
        for i in range(4):
            try:
                if i == 1:
                    continue
                if i == 3:
                    break
                yield i
                if i == 2:
                    raise ValueError('two')
            except ValueError:
                yield 'caught'
            else:
                yield 'fine'
            finally:
                yield ('finally', i)
        try:
            return
        finally:
            yield 'last'
    return list(f())
    """,
    """
    def f():
        try:
            raise KeyError('k')
        except KeyError:
            yield 1
            try:
                raise
            except KeyError as e:
                yield e.args[0]
    g = f()
    out = [next(g)]
    try:
        raise ValueError('v')
    except ValueError:
        out.append(next(g))
        try:
            raise
        except ValueError as e:
            out.append(str(e))
    return out
    """,
    """
    def f():
        try:
            return 1
        finally:
            for _ in range(3):
                try:
                    return 2
                finally:
                    break
    def g():
        for i in range(3):
            try:
                return i
            finally:
                if i < 2:
                    continue
    def h():
        for i in range(2):
            try:
                return 5
            finally:
                break
    return f(), g(), h()
    """,
    """
    def numbers(n):
        yield n
        if n > 0:
            yield from numbers(n - 1)
    a, b, *rest = numbers(4)
    (c, d), e = (v for v in (numbers(1), 'e'))
    return a, b, rest, c, d, e
    """,
    """
    it = iter([1, 2, 3, 4])
    try:
        a, b = it
    except ValueError:
        return list(it)
    """,
    """
    a, b = itertools.count()
    """,
    """
    a, b, c = iter([1, 2])
    """,
    """
    out = [0]
    try:
        out.extend(failing(2))
    except ValueError:
        pass
    d = {}
    try:
        d.update((v, v) for v in failing(2))
    except ValueError:
        pass
    s = set()
    try:
        s.update(failing(1), failing(2))
    except ValueError:
        pass
    out += (v for v in (7, 8))
    out[1:2] = iter('xy')
    out.extend(out)
    return out, d, s
    """,
    """
    adders = [lambda v, k=k: v + k for k in range(3)]
    late = (f(1) for f in adders)
    adders.append(lambda v: 100)
    n = 5
    g = (v * n for v in range(3))
    n = 10
    return list(late), list(g)
    """,
    """
    def chunks(values, size):
        it = iter(values)
        while chunk := tuple(itertools.islice(it, size)):
            yield chunk
    def flatten(values):
        for v in values:
            if isinstance(v, (list, tuple)):
                yield from flatten(v)
            else:
                yield v
    return list(chunks(range(7), 3)), list(flatten([1, [2, (3, [4])], []])), list(chunks([], 2))
    """,
    """
    def primes():
        known = []
        for n in itertools.count(2):
            if all(n % p for p in known):
                known.append(n)
                yield n
    return list(itertools.islice(primes(), 8)), next(p for p in primes() if p > 20)
    """,
    """
    def sieve(numbers):
        first = next(numbers)
        yield first
        yield from sieve(v for v in numbers if v % first)
    return list(itertools.islice(sieve(itertools.count(2)), 6))
    """,
    """
    def fib():
        a, b = 0, 1
        while True:
            yield a
            a, b = b, a + b
    small = list(itertools.takewhile(lambda v: v < 50, fib()))
    a, b = itertools.tee(small)
    next(b)
    return small, [p for p in zip(a, b)], [v for i, v in enumerate(fib()) if i < 5][:0] if False else []
    """,
    """
    class_like = {'n': 0}
    def tick():
        class_like['n'] += 1
        return class_like['n']
    return list(iter(tick, 4)), class_like
    """,
    """
    try:
        for v in failing(2):
            last = v
    except ValueError as e:
        return last, str(e)
    """,
    """
    it = iter(failing(1))
    out = [next(it)]
    for _ in range(2):
        try:
            out.append(next(it))
        except ValueError:
            out.append('failed')
        except StopIteration:
            out.append('ended')
    return out
    """,
    """
    it = map(lambda v: 6 // v, [3, 0, 2])
    out = [next(it)]
    try:
        next(it)
    except ZeroDivisionError:
        out.append('zero')
    return out + list(it)
    """,
    """
    g = (6 // v for v in [3, 0, 2])
    out = [next(g)]
    try:
        next(g)
    except ZeroDivisionError:
        out.append('zero')
    return out + list(g)
    """,
    """
    order = []
    def note(v):
        order.append(v)
        return v
    z = zip(map(note, [1, 2]), map(note, [10, 20]), map(note, [100]))
    rows = list(z)
    p = itertools.product(map(note, 'ab'), [1])
    order.append('made')
    list(p)
    c = itertools.chain(map(note, 'x'), map(note, 'y'))
    next(c)
    order.append('one')
    return rows, order, list(c)
    """,
    """
    with contextlib.suppress(ValueError):
        for v in failing(1):
            got = v
    def f():
        with contextlib.suppress(KeyError):
            yield 1
            {}['k']
            yield 'never'
        yield 2
    return got, list(f())
    """,
    """
    seen = []
    @contextlib.contextmanager
    def within(name):
        seen.append('enter ' + name)
        try:
            yield name
        finally:
            seen.append('leave ' + name)
    def f():
        with within('a') as a, within('b') as b:
            for v in (a, b):
                yield v
    for v in f():
        break
    out = list(f())
    c = within('c')
    with c as d:
        seen.append(d)
    def g():
        for _ in range(2):
            with within('loop'):
                return 'r'
    with within('e'):
        pass
    return out, seen, g(), seen
    """,
    """
    @contextlib.contextmanager
    def replaces():
        try:
            yield
        except ValueError:
            raise KeyError('replaced')
    try:
        with replaces():
            raise ValueError('v')
    except KeyError as e:
        return e.args
    """,
    """
    @contextlib.contextmanager
    def twice():
        yield 1
        yield 2
    with twice():
        pass
    """,
    """
    @contextlib.contextmanager
    def never():
        if False:
            yield 1
    with never():
        pass
    """,
    """
    @contextlib.contextmanager
    def swallow():
        try:
            yield
        except Exception:
            pass
    with swallow():
        raise StopIteration
    with swallow():
        next(iter([]))
    @contextlib.contextmanager
    def plain():
        yield
    with plain():
        raise StopIteration('out')
    """,
    """
    def f():
        x0 = 1
        def g():
            nonlocal x0
            while x0 < 4:
                yield x0
                x0 += 1
        return list(g()), x0
    return f()
    """,
    """
    k = 0
    try:
        try:
            raise ValueError('a')
        except ValueError as k:
            pass
        return k
    except NameError:
        return 'unbound'
    """,
]


def pipeline(seed):
    """A program of a few iterators made of one another, which are then asked in a random order."""
    r = random.Random(seed)
    lines, names = ["seen = []"], []

    def source():
        pick = [lambda: r.choice(names) if names else "iter([4, 5])", lambda: f"range({r.randrange(7)})", lambda: str([r.randrange(9) for _ in range(r.randrange(6))]), lambda: f"noted(seen, {[r.randrange(9) for _ in range(r.randrange(5))]})", lambda: f"failing({r.randrange(4)})", lambda: f"guarded(seen, {r.randrange(4)})",
                lambda: f"itertools.islice(naturals(), {r.randrange(3)}, {r.randrange(9)}, {r.randrange(1, 4)})", lambda: f"tree({r.randrange(4)})"]
        return r.choice(pick)()

    def number(v):
        return f"(lambda v: v if isinstance(v, int) else 0)({v})"

    def made():
        pick = [lambda: f"iter({source()})", lambda: f"map(lambda v: (v, 1), {source()})", lambda: f"filter(lambda v: {number('v')} % 2 == 0, {source()})", lambda: f"zip({source()}, {source()})", lambda: f"enumerate({source()}, {r.randrange(3)})", lambda: f"(v for v in {source()} if {number('v')} != {r.randrange(5)})",
                lambda: f"((v, w) for v in {source()} for w in {source()})", lambda: f"itertools.chain({source()}, {source()})", lambda: f"itertools.islice({source()}, {r.randrange(5)})", lambda: f"itertools.pairwise({source()})", lambda: f"itertools.takewhile(lambda v: {number('v')} < {r.randrange(6)}, {source()})",
                lambda: f"itertools.dropwhile(lambda v: {number('v')} < {r.randrange(4)}, {source()})", lambda: f"itertools.zip_longest({source()}, {source()}, fillvalue='-')", lambda: f"itertools.accumulate({source()}, lambda a, b: (a, b))", lambda: f"itertools.starmap(lambda *v: v, zip({source()}, {source()}))", lambda: f"itertools.compress({source()}, {source()})",
                lambda: f"itertools.tee({source()})[{r.randrange(2)}]", lambda: f"itertools.islice(itertools.cycle({source()}), {r.randrange(9)})", lambda: f"itertools.filterfalse(lambda v: {number('v')} > 2, {source()})", lambda: f"map(lambda a, b: (a, b), {source()}, {source()})", lambda: f"itertools.chain.from_iterable([{source()}, {source()}])",
                lambda: f"((k, list(g)) for k, g in itertools.groupby({source()}, lambda v: {number('v')} // 3))", lambda: f"map(lambda g: g[0], itertools.groupby({source()}))"]
        return r.choice(pick)()

    for i in range(r.randrange(2, 5)):
        lines.append(f"i{i} = {made()}")
        names.append(f"i{i}")
    lines.append("out = []")
    for _ in range(r.randrange(3, 8)):
        it, other = r.choice(names), r.choice(names)
        ask = r.choice([f"next({it}, 'end')", f"next({it}, 'end')", f"list(itertools.islice({it}, {r.randrange(12)}))", f"[v for v, _ in zip({it}, range({r.randrange(4)}))]", f"[(v, next({other}, 'end')) for v in itertools.islice({it}, 3)]", f"any(v == {r.randrange(5)} for v in itertools.islice({it}, 9))", f"{r.randrange(5)} in itertools.islice({it}, 9)", f"next({it})", f"first({it})"])
        lines += ["try:", f"    out.append({ask})", "except ValueError as e:", "    out.append(str(e))", "except StopIteration:", "    out.append('stop')", "seen.append('|')"]
    return "\n".join([*lines, "return out, list(seen)"]) + "\n"


def body_of_generator(seed):
    """A generator of random statements, which is asked, told to raise and closed in a random order."""
    r = random.Random(seed)
    count = [0]

    def note():
        count[0] += 1
        return f"seen.append({count[0]})"

    def simple(loops):
        pick = [f"yield {r.randrange(100)}", f"yield {r.randrange(100)}", "got = yield len(seen)", note(), note(), "raise ValueError('v')", "raise KeyError('k')", "return 'r'", "yield from (7, 8)", "got = yield from inner(seen)", "seen.append(repr(got))", "{}['x']"]
        if loops:
            pick += ["break", "continue"]
        return [r.choice(pick)]

    def block(depth, loops):
        out = []
        for _ in range(r.choice([1, 1, 2, 3])):
            out += statement(depth, loops)
        return out

    def indented(head, lines):
        return [head, *("    " + line for line in lines)]

    def statement(depth, loops):
        kind = r.randrange(9) if depth > 0 else 8
        if kind < 2:
            out = indented(f"for i{depth} in range({r.randrange(1, 4)}):", block(depth - 1, True))
            return out + (indented("else:", block(depth - 1, loops)) if r.randrange(3) == 0 else [])
        if kind == 2:
            return [f"n{depth} = 0"] + indented(f"while n{depth} < {r.randrange(1, 4)}:", [f"n{depth} += 1", *block(depth - 1, True)])
        if kind == 3:
            return indented(f"if len(seen) % {r.randrange(2, 4)} == 0:", block(depth - 1, loops)) + indented("else:", block(depth - 1, loops))
        if kind == 4:
            return indented(r.choice(["with context(seen, 'a') as got:", "with swallow(seen):", "with context(seen, 'x'), swallow(seen):", "with contextlib.suppress(KeyError):", "with Ends(seen, 1):", "with Ends(seen, 0):"]), block(depth - 1, loops))
        if kind < 8:
            out = indented("try:", block(depth - 1, loops))
            handlers = r.sample(["except ValueError as e:", "except KeyError:", "except (IndexError, KeyError) as e:"], r.randrange(3))
            if r.randrange(6) == 0:
                handlers.append(r.choice(["except:", "except BaseException:"]))
            for head in handlers:
                tail = ["raise"] if r.randrange(5) == 0 else []
                out += indented(head, block(depth - 1, loops) + tail)
            if handlers and r.randrange(3) == 0:
                out += indented("else:", block(depth - 1, loops))
            if not handlers or r.randrange(2) == 0:
                out += indented("finally:", block(depth - 1, loops))
            return out
        return simple(loops)

    lines = indented("def f(seen):", ["got = None", *block(r.randrange(2, 4), False), "yield 'last'"])
    lines += ["seen = []", "out = []", "g = f(seen)"]
    asks = ["next(g)"] * 6 + ["next(g, 'end')", "g.send(5)", "g.throw(ValueError('t'))", "g.throw(KeyError)", "g.close()", "list(itertools.islice(g, 4))", "first(g)"]
    for _ in range(r.randrange(4, 12)):
        lines += ["try:", f"    out.append({r.choice(asks)})", "except StopIteration as e:", "    out.append(('stop', e.value))", "except BaseException as e:", "    out.append(type(e).__name__)", "seen.append('|')"]
    return "\n".join([*lines, "return out, list(seen)"]) + "\n"

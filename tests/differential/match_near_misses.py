#!/usr/bin/env python3
"""Near misses must be explained: a pattern that matches is spoilt in one way, and the first reason must name that way and both lines.

    match_near_misses.py [--cases 2000] [--seed 1] [--only CASE] [--graphs LIST --root DIR] [--tool build/match_tool]

A spoilt pattern may fit another place of the graph as well as its own; then another reason is right too. Cases whose target occurs only once in the
graph leave no choice and must all be right.
"""
import argparse, collections, json, os, random, subprocess, sys, tempfile
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import match_cases, match_mutations, match_oracle, match_patterns
from match_patterns import Ref


def spoil_literal(p, rng):
    places = match_mutations.literal_places(p, (int, float))
    places = [(s, i) for s, i in places if not isinstance(s.args[i], bool) and s.target != "operator.getitem"]
    if places:
        s, i = rng.choice(places)
        s.args[i] = s.args[i] + 1
        return s


def spoil_keyword(p, rng):
    s = match_mutations.pick(rng, [s for s in p.statements if len(s.args) > 1 and s.target.startswith("torch.")])
    if s:
        s.kwargs = {"spelled": s.args.pop(), **s.kwargs}
    return s


def spoil_method(p, rng):
    s = match_mutations.pick(rng, [s for s in p.statements if s.kind == "function" and s.target.startswith("torch.") and s.args and isinstance(s.args[0], Ref)])
    if s:
        s.kind, s.target = "method", s.target.rpartition(".")[2]
    return s


def spoil_operands(p, rng):
    names = {s.name for s in p.statements}
    s = match_mutations.pick(rng, [s for s in p.statements if s.kind == "function" and len(s.args) == 2 and not s.kwargs and s.target in ("operator.add", "operator.mul", "operator.sub", "torch.matmul", "operator.truediv")
                                   and (s.args[0] in names) != (s.args[1] in names)])
    if s:
        s.args.reverse()
    return s


def spoil_returned(p, rng):
    if len(p.returned) < 2:
        return None
    inner = [r for r in p.returned if any(r in match_values(s) for s in p.statements)]
    if inner:
        gone = rng.choice(inner)
        p.returned.remove(gone)
        return next(s for s in p.statements if s.name == gone)


def match_values(s):
    out = []
    match_patterns.map_value([*s.args, *s.kwargs.values()], out.append)
    return [v for v in out if isinstance(v, Ref)]


WAYS = {"ATTR_MISMATCH": spoil_literal, "ARG_MISMATCH": spoil_keyword, "OP_MISMATCH": spoil_method, "NOT_CONTAINED": spoil_returned, "ARG_MISMATCH (swapped)": spoil_operands}


def make(cases, number):
    rng = random.Random(f"{cases.opt.seed} near miss {number}")
    folder, graph = cases.graph(number, rng)
    pattern = match_patterns.cut(graph, rng) if len(graph.nodes) <= match_cases.LARGEST else None
    if pattern is None:
        return None
    read = match_oracle.TextGraph(pattern.text(random.Random(0)), "pattern")
    if match_oracle.search_size(graph, read) > match_cases.MOST_COMBINATIONS:
        return None
    before = match_oracle.find_matches(graph, read)
    if not before or len(before) != 1:
        return None
    way = rng.choice(list(WAYS))
    names = [s.name for s in pattern.statements]
    spoilt = WAYS[way](pattern, rng)
    if spoilt is None:
        return None
    text = pattern.text(random.Random(0))
    again = match_oracle.TextGraph(text, "pattern")
    if match_oracle.find_matches(graph, again) != []:
        return None
    node = graph.nodes[before[0][names.index(spoilt.name)]]
    alone = all(sum(n.target == graph.nodes[i].target for n in graph.nodes) == 1 for i in before[0][:len(names)])
    line = next(i for i, l in enumerate(text.splitlines(), 1) if l.strip().startswith(f"{spoilt.name} = "))
    return {"number": number, "folder": folder, "text": text, "way": way, "want": [way.split(" ")[0], line, node.meta["line"]], "alone": alone}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cases", type=int, default=2000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", type=int)
    p.add_argument("--graphs", action="append", default=[])
    p.add_argument("--root")
    p.add_argument("--made", type=float, default=0.2)
    p.add_argument("--tool", default=os.path.join(HERE, "..", "..", "build", "match_tool"))
    opt = p.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        cases = match_cases.Cases(opt, scratch)
        made = []
        for number in [opt.only] if opt.only is not None else range(opt.cases * 40):
            made += [c for c in [make(cases, number)] if c]
            if len(made) == opt.cases:
                break
        lines = "".join(f"graph {c['folder']}\nexplain strict {len(c['text'].encode())}\n{c['text']}\n" for c in made)
        answers = [json.loads(l) for l in subprocess.run([opt.tool], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()]
    right, total, failed = collections.Counter(), collections.Counter(), 0
    for c, answer in zip(made, answers, strict=True):
        total[c["way"]] += 1
        ok = bool(answer) and answer[0] == c["want"]
        right[c["way"]] += ok
        if (not ok and c["alone"]) or opt.only is not None:
            failed += not ok
            print(f"{'ok' if ok else 'FAILED'}: --seed {opt.seed} --only {c['number']} {c['way']}: expected {c['want']}, got {answer[:3]}")
            if opt.only is not None:
                print(c["folder"], c["text"], sep="\n")
    print(f"seed {opt.seed}: {len(made)} near misses, {failed} wrong; named first: " + ", ".join(f"{w} {right[w]}/{total[w]}" for w in WAYS))
    print(f"{len(made) - failed} passed, {failed} failed")
    return 1 if failed or not made else 0


if __name__ == "__main__":
    sys.exit(main())

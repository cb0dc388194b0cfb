#!/usr/bin/env python3
"""Matching against torch.fx: random pieces of graphs as patterns, mutated; strict must give torch.fx's matches in its order, and `normal` must
not care how the same pattern is spelled.

    match_cases.py [--pairs 10000] [--seed 1] [--only CASE] [--graphs LIST --root DIR] [--tool build/match_tool] [--keep FOLDER]

Graphs: the samples, those of --graphs, and graphs made at random (--made is their share). A case's number and the seed make it: --only reruns one and
prints it. Ends with the shares of pairs that match, have several outputs and several matches, and fails where something differs.
"""
import argparse, collections, json, os, random, subprocess, sys, tempfile
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import match_mutations, match_oracle, match_patterns

LARGEST = 400  # nodes: the oracle compares every pair of candidates
MOST_COMBINATIONS = 20000
NUMBERS = ["float('nan')", "float('inf')", "-0.0", "0.0", "0", "False", "None"]


def made_graph(rng):
    """A small random graph with few operators, so that pieces of it occur often."""
    count = rng.randint(1, 3)
    variables = [f"in_{i}" for i in range(count)]
    body = []
    near = lambda: rng.choice(variables[-4:] if rng.random() < 0.7 else variables)
    forms = [
        lambda: f"torch.relu({near()})", lambda: f"{near()}.sum({rng.choice([0, 1, -1])})", lambda: f"{near()} + {near()}", lambda: f"{near()} * {rng.choice(['2', '2.0', near()])}",
        lambda: f"torch.cat([{near()}, {near()}], dim={rng.choice([0, 1])})", lambda: f"{near()}[slice(None, {rng.choice(['1', '2', 'None'])}, None)]", lambda: f"{near()}.view({rng.choice(['1, -1', '(1, -1)'])})",
        lambda: f"torch.nn.functional.dropout({near()}, {rng.choice(['0.0, False, False', '0.0', 'p=0.0, training=False', '0.1, training=False'])})",
        lambda: f"torch.nn.functional.linear({near()}, {near()}, {rng.choice(['None', near()])})", lambda: f"torch._C._nn.linear({near()}, {near()}, bias=None)",
        lambda: f"torch.ops.aten.add.Tensor({near()}, {near()}{rng.choice(['', ', alpha=1', ', alpha=2'])})", lambda: f"{near()}.T",
        lambda: f"{near()}[slice(None, {near()}, {rng.choice(['None', '1'])})]", lambda: f"torch.full_like({near()}, {rng.choice(NUMBERS)})",
        lambda: f"{near()}.clamp({rng.choice(['1, 1.0', '1, True', '1, 1', '1, 2'])})", lambda: f"{near()}.sum([{near()}, 1], {rng.choice(['(1, 1)', '[1, 1.0]'])})",
        lambda: f"torch.zeros(2, device=device(type='cpu'), dtype={rng.choice(['torch.float32', 'torch.float', 'torch.int64'])})",
    ]
    forms = rng.sample(forms, rng.randint(2, 6))
    for i in range(rng.randint(3, 30)):
        if rng.random() < 0.07:
            changed = rng.choice(variables)
            body.append(f"{changed} {rng.choice(['+=', '*='])} {rng.choice([near(), '1'])}")
            continue
        body.append(f"tmp_{i} = {rng.choice(forms)()}")
        variables.append(f"tmp_{i}")
    returned = ", ".join(rng.sample(variables, min(len(variables), rng.randint(1, 3))))
    head = "import torch\nfrom torch import device\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, " + ", ".join(f"in_{i}" for i in range(count)) + "):\n"
    return head + "".join(f"        {line}\n" for line in body) + f"        return ({returned},)\n"


class Cases:
    def __init__(self, opt, scratch):
        self.opt, self.scratch, self.kept = opt, scratch, {}
        self.folders = []
        lists = [(os.path.join(HERE, "..", "..", "samples", "all.txt"), None)] + [(g, opt.root) for g in opt.graphs]
        for path, root in lists:
            root = root or os.path.dirname(os.path.abspath(path))
            self.folders += [os.path.join(root, line.split("\t")[-1].strip()) for line in open(path) if line.strip()]

    def graph(self, number, rng):
        """(folder, TextGraph). A made graph serves twenty cases."""
        if number // 20 % 100 < self.opt.made * 100 or not self.folders:
            key = number // 20
            folder = os.path.join(self.scratch, f"graph_{key}")
            if key not in self.kept:
                text = made_graph(random.Random(f"{self.opt.seed} graph {key}"))
                os.makedirs(folder, exist_ok=True)
                open(os.path.join(folder, "model.py"), "w").write(text)
                self.kept[key] = match_oracle.TextGraph(text, "forward")
            return folder, self.kept[key]
        folder = self.folders[random.Random(f"{self.opt.seed} folder {number // 20}").randrange(len(self.folders))]
        if folder not in self.kept:
            self.kept[folder] = match_oracle.TextGraph(open(os.path.join(folder, "model.py")).read(), "forward")
        return folder, self.kept[folder]

    def case(self, number):
        """A case, or None where the draw gives no pair that the oracle can do."""
        rng = random.Random(f"{self.opt.seed} case {number}")
        folder, graph = self.graph(number, rng)
        pattern = match_patterns.cut(graph, rng) if len(graph.nodes) <= LARGEST else None
        if pattern is None:
            return None
        mutations = [rng.choice(match_mutations.NEAR_MISSES) for _ in range(rng.choice([0, 0, 0, 1, 1, 2]))]
        for mutate in mutations:
            mutate(pattern, rng)
        spelling = rng.random()
        text = pattern.text(random.Random(spelling))
        read = match_oracle.TextGraph(text, "pattern")
        if match_oracle.search_size(graph, read) > MOST_COMBINATIONS:
            return None
        again = pattern.copy()
        respelled = again.text(random.Random(spelling)) if match_mutations.respell(again, rng) else None
        return {"number": number, "folder": folder, "graph": graph, "text": text, "read": read, "respelled": respelled, "mutations": [m.__name__ for m in mutations]}


def ask(tool, cases):
    """For every case our answers: strict, normal, and normal of the respelled pattern (None without one)."""
    out, lines = [], []
    folder = None
    for c in cases:
        if c["folder"] != folder:
            folder = c["folder"]
            lines.append(f"graph {folder}\n")
        for mode, text in (("strict", c["text"]), ("normal", c["text"]), ("normal", c["respelled"])):
            if text is not None:
                lines.append(f"pattern {mode} {len(text.encode())}\n{text}\n")
    done = subprocess.run([tool], input="".join(lines), capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{tool}: exit {done.returncode}\n{done.stderr[-2000:]}")
    answers = iter(done.stdout.splitlines())
    for c in cases:
        out.append([next(answers), next(answers), next(answers) if c["respelled"] is not None else None])
    return out


def compare(case, answers):
    """(torch.fx's matches, what is wrong)"""
    expected = match_oracle.find_matches(case["graph"], case["read"])
    strict, normal, respelled = [a if a is None or a.startswith("error") else [] if a.startswith("invalid") else json.loads(a) for a in answers]
    wrong = []
    if strict != (expected or []):
        wrong.append(f"strict: torch.fx {expected}, ours {answers[0]}")
    if expected and not normal:
        wrong.append(f"normal finds nothing where strict does: {answers[1]}")
    if respelled is not None and respelled != normal:
        wrong.append(f"respelled: {answers[2]}, original {answers[1]}")
    return expected, wrong


def show(case):
    print(f"graph {case['folder']}\nmutations {case['mutations']}\n{case['text']}")
    if case["respelled"] is not None:
        print("respelled:\n" + case["respelled"])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pairs", type=int, default=10000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", type=int, help="one case by its number")
    p.add_argument("--graphs", action="append", default=[], help="a list of graph folders")
    p.add_argument("--root", help="what the lists' paths are relative to")
    p.add_argument("--made", type=float, default=0.4, help="share of graphs made at random")
    p.add_argument("--tool", default=os.path.join(HERE, "..", "..", "build", "match_tool"))
    opt = p.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        cases = Cases(opt, scratch)
        numbers = iter([opt.only]) if opt.only is not None else iter(range(opt.pairs * 3))
        seen, failed = collections.Counter(), 0
        while seen["pairs"] < opt.pairs:
            batch = []
            for number in numbers:
                case = cases.case(number)
                batch += [case] if case else []
                if len(batch) == min(2000, opt.pairs - seen["pairs"]):
                    break
            if not batch:
                break
            for case, answers in zip(batch, ask(opt.tool, batch)):
                expected, wrong = compare(case, answers)
                seen["pairs"] += 1
                seen["match"] += bool(expected)
                seen["several outputs"] += len(case["read"].fx.output_node().all_input_nodes) > 1
                seen["several matches"] += bool(expected) and len(expected) > 1
                seen["respelled"] += case["respelled"] is not None
                seen["respelled that match"] += case["respelled"] is not None and answers[2] not in ("[]",) and answers[2].startswith("[")
                if wrong or opt.only is not None:
                    failed += bool(wrong)
                    print(f"{'FAILED' if wrong else 'ok'}: --seed {opt.seed} --only {case['number']}: " + "; ".join(wrong))
                    if opt.only is not None:
                        show(case)
                        print("ours", answers, "\ntorch.fx", expected)
                    if failed > 20:
                        sys.exit("too many differences")
    total = max(1, seen["pairs"])
    print(f"seed {opt.seed}: {seen['pairs']} pairs, {failed} differ; " + ", ".join(f"{k} {100 * seen[k] / total:.1f} %" for k in ("match", "several outputs", "several matches", "respelled", "respelled that match")))
    print(f"{seen['pairs'] - failed} passed, {failed} failed")
    return 1 if failed or not seen["pairs"] else 0


if __name__ == "__main__":
    sys.exit(main())

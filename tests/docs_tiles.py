#!/usr/bin/env python3
"""What docs/tiles.md says and the code decides: the builtins of kernels, the ops of tile IR, the messages.

    docs_tiles.py            compares the tables with src/tile/builtins.cpp and src/tile/ir.h; looks for every message of
                             a `message` column in the text cases, which show that it is given, and for every builtin
                             that is not refused in those of tests/text/tile/run, which show its values
    docs_tiles.py --write    writes the tables into the document

A table stands between `<!-- NAME: tests/docs_tiles.py -->` and `<!-- end -->`. Ends with `N passed, N failed`.
"""
import glob, os, re, sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
HOMES = [("kTl", "`tl`"), ("kMath", "`tl.math`"), ("kLib", "`libdevice`"), ("kMethod", "method"), ("kPython", "Python"), ("kTriton", "`triton`"), ("kDescriptor", "descriptor"), ("kCuda", "`tl.extra.cuda`")]


def read(path):
    return open(os.path.join(ROOT, path), encoding="utf-8").read()


def cell(text):
    return text.replace("|", "\\|")


def builtins():
    """Rows of BuiltinTable under the comments that head them; functions of one home and signature share a line."""
    text = read("src/tile/builtins.cpp")
    rows = text[text.index("kRows[] = {") : text.index("\n  };\n};")]
    rows = re.sub(r'"\s*\n\s*"', "", rows)  # strings in parts
    lines, count = ["| function | where | arguments |", "|---|---|---|"], 0
    groups = {}
    for heading, name, homes, signature in re.findall(r'// ([^\n]+)|\{"([\w.]+)", ([\w| ]+), "([^"]*)"', re.sub(r",\s*\n\s+", ", ", rows)):
        if heading:
            groups.clear()
            lines.append(f"| **{heading}** | | |")
            continue
        count += 1
        where = ", ".join(word for key, word in HOMES if key in homes.split(" | "))
        at = groups.get((where, signature))
        if at is None:
            groups[where, signature] = len(lines)
            lines.append(f"| `{name}` | {where} | {cell(signature) or 'none'} |")
        else:
            lines[at] = lines[at].replace(" | ", f", `{name}` | ", 1)
    return lines, count, len(re.findall(r"&L::b_", rows))


def supported():
    """Names of builtins that compute something."""
    rows = re.sub(r'"\s*\n\s*"', "", read("src/tile/builtins.cpp"))
    return [name for name, what in re.findall(r'\{"([\w.]+)",\s*[\w| ]+,\s*"[^"]*",\s*&L::(b_\w+)', rows) if what != "b_unsupported"]


def ops():
    text = read("src/tile/ir.h")
    rows = text[text.index("kOps[] = {") : text.index("static_assert([] {")]
    lines, count = ["| op | class | law |", "|---|---|---|"], 0
    for name, kind, law in re.findall(r'\{Code::\w+, "(\w+)", OpClass::(\w+),\s*((?:"[^"]*"\s*)+)\}', rows):
        law = "".join(re.findall(r'"([^"]*)"', law))
        count += 1
        last = lines[-1].split(" | ")
        if not law and last[1] == kind != "unary":  # as the row before
            lines[-1] = " | ".join([last[0] + f", `{name}`", *last[1:]])
        else:
            lines.append(f"| `{name}` | {kind} | {cell(law)} |")
    return lines, count, len(re.findall(r"\{Code::", rows))


def messages(text):
    """What stands in backticks in the columns headed `message`."""
    out, column = [], None
    for line in text.splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if not line.startswith("|"):
            column = None
        elif column is None:
            column = next((i for i, c in enumerate(cells) if c.strip().startswith("message")), -1)
        elif column > 0:
            out += re.findall(r"`([^`]+)`", cells[column])
    return out


def main():
    path = os.path.join(ROOT, "docs", "tiles.md")
    text, passed, failed = read("docs/tiles.md"), 0, 0
    for name, table in (("builtins", builtins()), ("ops", ops())):
        lines, count, rows = table
        place = re.compile(rf"(<!-- {name}: tests/docs_tiles.py -->\n).*?(<!-- end -->\n)", re.S)
        found = place.search(text)
        want = "\n".join(lines) + "\n"
        if count != rows or not found:
            failed += 1
            print(f"FAILED {name}: " + (f"{rows} rows in the code, {count} were read" if found else "no place for it in docs/tiles.md"))
        elif "--write" in sys.argv:
            text = place.sub(lambda m: m[1] + want + m[2], text)
            passed += 1
        elif found[0] != found[1] + want + found[2]:
            failed += 1
            print(f"FAILED {name}: docs/tiles.md differs from the code; run tests/docs_tiles.py --write")
        else:
            passed += 1
    given = "".join(open(f, encoding="utf-8", errors="replace").read() for f in glob.glob(os.path.join(ROOT, "tests/text/**/*.txt"), recursive=True))
    for message in messages(text):
        passed += message in given
        if message not in given:
            failed += 1
            print(f"FAILED no text case gives the message: {message}")
    kernels = "".join(open(f, encoding="utf-8").read() for f in glob.glob(os.path.join(ROOT, "tests/text/tile/run/*.txt")))
    for name in supported():
        tried = re.search(rf"\b{name}\(", kernels) is not None
        passed += tried
        if not tried:
            failed += 1
            print(f"FAILED no case of tests/text/tile/run calls {name}")
    if "--write" in sys.argv:
        open(path, "w", encoding="utf-8").write(text)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

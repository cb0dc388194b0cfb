#!/usr/bin/env python3
"""Runs the text cases: each file holds a command, its input files and the expected output, side by side.

    run_text.py [--binary build/passnet] [--update] [CASE or FOLDER ...]

A case file:
    # what the case shows
    $ passnet graph check .            the commands, run in a fresh folder that holds the input files; no shell
    == model.py                        an input file
    ...
    == stdout                          expected; `...` inside a line matches anything in it, a line `...` any lines
    == stderr                          left out: must be empty
    == exit 1                          left out: 0 (the last command's)
Several commands are run in order and their outputs joined. `== file NAME x COUNT` repeats a generated line COUNT times.
--update writes what came out into the expected sections. Ends with `N passed, N failed`.
"""
import argparse, os, re, shlex, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def read_case(path):
    """(head lines, {section name: text}) with the sections in file order."""
    head, sections, name = [], {}, None
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        if line.startswith("== "):
            name = line[3:].strip()
            sections[name] = ""
        elif name is None:
            head.append(line)
        else:
            sections[name] += line
    return head, sections


def input_text(name, text):
    """(file name, content): a `NAME x COUNT` section repeats its lines, {i} counting."""
    repeated = re.fullmatch(r"(.+?) x (\d+)", name)
    if not repeated:
        return name, text
    before, _, rest = text.partition("<<<\n")
    body, _, after = rest.partition(">>>\n")
    return repeated[1], before + "".join(body.replace("{i}", str(i)).replace("{i-1}", str(i - 1)) for i in range(int(repeated[2]))) + after


def matches(expected, got):
    want = "".join(r"(?:.*\n)*?" if line.strip() == "..." else r".*?".join(map(re.escape, line.split("..."))) for line in expected.splitlines(True))
    return re.fullmatch(want, got) is not None


def run_case(path, binary):
    head, sections = read_case(path)
    commands = [line[2:].strip() for line in head if line.startswith("$ ")]
    special = {k for k in sections if k in ("stdout", "stderr") or k.startswith("exit")}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sections.items():
            if name in special:
                continue
            name, text = input_text(name, text)
            target = os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8", errors="surrogateescape") as f:
                f.write(text)
        out, err, code = "", "", 0
        for command in commands:
            words = [binary if w == "passnet" else w for w in shlex.split(command)]
            env = {**os.environ, "NO_COLOR": "1"}
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="surrogateescape", env=env, timeout=120, stdin=subprocess.DEVNULL)
            out, err, code = out + done.stdout, err + done.stderr, done.returncode
    return head, sections, {"stdout": out, "stderr": err, "exit": code}


def expectations(sections):
    code = next((int(k.split()[1]) for k in sections if k.startswith("exit ")), 0)
    return {"stdout": sections.get("stdout", ""), "stderr": sections.get("stderr", ""), "exit": code}


def update(path, head, sections, got):
    inputs = {k: v for k, v in sections.items() if k not in ("stdout", "stderr") and not k.startswith("exit")}
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write("".join(head))
        for name, text in inputs.items():
            f.write(f"== {name}\n{text}")
        for name in ("stdout", "stderr"):
            if got[name]:
                f.write(f"== {name}\n{got[name]}")
        if got["exit"]:
            f.write(f"== exit {got['exit']}\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("paths", nargs="*", default=[os.path.join(HERE, "text")])
    p.add_argument("--binary", default=os.path.join(HERE, "..", "build", "passnet"))
    p.add_argument("--update", action="store_true")
    opt = p.parse_args()
    binary = os.path.abspath(opt.binary)
    files = []
    for path in opt.paths:
        files += [path] if os.path.isfile(path) else sorted(os.path.join(d, f) for d, _, fs in os.walk(path) for f in fs if f.endswith(".txt"))
    passed = failed = 0
    for path in files:
        try:
            head, sections, got = run_case(path, binary)
        except subprocess.TimeoutExpired:
            head, sections, got = [], {}, {"stdout": "", "stderr": "(timed out)", "exit": -1}
        want = expectations(sections)
        wrong = [k for k in ("stdout", "stderr") if not matches(want[k], got[k])] + (["exit"] if want["exit"] != got["exit"] else [])
        if wrong and opt.update:
            update(path, head, sections, got)
            print(f"updated {os.path.relpath(path)}")
        elif wrong:
            failed += 1
            print(f"FAILED {os.path.relpath(path)}")
            for k in wrong:
                print(f"--- {k}, expected\n{want[k]}\n--- {k}, got\n{got[k]}")
        passed += not wrong
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

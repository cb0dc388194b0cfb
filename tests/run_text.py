#!/usr/bin/env python3
"""Runs the text cases: each file holds a command, its input files and the expected output, side by side.

    run_text.py [--binary build/passnet] [--update] [--jobs 2] [--also WORDS] [CASE or FOLDER ...]

A case file:
    # what the case shows
    $ passnet graph check .            the commands, run in a fresh folder that holds the input files; no shell
    == model.py                        an input file
    ...
    == stdout                          expected; `...` inside a line matches anything in it, a line `...` any lines
    == stderr                          left out: must be empty
    == exit 1                          left out: 0 (the last command's)
    == seconds 5                       left out: 120, for all commands together
Several commands are run in order and their outputs joined. An input file's name may be followed by
    escaped                            Python's escapes (\\xff, \\r) stand for their bytes
    x COUNT                            what stands between the lines <<< and >>> is repeated, {i} counting from 0
    joined                             with x COUNT: the repeated part and what stands before it make one line
--also: words behind every command. --update writes what came out into the expected sections that failed. Ends with `N passed, N failed`.
"""
import argparse, os, re, shlex, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))

WAITING = "another bench on this machine is timing; waiting for it\n"  # said where others use it: no case's own output


def is_expectation(section):
    return section in ("stdout", "stderr") or section.split(" ")[0] in ("exit", "seconds")


def read_case(path):
    """(head lines, {section name: text}) with the sections in file order."""
    head, sections, name = [], {}, None
    for line in open(path, encoding="utf-8", errors="surrogateescape", newline="\n"):
        if line.startswith("== "):
            name = line[3:].strip()
            sections[name] = ""
        elif name is None:
            head.append(line)
        else:
            sections[name] += line
    return head, sections


def input_file(name, text):
    """(file name, bytes) of a section `NAME [x COUNT] [joined] [escaped]`."""
    name, *words = name.split(" ")
    if "x" in words:
        before, _, rest = text.partition("<<<\n")
        body, _, after = rest.partition(">>>\n")
        count = int(words[words.index("x") + 1])
        if "joined" in words:
            before, body = before.rstrip("\n"), body.rstrip("\n")
        text = before + "".join(body.replace("{i}", str(i)).replace("{i-1}", str(i - 1)) for i in range(count)) + after
    content = text.encode("utf-8", "surrogateescape")
    return name, content.decode("unicode_escape").encode("latin-1") if "escaped" in words else content


def matches(expected, got):
    if got and not got.endswith("\n"):
        got += "\n"  # an expected section always ends its last line
    want = "".join(r"(?:.*\n)*?" if line.strip() == "..." else r".*?".join(map(re.escape, line.split("..."))) for line in expected.splitlines(True))
    return re.fullmatch(want, got) is not None


def run_case(path, binary, also=""):
    head, sections = read_case(path)
    commands = [line[2:].strip() for line in head if line.startswith("$ ")]
    if not commands:
        raise ValueError(f"{path}: a case without a command")
    limit = next((float(k.split()[1]) for k in sections if k.startswith("seconds ")), 120)
    if "ASAN_OPTIONS" in os.environ:  # sanitizers take their time
        limit *= 10
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sections.items():
            if is_expectation(name):
                continue
            name, content = input_file(name, text)
            target = os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as f:
                f.write(content)
        out, err, code = "", "", 0
        begin = time.monotonic()
        for command in commands:
            words = [binary if w == os.path.basename(binary) else w for w in shlex.split(f"{command} {also}")]
            env = {**os.environ, "NO_COLOR": "1"}
            left = max(0.1, limit - (time.monotonic() - begin))
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="surrogateescape", env=env, timeout=left, stdin=subprocess.DEVNULL)
            out, err, code = out + done.stdout, err + done.stderr.replace(WAITING, ""), done.returncode
    return head, sections, {"stdout": out, "stderr": err, "exit": code}


def expectations(sections):
    code = next((int(k.split()[1]) for k in sections if k.startswith("exit ")), 0)
    return {"stdout": sections.get("stdout", ""), "stderr": sections.get("stderr", ""), "exit": code}


def update(path, head, sections, got):
    want = expectations(sections)
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as f:
        f.write("".join(head))
        for name, text in sections.items():
            if not is_expectation(name) or name.startswith("seconds "):
                f.write(f"== {name}\n{text}")
        for name in ("stdout", "stderr"):
            text = want[name] if matches(want[name], got[name]) else got[name]
            if text:
                f.write(f"== {name}\n{text}" + ("" if text.endswith("\n") else "\n"))
        if got["exit"]:
            f.write(f"== exit {got['exit']}\n")


def try_case(path, binary, also=""):
    """(sections that differ, head, sections, output)"""
    try:
        head, sections, got = run_case(path, binary, also)
    except subprocess.TimeoutExpired as stopped:
        head, sections = read_case(path)
        got = {"stdout": "", "stderr": f"(no answer after {stopped.timeout:.1f} s)\n", "exit": -1}
    want = expectations(sections)
    wrong = [k for k in ("stdout", "stderr") if not matches(want[k], got[k])] + (["exit"] if want["exit"] != got["exit"] else [])
    return wrong, head, sections, got


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("paths", nargs="*", default=[os.path.join(HERE, "text")])
    p.add_argument("--binary", default=os.path.join(HERE, "..", "build", "passnet"))
    p.add_argument("--update", action="store_true")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--also", default="")
    opt = p.parse_args()
    binary = os.path.abspath(opt.binary)
    files = []
    for path in opt.paths:
        files += [path] if os.path.isfile(path) else sorted(os.path.join(d, f) for d, _, fs in os.walk(path) for f in fs if f.endswith(".txt"))
    passed = failed = 0
    with ThreadPoolExecutor(opt.jobs) as pool:
        for path, (wrong, head, sections, got) in zip(files, pool.map(lambda path: try_case(path, binary, opt.also), files)):
            if wrong and opt.update and got["exit"] >= 0:
                update(path, head, sections, got)
                print(f"updated {os.path.relpath(path)}")
            elif wrong:
                failed += 1
                print(f"FAILED {os.path.relpath(path)}")
                for k in wrong:
                    print(f"--- {k}, expected\n{expectations(sections)[k]}\n--- {k}, got\n{got[k]}")
            passed += not wrong
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())

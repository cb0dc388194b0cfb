#!/usr/bin/env python3
"""Every type of a namespace is defined once: one_definition.py [SOURCE]

Two types of one name in one namespace compile and link as long as no file sees both, and then share their destructors and whatever else the
linker takes for the same function. Types in unnamed namespaces, and inside other types and functions, are their file's own.
"""
import collections
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "src")
NOISE = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^\s*#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace(?:\s+([\w:]+))?$")
TYPE = re.compile(r"(?:struct|class|enum|enum class|union)\s+(\w+)(?:\s+final)?(?:\s*:[^:].*)?$", re.S)


def types(text):
    """Names of the types at the level of namespaces, with those."""
    text = NOISE.sub(" ", text)
    around, at = [], 0  # what is open: a namespace's name, "" for an unnamed one, None for anything else
    for brace in re.finditer(r"[{}]", text):
        head, at = re.split(r"[;{}]", text[at : brace.start()])[-1].strip(), brace.end()
        if brace.group() == "}":
            if around:
                around.pop()
            continue
        namespace, kind = NAMESPACE.match(head), TYPE.match(head)
        if kind and all(around):
            yield "::".join([*around, kind.group(1)])
        around.append((namespace.group(1) or "") if namespace else None)


def main():
    places = collections.defaultdict(set)
    for path in sorted(SOURCE.rglob("*")):
        if path.suffix in (".h", ".cpp") and "prelude" not in path.parts:
            for name in types(path.read_text()):
                places[name].add(str(path.relative_to(SOURCE)))
    failed = 0
    for name, files in sorted(places.items()):
        if len(files) > 1:
            failed += 1
            print(f"{name} is defined in {', '.join(sorted(files))}: rename one, or put it into an unnamed namespace")
    if len(places) < 100:
        failed += 1
        print(f"only {len(places)} types found in {SOURCE}: is that the source?")
    print(f"{len(places) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()

#!/usr/bin/env python3
"""Adds up a CTest run: the cases inside each test, from what the test printed. Prints `N passed, N failed, N skipped`.

    summary.py CTEST_JUNIT_XML

A GoogleTest program counts its tests, a case runner the numbers of its closing line, anything else counts as one.
"""
import re, sys
import xml.etree.ElementTree as ET


def counts(case):
    """(passed, failed, skipped) of one CTest test."""
    text = case.findtext("system-out") or ""
    ok = case.get("status") == "run"
    if case.find("skipped") is not None:
        return 0, 0, 1
    line = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", text, re.M)
    if line:
        passed, failed, skipped = (sum(int(row[i] or 0) for row in line) for i in range(3))
        return passed, failed if ok else max(failed, 1), skipped
    passed, failed = re.findall(r"^\[  PASSED  \] (\d+) test", text, re.M), re.findall(r"^\[  FAILED  \] (\d+) test", text, re.M)
    if passed or failed:
        bad = sum(map(int, failed))
        skipped = sum(map(int, re.findall(r"^\[  SKIPPED \] (\d+) test", text, re.M)))  # not among those that passed
        return sum(map(int, passed)), bad if ok else max(bad, 1), skipped
    return (1, 0, 0) if ok else (0, 1, 0)


def main():
    total = [0, 0, 0]
    for case in ET.parse(sys.argv[1]).getroot().iter("testcase"):
        one = counts(case)
        total = [a + b for a, b in zip(total, one)]
        print(f"  {case.get('name'):<28} {one[0]:>6} passed" + (f", {one[1]} failed" if one[1] else "") + (f", {one[2]} skipped" if one[2] else "") + f"   {float(case.get('time') or 0):.1f} s")
    print("{} passed, {} failed, {} skipped".format(*total))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())

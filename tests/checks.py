"""Counting checks, for tests that are programs: check(...) as often as there is something to say, finish() at the end."""
import sys

passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED {name}: {str(detail)[:2000]}", flush=True)
    return bool(ok)


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)

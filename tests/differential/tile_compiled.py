#!/usr/bin/env python3
"""Generated kernels, compiled and by the checked build, against the reference interpreter: the same bits (NaN is NaN).

    tile_compiled.py TOOL [NAME ...] [--ways cuda|nvrtc|...] [--jobs N] [--keep FOLDER]

TOOL is tile_run_tool. NAME: a case as a failure prints it, free-SEED or one of tile_cases.py. Without names TILE_RANDOM_COUNT cases from
TILE_RANDOM_SEED on. Ends with `N passed, N failed`.
"""
import argparse, os, sys, tempfile

import tile_cases, tile_free
from tile_run import NO_NVRTC, compare, job, report, result, run_ours


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tool")
    p.add_argument("names", nargs="*")
    p.add_argument("--ways", default="compiled,checked,followed", help="of tile_run_tool, compared with the interpreter; nvrtc only has to compile")
    p.add_argument("--families", type=int, help="that many cases of tile_cases.py, every family of it, instead")
    p.add_argument("--jobs", type=int, default=1, help="so many of TOOL at a time")
    p.add_argument("--keep", help="leave kernels and memory there")
    opt = p.parse_intermixed_args()
    first, count = int(os.environ.get("TILE_RANDOM_SEED", 1)), int(os.environ.get("TILE_RANDOM_COUNT", 40))
    names = opt.names or (opt.families and tile_cases.names(opt.families)) or [f"free-{seed}" for seed in range(first, first + count)]
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = opt.keep or temporary
        os.makedirs(folder, exist_ok=True)
        cases, jobs = [], []
        for name in names:
            case = (tile_free if name.startswith("free-") else tile_cases).generate(name)
            file, data = os.path.join(folder, name.replace("-", "_") + ".py"), os.path.join(folder, f"{name}.data")
            with open(file, "w") as f:
                f.write(case.source)
            cases.append((case, data))
            jobs.append(job(case, file, data))
        ways = opt.ways.split(",")
        answers = run_ours(opt.tool, jobs, folder, ["interpreted"] + ways, opt.jobs)
        if any(NO_NVRTC in (answer.get("nvrtc") or "") for answer in answers.values()):
            print("no NVRTC here (make setup installs it): nothing is compiled for a GPU")
            print("0 passed, 0 failed, 1 skipped")
            return 0
        for case, data in cases:
            answer = answers[case.name]
            if answer["interpreted"]:
                problems = ["interpreted: " + answer["interpreted"]]
            else:
                problems = compare(case, result(case, data, "interpreted"), data, answer, ways, "interpreted")
            if problems:
                failed += 1
                report(case, problems)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""A sample's entry.sh: entry.py BINARY SAMPLES_DIR

It prints the log whose score it writes to aggregated_score.json. A wrong pass is a result; a sample whose graphs are not
there is none.
"""
import filecmp, glob, json, os, shutil, subprocess, sys, tempfile

from checks import check, finish

QUICK = ["--warmup", "1", "--trials", "10", "--noise-limit", "1000", "--repeats", "0"]


def entry(binary, sample):
    score = os.path.join(sample, "aggregated_score.json")
    if os.path.exists(score):
        os.remove(score)
    done = subprocess.run(["bash", os.path.join(sample, "entry.sh"), *QUICK], env=dict(os.environ, PASSNET=binary), cwd="/", capture_output=True, text=True)
    written = json.load(open(score)) if os.path.exists(score) else None
    return done, written


def score_of(binary, log, folder):
    path = os.path.join(folder, "log.txt")
    with open(path, "w") as file:
        file.write(log)
    return json.loads(subprocess.run([binary, "score", path, "--json"], capture_output=True, text=True).stdout)["AS"]


def main():
    binary, samples = map(os.path.abspath, sys.argv[1:3])
    root = os.path.dirname(samples)
    for script in sorted(glob.glob(samples + "/*/entry.sh")):
        check(script, filecmp.cmp(script, root + "/python/entry.sh", shallow=False), "differs from python/entry.sh")
    with tempfile.TemporaryDirectory() as folder:
        sample = shutil.copytree(samples + "/qwen2_silu_mlp", folder + "/qwen2_silu_mlp")
        passes = sample + "/pass_dir"
        shutil.rmtree(passes, ignore_errors=True)
        done, written = entry(binary, sample)
        check("no passes", done.returncode == 0 and written["id"] == "qwen2_silu_mlp", (done, written))
        worst = written["score"]
        shutil.copytree(root + "/examples/silu_mul", passes)
        done, written = entry(binary, sample)
        check("right passes", done.returncode == 0 and written["score"] > worst, (done, written))
        check("score of the log", abs(score_of(binary, done.stdout, folder) - written["score"]) < 1e-9, written)
        with open(passes + "/sorted_output_pass_rule_names.json", "w") as file:
            file.write("[")
        done, written = entry(binary, sample)
        check("broken passes", done.returncode == 0 and written["score"] == worst, (done, written))
        renamed = shutil.move(sample, folder + "/renamed")
        done, written = entry(binary, renamed)
        check("renamed", done.returncode == 2 and written is None and "--root" in done.stderr, (done, written))
    finish()


main()

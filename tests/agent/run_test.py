#!/usr/bin/env python3
"""passnet agent against a scripted endpoint: a model that learns from the feedback, every kind of answer and fault.

    run_test.py BINARY SAMPLES_DIR
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import *
from endpoint import Endpoint, says

BINARY, SAMPLES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TASK = os.path.join(SAMPLES, "qwen2_silu_mlp")
SCHEMA = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "agent.schema.json")))


def agent(folder, *more, url=None, **how):
    at = ["--base-url", url] if url else []
    return run(BINARY, "agent", "run", TASK, "--graphs-per-task", 1, "--out", folder, *at, *QUICK, *more, **how)


LEARNS = [
    says("A first try.", create("pass_dir/SiluMul.py", SLOW.replace("tl.sigmoid(gate)", "tl.sigmoid(up)")), create("pass_dir/sorted_output_pass_rule_names.json", ORDER)),
    says("", EVALUATE, reasoning_content="I should look."),
    says("The sigmoid is of the wrong value.", replace("pass_dir/SiluMul.py", "tl.sigmoid(up)", "tl.sigmoid(gate)"), EVALUATE),
    says("Larger blocks.", replace("pass_dir/SiluMul.py", "BLOCK=16", "BLOCK=1024"), replace("pass_dir/SiluMul.py", "cdiv(n, 16)", "cdiv(n, 1024)"), EVALUATE),
    says("Now I break it.", replace("pass_dir/SiluMul.py", "activated * up).to", "activated + up).to"), EVALUATE),
    says("That is all."),
]


def type_fits(schema, value):
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    for kind in [schema["type"]] if isinstance(schema["type"], str) else schema["type"]:
        if kind == "number" and isinstance(value, (int, float)) and not isinstance(value, bool):
            return True
        if kind == "integer" and isinstance(value, int) and not isinstance(value, bool):
            return True
        if kind in kinds and isinstance(value, kinds[kind]):
            return True
    return False


def misfits(schema, value, at="$"):
    """What of the value is not as the schema says; the part of JSON Schema that docs/agent.schema.json uses."""
    if "$ref" in schema:
        return misfits(SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]], value, at)
    if "anyOf" in schema:
        tried = [misfits(s, value, at) for s in schema["anyOf"]]
        return [] if not all(tried) else min(tried, key=len)
    out = []
    if "type" in schema and not type_fits(schema, value):
        return [f"{at} is no {schema['type']}"]
    if "const" in schema and value != schema["const"]:
        return [f"{at} is not {schema['const']}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{at} is not one of {schema['enum']}"]
    if isinstance(value, dict):
        out += [f"{at} lacks {k}" for k in schema.get("required", []) if k not in value]
        known = schema.get("properties", {})
        for k, v in value.items():
            if k in known:
                out += misfits(known[k], v, f"{at}.{k}")
            elif schema.get("additionalProperties") is False:
                out.append(f"{at} has {k}")
    if isinstance(value, list):
        for i, v in enumerate(value):
            out += misfits(schema.get("items", {}), v, f"{at}[{i}]")
        if len(value) < schema.get("minItems", 0):
            out.append(f"{at} is too short")
    return out


def check_records(name, folder, attempts):
    """Every format, every line against the schema."""
    for line in events(folder):
        wrong = misfits(SCHEMA["$defs"]["event"], line)
        check(f"{name}: events fit the schema", not wrong, (line["event"], wrong))
    for kind in ("r2e", "openai", "sharegpt"):
        out = os.path.join(folder, kind + ".jsonl")
        done = run(BINARY, "agent", "export", folder, "--format", kind, "-o", out)
        check(f"{name}: export {kind}", done.returncode == 0, done.stderr)
        files = {out: kind}
        if kind == "r2e":
            files[out.replace(".jsonl", "_completions.jsonl")] = "completions"
        for file, definition in files.items():
            lines = [json.loads(line) for line in open(file, encoding="utf-8")]
            check(f"{name}: {definition} has every attempt", len(lines) == attempts, len(lines))
            for line in lines:
                check(f"{name}: {definition} fits the schema", not misfits(SCHEMA["$defs"][definition], line), misfits(SCHEMA["$defs"][definition], line))
    for line in open(os.path.join(folder, "openai.jsonl"), encoding="utf-8"):
        waiting = []
        for m in json.loads(line)["messages"]:
            if m["role"] == "tool":
                check(f"{name}: a result follows its call", waiting and waiting.pop(0) == m["tool_call_id"], m)
            else:
                check(f"{name}: every call has its result", not waiting, waiting)
                waiting = [c["id"] for c in m.get("tool_calls", [])]
    for line in open(os.path.join(folder, "sharegpt.jsonl"), encoding="utf-8"):
        sides = ["peer" if t["from"] in ("human", "observation") else "model" for t in json.loads(line)["conversations"]]
        check(f"{name}: sides take turns", sides == ["peer", "model"] * (len(sides) // 2), sides)


def learning(folder, stream):
    name = "learning, streamed" if stream else "learning"
    with Endpoint(LEARNS) as e:
        done = agent(folder, "--model", "m", *(["--stream"] if stream else []), url=e.url)
        check(f"{name}: exit", done.returncode == 0, done.stdout + done.stderr)
        check(f"{name}: as many requests as answers", len(e.requests) == len(LEARNS), len(e.requests))
        check(f"{name}: key is sent", e.headers[0].get("Authorization") == "Bearer sk-secret")
        last = e.requests[-1]["messages"]
        check(f"{name}: reasoning is not sent back", not any("reasoning_content" in m for m in last))
        check(f"{name}: tools are sent", len(e.requests[0]["tools"]) == 5)
        check(f"{name}: temperature", e.requests[0]["temperature"] == 1)
    log = events(folder)
    results = of_kind(log, "result")
    texts = [r["message"]["content"] for r in results]
    check(f"{name}: every call is answered", len(results) == 10, len(results))
    check(f"{name}: the wrong element is shown", "elements are wrong" in texts[2] and "the worst is [" in texts[2] and "where eager has" in texts[2], texts[2])
    scores = [r["result"]["score"] for r in results if "score" in r["result"]]
    check(f"{name}: four scores", len(scores) == 4, scores)
    wrong, slow, fast, broken = scores
    check(f"{name}: wrong below slow, broken below both", wrong < slow and broken < slow and wrong < fast, scores)
    end = of_kind(log, "end")[0]
    check(f"{name}: ended by the model", end["reason"] == "agent" and end["steps"] == 6, end)
    check(f"{name}: the best score is kept", end["score"] == max(scores) and end["correct"], (end["score"], scores))
    best = "BLOCK=1024" if fast == max(scores) else "BLOCK=16"
    text = open(os.path.join(folder, "best", "qwen2_silu_mlp", "SiluMul.py")).read()
    check(f"{name}: the best snapshot is restored", best in text and "tl.sigmoid(gate)" in text and "activated * up" in text, text)
    check(f"{name}: and in the working folder", open(os.path.join(folder, "work", "qwen2_silu_mlp", "0", "pass_dir", "SiluMul.py")).read() == text)
    check(f"{name}: the key is nowhere", "sk-secret" not in open(os.path.join(folder, "events.jsonl")).read())
    check(f"{name}: usage is taken over", of_kind(log, "reply")[0]["tokens"] == {"prompt": 11, "completion": 7, "total": 18, "known": True})
    check(f"{name}: reasoning is recorded", of_kind(log, "reply")[1]["message"]["reasoning_content"] == "I should look.")
    check_records(name, folder, 1)
    shown = run(BINARY, "agent", "export", folder, "--format", "transcript").stdout
    check(f"{name}: the transcript tells it", "A first try." in shown and "the best so far" in shown and "ended: agent" in shown, shown[-500:])
    # The score that eval gives for the same passes, as far as times repeat.
    again = run(BINARY, "eval", TASK, "--graphs-per-task", 1, "--passes", os.path.join(folder, "best", "qwen2_silu_mlp"), "--no-files", "--json", *QUICK)
    evaluated = json.loads(again.stdout)
    check(f"{name}: eval agrees that it is right", evaluated["graphs"][0]["status"] == "correct", again.stdout[:500])
    check(f"{name}: eval's score is near", 0.4 < evaluated["score"] / end["score"] < 2.5, (evaluated["score"], end["score"]))
    return folder


def answers(tmp):
    """Answers that are met in the field, and what becomes of them: (name, script, options, requests, what to check)."""
    look = says("", ("read_graph", {"stage": "inputs"}))
    end = says("Done.")
    reason = lambda log: of_kind(log, "end")[0]["reason"]
    why = lambda log: of_kind(log, "end")[0].get("why", "")
    first = lambda log: of_kind(log, "result")[0]["message"]["content"]
    retry = {"status": 429, "headers": {"retry-after-ms": "30"}}
    cases = [
        ("429 is tried again", [retry, retry, look, end, end], [], 5, lambda log: reason(log) == "agent" and of_kind(log, "reply")[0]["tries"] == 3),
        ("500 is tried again", [{"status": 500, "headers": {"retry-after": "0.05"}}, look, end, end], [], 4, lambda log: reason(log) == "agent"),
        ("408 and 409 too", [{"status": 408, "headers": {"retry-after-ms": "10"}}, {"status": 409, "headers": {"retry-after-ms": "10"}}, look, end, end], [], 5, lambda log: reason(log) == "agent"),
        ("400 is not", [{"status": 400}], [], 1, lambda log: reason(log) == "llm_query_error" and "HTTP 400: no" in why(log)),
        ("x-should-retry overrides", [{"status": 500, "headers": {"x-should-retry": "false"}}], [], 1, lambda log: reason(log) == "llm_query_error"),
        ("x-should-retry: true", [{"status": 400, "headers": {"x-should-retry": "true", "retry-after-ms": "10"}}, look, end, end], [], 4, lambda log: reason(log) == "agent"),
        ("tries end", [retry], ["--tries", "2"], 2, lambda log: reason(log) == "llm_query_error" and "try 2 of 2" in why(log)),
        ("malformed JSON is tried again", [{"raw": "{\"choices\": [", "headers": {}}, look, end, end], [], 4, lambda log: reason(log) == "agent"),
        ("an error inside 200", [{"raw": '{"error": {"message": "slow down", "code": "429"}}'}, look, end, end], [], 4, lambda log: reason(log) == "agent"),
        ("a hard error inside 200", [{"raw": '{"error": {"message": "no such model", "code": "404"}}'}], [], 1, lambda log: "no such model" in why(log)),
        ("a cut body", [{**look, "cut": 60}, look, end, end], [], 4, lambda log: reason(log) == "agent"),
        ("a cut stream", [{**look, "cut": 200}, look, end, end], ["--stream"], 4, lambda log: reason(log) == "agent"),
        ("a connection that closes", [{"refuse": True}, look, end, end], [], 4, lambda log: reason(log) == "agent"),
        ("garbage in a stream", [{"raw": "data: {oops\n\n", "type": "text/event-stream"}, look, end, end], ["--stream"], 4, lambda log: reason(log) == "agent"),
        ("a slow answer", [{**look, "slow": 5}], ["--call-seconds", "1"], None, lambda log: reason(log) == "llm_query_error"),
        ("cut off is not the end", [{**says("Let me thi"), "finish": "length"}, look, end, end], [], 4, lambda log: "cut off" in of_kind(log, "note")[0]["message"]["content"]),
        ("a refusal ends it", [{"message": {"role": "assistant", "content": None, "refusal": "I will not."}, "finish": "stop"}], [], 1, lambda log: "I will not." in why(log)),
        ("a filter ends it", [{"message": {"role": "assistant", "content": None}, "finish": "content_filter"}], [], 1, lambda log: reason(log) == "agent" and "refused" in why(log)),
        ("null content, arguments as an object", [{"message": {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "read_graph", "arguments": {"stage": "inputs"}}}]}, "finish": "tool_calls"}, end, end], [], 3, lambda log: "bfloat16" in first(log)),
        ("no tool call and nothing scored is asked once", [end], [], 2, lambda log: len(of_kind(log, "note")) == 1),
        ("garbage in tool arguments", [says("", ("file_editor", "{oops"))] + [end] * 2, [], 3, lambda log: "not valid JSON" in first(log)),
        ("arguments of another type", [says("", ("file_editor", {"command": "view", "path": 5}))] + [end] * 2, [], 3, lambda log: "`path` should be of type string" in first(log)),
        ("an unknown tool", [says("", ("rm", {}))] + [end] * 2, [], 3, lambda log: "no tool is called 'rm'" in first(log)),
        ("huge arguments", [says("", create("pass_dir/a.py", "x" * (3 << 20)))] + [end] * 2, [], 3, lambda log: "the limit is 1048576" in first(log)),
        ("a path outside", [says("", ("file_editor", {"command": "view", "path": "/etc/passwd"}))] + [end] * 2, [], 3, lambda log: "outside of the task's folder" in first(log)),
        ("a file of the task", [says("", create("graphs/x.py", "x"))] + [end] * 2, [], 3, lambda log: "part of the task" in first(log)),
        ("steps end", [look], ["--steps", "3"], 3, lambda log: reason(log) == "step_limit" and "(Steps left: 0)" in of_kind(log, "result")[-1]["message"]["content"]),
        ("tokens end", [{**look, "usage": {"prompt_tokens": 900, "completion_tokens": 200}}], ["--tokens", "1000"], 1, lambda log: reason(log) == "token_limit"),
        ("an evaluation that takes too long", [says("", create("pass_dir/SiluMul.py", PASS), create("pass_dir/sorted_output_pass_rule_names.json", ORDER), EVALUATE)] + [end] * 2, ["--evaluation-seconds", "0.001"], None, lambda log: "timeout" in of_kind(log, "result")[2]["message"]["content"]),
        ("an unlisted endpoint's usage does not matter", [{**look, "usage": {}}, end, end], [], 3, lambda log: not of_kind(log, "reply")[0]["tokens"]["known"]),
    ]
    for number, (name, script, options, requests, right) in enumerate(cases):
        folder = os.path.join(tmp, f"case{number}")
        with Endpoint(script) as e:
            done = agent(folder, "--model", "m", *options, url=e.url, timeout=60)
            log = events(folder) if os.path.exists(os.path.join(folder, "events.jsonl")) else []
            if check(f"{name}: it ends", log and log[-1]["event"] == "end", done.stderr):
                check(name, right(log), json.dumps(log[1:])[-1500:])
            if requests is not None:
                check(f"{name}: requests", len(e.requests) == requests, len(e.requests))


def links(tmp):
    """Symbolic links that lie in the folder lead nowhere."""
    folder, outside = os.path.join(tmp, "links"), os.path.join(tmp, "outside")
    passes = os.path.join(folder, "work", "qwen2_silu_mlp", "0", "pass_dir")
    os.makedirs(passes)
    os.makedirs(outside)
    open(os.path.join(outside, "secret.py"), "w").write("secret\n")
    os.symlink(outside, os.path.join(passes, "folder"))
    os.symlink(os.path.join(outside, "secret.py"), os.path.join(passes, "file.py"))
    edit = lambda command, path, **more: ("file_editor", {"command": command, "path": path, **more})
    with Endpoint([says("", edit("view", "pass_dir/folder/secret.py"), edit("view", "pass_dir/file.py"), edit("view", "pass_dir/folder"), edit("create", "pass_dir/folder/new.py", file_text="x"), edit("create", "pass_dir/file.py", file_text="x"),
                        edit("str_replace", "pass_dir/file.py", old_str="secret", new_str="x")), says("Done.")]) as e:
        agent(folder, "--model", "m", url=e.url)
    results = of_kind(events(folder), "result")
    check("links: every call is refused", len(results) == 6 and all(r["result"]["error"] for r in results), [r["message"]["content"] for r in results])
    check("links: nothing was read", "secret\\n" not in json.dumps([r["message"] for r in results]))
    check("links: nothing was written", os.listdir(outside) == ["secret.py"] and open(os.path.join(outside, "secret.py")).read() == "secret\n")


def waits(tmp):
    """How long a client waits: what the server asks for, in all its forms."""
    def in_seconds(seconds):
        return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + seconds))

    for number, (headers, least, most) in enumerate([({"retry-after-ms": "700"}, 0.7, 1.5), ({"retry-after": "1"}, 1.0, 1.9), ({"retry-after": "a date"}, 1.0, 6.0), ({}, 0.37, 0.9), ({"retry-after": "soon"}, 0.37, 0.9), ({"retry-after": "7200"}, 0.37, 0.9)]):
        def refuse(body):
            return {"status": 429, "headers": {k: in_seconds(3) if v == "a date" else v for k, v in headers.items()}}

        with Endpoint([refuse, says("x"), says("x")]) as e:
            agent(os.path.join(tmp, f"wait{number}"), "--model", "m", url=e.url)
            took = e.times[1] - e.times[0]
            check(f"waits as asked: {headers}", least <= took <= most, took)


def down(tmp):
    """No endpoint at the start, one that dies in the middle; the same command with --retry-errors begins those anew."""
    folder = os.path.join(tmp, "down")
    done = agent(folder, "--model", "m", "--tries", "1", url="http://127.0.0.1:9/v1")
    log = events(folder)
    check("down at the start: a clear end", log[-1]["event"] == "end" and log[-1]["reason"] == "llm_query_error" and done.returncode == 1, done.stdout)
    check_records("down", folder, 1)
    with Endpoint([says("x", ("read_graph", {})), says("x")]) as e:
        done = agent(folder, "--model", "m", "--retry-errors", url=e.url)
        check("then it begins anew", events(folder)[-1]["reason"] == "agent", done.stderr)
    folder = os.path.join(tmp, "middle")
    with Endpoint([LEARNS[0], {"refuse": True}]) as e:
        agent(folder, "--model", "m", "--tries", "2", url=e.url)
    log = events(folder)
    check("down in the middle: the end is clear", log[-1]["reason"] == "llm_query_error", log[-1])
    check("down in the middle: what was written is judged", len(of_kind(log, "final")) == 1)
    check_records("middle", folder, 1)


def stopped(tmp, how):
    """Killed at some moment and run again: nothing is lost, nothing done twice."""
    folder = os.path.join(tmp, f"stopped{how}")
    slow = [{**a, "slow": 0.25} for a in LEARNS]

    def answer(body):
        return slow[min(sum(m["role"] == "assistant" for m in body["messages"]), len(slow) - 1)]

    with Endpoint([answer]) as e:
        command = [BINARY, "agent", "run", TASK, "--graphs-per-task", "1", "--out", folder, "--base-url", e.url, "--model", "m", *QUICK]
        for seconds in (0.9, 1.3, 1.7):
            p = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(seconds)
            p.send_signal(how)
            p.wait(timeout=30)
            if how == signal.SIGKILL and os.path.exists(os.path.join(folder, "events.jsonl")):
                with open(os.path.join(folder, "events.jsonl"), "a") as f:
                    f.write('{"event": "reply", "task": "qwen2')
        done = agent(folder, "--model", "m", url=e.url)
        check(f"stopped by {how}: ends", done.returncode == 0, done.stderr)
        replies = of_kind(events(folder), "reply")
        check(f"stopped by {how}: each step once", [r["step"] for r in replies] == [1, 2, 3, 4, 5, 6], [r["step"] for r in replies])
        end = of_kind(events(folder), "end")
        scores = [r["result"]["score"] for r in of_kind(events(folder), "result") if "score" in r["result"]]
        check(f"stopped by {how}: one end, with the best", len(end) == 1 and end[0]["score"] == max(scores), (end, scores))
        check_records(f"stopped by {how}", folder, 1)
        before = os.path.getsize(os.path.join(folder, "events.jsonl"))
        agent(folder, "--model", "m", url=e.url)
        check(f"stopped by {how}: a finished run does nothing", os.path.getsize(os.path.join(folder, "events.jsonl")) == before)


def many(tmp, recorded):
    """Attempts, filters, replay, a start from the author."""
    folder = os.path.join(tmp, "many")
    good, bad = LEARNS[:4] + [LEARNS[5]], [says("x", create("pass_dir/SiluMul.py", WRONG), create("pass_dir/sorted_output_pass_rule_names.json", ORDER), EVALUATE), says("Done.")]

    def answer(body):
        script = good if body.get("seed") != 8 else bad
        return script[min(sum(m["role"] == "assistant" for m in body["messages"]), len(script) - 1)]

    with Endpoint([answer]) as e:
        done = agent(folder, "--model", "m", "--attempts", 3, "--at-once", 2, "--model-seed", 7, "--json", "--success", "0.3", url=e.url)
        summary = json.loads(done.stdout)
        check("best of k", summary["tasks"][0]["attempts"] == 3 and summary["tasks"][0]["successes"] == 2, summary)
        check("pass@k", abs(summary["pass_at"][0] - 2 / 3) < 1e-9 and summary["pass_at"][1:] == [1, 1], summary)
    count = lambda *filters: len(run(BINARY, "agent", "export", folder, "--format", "openai", *filters).stdout.splitlines())
    check("no filter", count() == 3)
    check("successes", count("--successes", "--success", "0.3") == 2)
    check("best per task", count("--best-per-task") == 1)
    check("unique", count("--unique") == 2)
    check("improvements over what is impossible", count("--successes", "--success", "1000") == 0)
    again = os.path.join(tmp, "replay")
    done = agent(again, "--model", "replay:" + os.path.join(recorded, "events.jsonl"))
    same = lambda f: [e["message"] for e in of_kind(events(f), "reply")]
    check("replay says the same", same(again) == same(recorded), done.stderr)
    from_author = os.path.join(tmp, "author")
    with Endpoint([says("x", ("file_editor", {"command": "view", "path": "pass_dir"})), says("Good as it is.")]) as e:
        agent(from_author, "--model", "m", "--start", "author", "--no-measure", url=e.url)
    log = events(from_author)
    begin, end = log[0], log[-1]
    check("from the author: never below", end["score"] >= begin["result"]["score"], (begin["result"], end.get("score")))
    check("from the author: the files", end["files"] == begin["files"] and len(end["files"]) > 1, list(end["files"]))


def main():
    with tempfile.TemporaryDirectory() as tmp:
        recorded = learning(os.path.join(tmp, "learn"), False)
        learning(os.path.join(tmp, "stream"), True)
        answers(tmp)
        links(tmp)
        waits(tmp)
        down(tmp)
        stopped(tmp, signal.SIGTERM)
        stopped(tmp, signal.SIGKILL)
        many(tmp, recorded)
    finish()


if __name__ == "__main__":
    main()

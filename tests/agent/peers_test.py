#!/usr/bin/env python3
"""The agent and its servers against real peers: LiteLLM's proxy in mock mode, the clients of mcp, fastmcp and
openenv-core, and the datasets and jsonschema packages.

    peers_test.py BINARY SAMPLES_DIR [PEER ...]

Runs in the environment that `make check-peers` makes (.venv-peers, or PASSNET_PEERS); without it everything is skipped,
and said so. A peer that is not installed there is skipped alone.
"""
import asyncio
import importlib.util
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import run_test
from common import *
import checks
from client import Server

PEERS = ("litellm", "mcp", "fastmcp", "openenv", "datasets", "jsonschema")
BINARY, SAMPLES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TASK = os.path.join(SAMPLES, "qwen2_silu_mlp")
SERVE = [TASK, "--graphs-per-task", "1", *QUICK]
TOOLS = ["open_task", "close_task", "file_editor", "pass_evaluator", "match_explain", "author_suggest", "read_graph"]
skipped = 0


def peer_python():
    """The interpreter of the peers' environment, or None."""
    given = os.environ.get("PASSNET_PEERS") or os.path.join(HERE, "..", "..", ".venv-peers", "bin", "python")
    return os.path.abspath(given) if os.path.exists(given) else None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def litellm(tmp):
    """200, streaming and 429 from the proxy."""
    config = os.path.join(tmp, "litellm.yaml")
    open(config, "w").write("""
model_list:
  - model_name: good
    litellm_params: {model: openai/good, api_key: x, mock_response: "Nothing to do here."}
  - model_name: limited
    litellm_params: {model: openai/limited, api_key: x, mock_response: litellm.RateLimitError}
litellm_settings: {num_retries: 0}
router_settings: {num_retries: 0}
""")
    port = free_port()
    program = os.path.join(os.path.dirname(sys.executable), "litellm")
    key = "sk-" + secrets.token_hex(32)  # without one the proxy does not start
    env = {**environment(), "LITELLM_MASTER_KEY": key, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "NO_PROXY": "*"}
    with open(os.path.join(tmp, "litellm.log"), "w") as log:
        proxy = subprocess.Popen([program, "--config", config, "--host", "127.0.0.1", "--port", str(port)], env=env, stdout=log, stderr=log)
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for _ in range(240):
            if proxy.poll() is not None:
                break
            try:
                opener.open(f"http://127.0.0.1:{port}/health/liveliness", timeout=2).read()
                break
            except OSError:
                time.sleep(0.5)
        url = f"http://127.0.0.1:{port}/v1"
        if not check("LiteLLM: the proxy starts", proxy.poll() is None, open(os.path.join(tmp, "litellm.log")).read()[-1000:]):
            return
        for name, model, more, right in [
            ("200", "good", [], lambda end, log: end["reason"] == "agent" and of_kind(log, "reply")[0]["message"]["content"] == "Nothing to do here."),
            ("a stream", "good", ["--stream"], lambda end, log: end["reason"] == "agent" and of_kind(log, "reply")[0]["message"]["content"] == "Nothing to do here."),
            ("429", "limited", ["--tries", "2"], lambda end, log: end["reason"] == "llm_query_error" and "429" in end["why"] and "try 2 of 2" in end["why"]),
            ("429 of a stream", "limited", ["--tries", "2", "--stream"], lambda end, log: end["reason"] == "llm_query_error" and "429" in end["why"] and "try 2 of 2" in end["why"]),
            ("no such model", "nobody", ["--tries", "2"], lambda end, log: end["reason"] == "llm_query_error" and "HTTP 4" in end["why"]),
        ]:
            folder = os.path.join(tmp, "litellm_" + name.replace(" ", "_"))
            done = run(BINARY, "agent", "run", *SERVE, "--model", model, "--base-url", url, "--out", folder, *more, variables={"OPENAI_API_KEY": key})
            log = events(folder)
            check(f"LiteLLM: {name}", log[-1]["event"] == "end" and right(log[-1], log), (done.stderr, log[-1], log[1:3]))
    finally:
        proxy.terminate()
        proxy.wait(timeout=60)


async def use_tools(name, client, call, text, failed):
    """Every tool, once or twice, through a connected client."""
    listed = sorted(t.name for t in await client())
    check(f"{name}: lists every tool", listed == sorted(TOOLS), listed)
    opened = text(await call("open_task", {"task": "qwen2_silu_mlp"}))
    session = opened.split("\n")[0].removeprefix("session: ")
    check(f"{name}: open_task", len(session) == 32, opened[:100])
    use = lambda tool, **arguments: call(tool, {**arguments, "session": session})
    check(f"{name}: read_graph", "silu" in text(await use("read_graph")))
    check(f"{name}: author_suggest", "author" in text(await use("author_suggest")))
    for tool, arguments in (create("pass_dir/SiluMul.py", PASS), create("pass_dir/sorted_output_pass_rule_names.json", ORDER)):
        check(f"{name}: file_editor", "created" in text(await use(tool, **arguments)))
    check(f"{name}: match_explain", "1 match" in text(await use("match_explain")))
    check(f"{name}: pass_evaluator", "correct" in text(await use("pass_evaluator")))
    check(f"{name}: a tool's error", await failed(use("file_editor", command="view", path="/etc/passwd")))
    check(f"{name}: close_task", "best score" in text(await use("close_task")))


def mcp(tmp):
    from mcp import Client, StdioServerParameters

    async def one(name, where, mode):
        async with Client(where, mode=mode) as client:
            text = lambda result: result.content[0].text

            async def listed():
                return (await client.list_tools()).tools

            async def failed(call):
                return (await call).is_error

            await use_tools(f"{name}, {mode}", listed, client.call_tool, text, failed)

    for mode in ("auto", "legacy", "2026-07-28"):
        stdio = StdioServerParameters(command=BINARY, args=["mcp", *SERVE, "--out", os.path.join(tmp, "mcp_" + mode)], env=environment())
        asyncio.run(one("mcp over stdio", stdio, mode))
        with Server(BINARY, "mcp", "--http", *SERVE, "--out", os.path.join(tmp, "mcp_http_" + mode)) as server:
            asyncio.run(one("mcp over HTTP", f"http://127.0.0.1:{server.port}/mcp", mode))


def fastmcp(tmp):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async def one(name, where):
        async with Client(where) as client:
            async def failed(call):
                try:
                    await call
                    return False
                except Exception as error:
                    return "outside" in str(error)

            await use_tools(name, client.list_tools, client.call_tool, lambda result: result.content[0].text, failed)

    asyncio.run(one("fastmcp over stdio", StdioTransport(BINARY, ["mcp", *SERVE, "--out", os.path.join(tmp, "fastmcp")], env=environment())))
    with Server(BINARY, "mcp", "--http", *SERVE, "--out", os.path.join(tmp, "fastmcp_http")) as server:
        asyncio.run(one("fastmcp over HTTP", f"http://127.0.0.1:{server.port}/mcp"))


def openenv(tmp):
    from openenv.core import GenericEnvClient

    with Server(BINARY, "serve", *SERVE, "--out", os.path.join(tmp, "openenv")) as server:
        with GenericEnvClient(base_url=f"http://127.0.0.1:{server.port}").sync() as env:
            first = env.reset(task="qwen2_silu_mlp")
            check("openenv: reset", "pattern" in first.observation["text"] and not first.done)
            for tool, arguments in (create("pass_dir/SiluMul.py", PASS), create("pass_dir/sorted_output_pass_rule_names.json", ORDER)):
                check("openenv: step", not env.step({"tool": tool, "arguments": arguments}).observation["error"])
            scored = env.step({"tool": "pass_evaluator", "arguments": {}})
            check("openenv: the reward is the score", scored.reward and scored.reward == scored.observation["best"], scored)
            check("openenv: state", env.state()["step_count"] == 3)
            last = env.step({"tool": "finish"})
            check("openenv: done", last.done and last.reward == scored.reward, last)
        for _ in range(50):
            left = server.http("GET", "/metadata")[1]["sessions"]
            if left == 0:
                break
            time.sleep(0.1)
        check("openenv: its place is free again", left == 0, left)


def whole(value):
    """Without what the package fills in: keys that only other rows have."""
    if isinstance(value, dict):
        return {k: whole(v) for k, v in value.items() if v is not None}
    return [whole(v) for v in value] if isinstance(value, list) else value


def check_files(name, folder, cache, attempts):
    """Every format that is JSON, read by the package that trainers read it with, and against the schema."""
    from datasets import disable_progress_bars, load_dataset

    disable_progress_bars()
    schema = json.load(open(os.path.join(HERE, "..", "..", "docs", "agent.schema.json")))
    files = {"event": os.path.join(folder, "events.jsonl")}
    for kind in ("r2e", "openai", "sharegpt"):
        files[kind] = os.path.join(folder, kind + ".jsonl")
        run(BINARY, "agent", "export", folder, "--format", kind, "-o", files[kind])
    files["completions"] = os.path.join(folder, "r2e_completions.jsonl")
    for kind, file in files.items():
        lines = [json.loads(line) for line in open(file, encoding="utf-8")]
        if kind != "event":  # of several kinds of lines
            rows = load_dataset("json", data_files=file, split="train", cache_dir=cache)
            check(f"{name}: datasets reads {kind}", len(rows) == attempts, len(rows))
            check(f"{name}: datasets reads all of {kind}", whole(list(rows)) == whole(lines), rows)
        if importlib.util.find_spec("jsonschema"):
            import jsonschema
            validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]})
            for line in lines:
                wrong = [e.message for e in validator.iter_errors(line)]
                check(f"{name}: {kind} fits the schema", not wrong, wrong[:3])


def datasets(tmp):
    """The records of the author's run, and of a scripted model that writes a wrong pass, mends and improves it."""
    cache, folder = os.path.join(tmp, "cache"), os.path.join(tmp, "records")
    for attempts in (1, 2):
        run(BINARY, "agent", "run", *SERVE, "--model", "author", "--no-measure", "--out", folder, "--attempts", attempts)
    check_files("author", folder, cache, 2)
    for stream in (False, True):
        folder = os.path.join(tmp, f"scripted{stream:d}")
        run_test.learning(folder, stream)
        check_files("scripted model, streamed" if stream else "scripted model", folder, cache, 1)


def main():
    global skipped
    python = peer_python()
    if python is None:
        print("no peers are installed: `make check-peers` makes .venv-peers with them")
        print(f"0 passed, 0 failed, {len(PEERS)} skipped")
        return
    if sys.prefix != os.path.dirname(os.path.dirname(python)):
        os.execv(python, [python, os.path.abspath(__file__), BINARY, SAMPLES, *sys.argv[3:]])
    with tempfile.TemporaryDirectory() as tmp:
        only = sys.argv[3:]  # names of peers; none: all
        for package, test in (("mcp", mcp), ("fastmcp", fastmcp), ("openenv", openenv), ("datasets", datasets), ("litellm", litellm)):
            if only and package not in only:
                continue
            if importlib.util.find_spec(package) is None:
                print(f"{package} is not installed: skipped")
                skipped += 1
                continue
            test(tmp)
            print(f"{package}: tested", flush=True)
    print(f"{checks.passed} passed, {checks.failed} failed, {skipped} skipped")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""passnet serve: one episode over each way in, bad messages, limits, and many sessions at once.

    serve_test.py BINARY SAMPLES_DIR [--seconds 20] [--sessions 64]

With --seconds 300 the last part is the long run: no error, no leak, fair order, verdicts equal to the bench's.
"""
import argparse
import fcntl
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Server, WebSocket
from common import *

TASKS = {"qwen2_silu_mlp"}


def files(ws, text):
    for tool, arguments in (create("pass_dir/SiluMul.py", text), create("pass_dir/sorted_output_pass_rule_names.json", ORDER)):
        answer = ws.step(tool, arguments)
        if answer["type"] != "observation" or answer["data"]["observation"]["error"]:
            return answer
    return None


def episode_http(server):
    status, first, _ = server.http("POST", "/reset", {"task": "qwen2_silu_mlp"})
    session = first["observation"]["session"]
    check("reset over HTTP", status == 200 and first["reward"] is None and not first["done"] and "pattern" in first["observation"]["text"], first)
    step = lambda tool, arguments=None, **more: server.http("POST", "/step", {"session": session, "action": {"tool": tool, "arguments": arguments or {}}, **more})
    for tool, arguments in (create("pass_dir/SiluMul.py", PASS), create("pass_dir/sorted_output_pass_rule_names.json", ORDER)):
        check("a file is created", step(tool, arguments)[1]["observation"]["error"] is False)
    verified = step("pass_evaluator", {"verify_only": True})[1]
    check("verify_only has no reward", verified["reward"] is None and "correct" in verified["observation"]["text"], verified)
    evaluated = step("pass_evaluator", {}, request_id="r1")[1]
    check("the reward is the score", evaluated["reward"] > 0 and evaluated["reward"] == evaluated["observation"]["best"], evaluated)
    check("the same request_id gives the same answer", step("pass_evaluator", {}, request_id="r1")[1] == evaluated)
    state = server.http("GET", f"/state?session={session}")[1]
    check("state", state["episode_id"] == session and state["step_count"] == 4 and state["best"] == evaluated["reward"], state)
    late = step("pass_evaluator", {}, timeout_s=0.001)[1]
    check("timeout_s", "timeout" in late["observation"]["text"], late)
    check("a tool's error is an observation", step("file_editor", {"command": "view", "path": "/etc/passwd"})[1]["observation"]["error"] is True)
    check("an unknown tool is not", step("rm")[0] == 422)
    done = step("finish")[1]
    check("finish gives the best", done["done"] and done["reward"] == evaluated["reward"], done)
    check("an ended episode says so", step("finish")[0] == 404)
    check("close", server.http("POST", "/close", {"session": session})[0] == 200)
    check("and it is gone", step("finish")[0] == 404)
    for method, path, body, headers, want in [
        ("GET", "/health", None, {}, 200), ("GET", "/schema", None, {}, 200), ("GET", "/metadata", None, {}, 200), ("GET", "/nothing", None, {}, 404),
        ("GET", "/reset", None, {}, 405), ("POST", "/reset", "{oops", {}, 400), ("POST", "/reset", "[]", {}, 400), ("POST", "/reset", '{"task":' + "[" * 1000000 + "]" * 1000000 + "}", {}, 400), ("POST", "/reset", {"task": "nobody"}, {}, 422),
        ("POST", "/step", {"session": "x", "action": {}}, {}, 404), ("GET", "/health", None, {"Origin": "http://evil.example"}, 403), ("GET", "/health", None, {"Host": "evil.example"}, 403),
        ("GET", "/health", None, {"Origin": "http://localhost:3000"}, 200), ("POST", "/reset", "x" * (17 << 20), {}, 413),
    ]:
        try:
            got = server.http(method, path, body, headers)[0]
        except OSError:
            got = 413 if want == 413 else "closed"  # the answer may be lost when the body is not read
        check(f"{method} {path} {str(body)[:20]} {headers}", got == want, got)
    # The bench, on the same passes.
    return evaluated["reward"]


def episode_socket(server):
    ws = WebSocket(server.port)
    check("a step before reset", ws.step("read_graph")["data"]["code"] == "SESSION_ERROR")
    ws.send("{oops")
    check("no JSON", ws.receive()["data"]["code"] == "INVALID_JSON")
    check("no such type", ws.ask("jump")["data"]["code"] == "UNKNOWN_TYPE")
    check("reset", ws.ask("reset", {"seed": 0})["type"] == "observation")
    check("no tool", ws.ask("step", {})["data"]["code"] == "VALIDATION_ERROR")
    check("state", ws.ask("state")["data"]["step_count"] == 0)
    check("files", files(ws, WRONG) is None)
    answer = ws.step("pass_evaluator")["data"]
    check("a wrong pass", answer["reward"] < 1 and "elements are wrong" in answer["observation"]["text"], answer)
    ws.step(*replace("pass_dir/SiluMul.py", "tl.sigmoid(up)", "tl.sigmoid(gate)"))
    better = ws.step("pass_evaluator")["data"]
    check("a right one", better["reward"] > answer["reward"] and "correct" in better["observation"]["text"], better)
    ws.send(json.dumps({"type": "close"}))
    try:
        ws.receive()
        check("close closes", False)
    except ConnectionError:
        check("close closes", True)


def frames(server):
    """The protocol's corners: pieces, pings while a step waits, what a client may not send."""
    ws = WebSocket(server.port)
    ws.send('{"type": "re', fin=False)
    ws.send(b"now", opcode=9)
    check("a ping between pieces", ws.frame() == (10, True, b"now"))
    ws.send('set"}', opcode=0)
    check("a message in pieces", ws.receive()["type"] == "observation")
    files(ws, PASS)
    with open("/tmp/passnet-timing.lock", "a") as lock:  # the clock is in use elsewhere, so the step waits
        fcntl.flock(lock, fcntl.LOCK_EX)
        ws.send(json.dumps({"type": "step", "data": {"tool": "pass_evaluator"}}))
        for i in range(3):
            ws.send(b"alive?", opcode=9)
            check("a ping is answered while a step waits", ws.frame() == (10, True, b"alive?"))
            time.sleep(0.2)
    check("then the step ends", ws.receive()["data"]["reward"] > 0)
    ws.close()
    for name, bytes_sent, code in [("a frame without a mask", b"\x81\x02hi", 1002), ("a piece of nothing", b"\x80\x80abcd", 1002), ("reserved bits", b"\xf1\x80abcd", 1002), ("a long ping", b"\x89\xfe\x01\x00abcd", 1002), ("no such opcode", b"\x83\x80abcd", 1002), ("a message over the limit", b"\x81\xff" + struct.pack(">Q", 1 << 40) + b"abcd", 1009)]:
        ws = WebSocket(server.port)
        ws.s.sendall(bytes_sent)
        opcode, _, payload = ws.frame()
        check(name, opcode == 8 and struct.unpack(">H", payload)[0] == code, (opcode, payload))
        ws.close()
    status, _, headers = server.http("GET", "/ws", None, {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "short", "Sec-WebSocket-Version": "13"})
    check("a key that is none", status == 426, status)


def wait_for_sessions(server, count, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if server.http("GET", "/metadata")[1]["sessions"] == count:
            return True
        time.sleep(0.1)
    return False


def killed_client(server):
    """A client that dies frees its session, also while its step runs."""
    script = f"""
import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
from client import WebSocket; from common import *
ws = WebSocket({server.port}); ws.ask("reset")
for tool, arguments in (create("pass_dir/SiluMul.py", PASS), create("pass_dir/sorted_output_pass_rule_names.json", ORDER)): ws.step(tool, arguments)
print("ready", flush=True)
while True: ws.step("pass_evaluator")
"""
    p = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    p.stdout.readline()
    check("a session is open", wait_for_sessions(server, 1))
    p.send_signal(signal.SIGKILL)
    p.wait()
    check("a killed client frees its session", wait_for_sessions(server, 0))


def limits(opt, tmp):
    with Server(opt.binary, "serve", opt.task, "--out", os.path.join(tmp, "limits"), "--sessions", 2, "--idle", 2, "--steps", 2, *QUICK) as server:
        for _ in range(2):
            check("a place is free", server.http("POST", "/reset", {})[0] == 200)
        status, answer, _ = server.http("POST", "/reset", {})
        check("no place is left", status == 503 and answer["error"]["code"] == "CAPACITY_REACHED", answer)
        check("idle sessions are closed", wait_for_sessions(server, 0))
        session = server.http("POST", "/reset", {})[1]["observation"]["session"]
        ask = lambda: server.http("POST", "/step", {"session": session, "action": {"tool": "read_graph"}})[1]
        check("one step is left", ask()["observation"]["steps_left"] == 1)
        last = ask()
        check("steps end the episode", last["done"] and last["reward"] == 0.1, last)
    log = events(os.path.join(tmp, "limits"))
    check("sessions are recorded", len(of_kind(log, "begin")) == len(of_kind(log, "end")) == 3, [e["event"] for e in log])
    check("and folders are gone", os.listdir(os.path.join(tmp, "limits", "work")) == [])


class Worker(threading.Thread):
    """One session after another until the time is over."""

    def __init__(self, server, number, until):
        super().__init__(daemon=True)
        self.server, self.number, self.until = server, number, until
        self.errors, self.episodes, self.evaluations, self.verify, self.evaluate = [], 0, 0, [], []

    def run(self):
        try:
            while time.monotonic() < self.until:
                self.episode()
        except Exception as error:  # told by the main thread
            self.errors.append(repr(error))

    def expect(self, ok, what):
        if not ok:
            self.errors.append(str(what)[:500])

    def timed(self, ws, arguments, times):
        begin = time.monotonic()
        answer = ws.step("pass_evaluator", arguments)
        times.append(time.monotonic() - begin)
        self.expect(answer["type"] == "observation", answer)
        return answer["data"]

    def episode(self):
        wrong = (self.number + self.episodes) % 4 == 0
        ws = WebSocket(self.server.port)
        self.expect(ws.ask("reset")["type"] == "observation", "reset")
        self.expect(files(ws, WRONG if wrong else PASS) is None, "files")
        want = "accuracy" if wrong else "correct"
        verified = self.timed(ws, {"verify_only": True}, self.verify)
        self.expect(f": {want}" in verified["observation"]["text"], verified)
        answer = self.timed(ws, {}, self.evaluate)
        self.expect(f": {want}" in answer["observation"]["text"] and (answer["reward"] < 1) >= wrong, answer)
        self.evaluations += 1
        done = ws.step("finish")
        self.expect(done["data"]["done"] and done["data"]["reward"] == answer["reward"], done)
        ws.close()
        self.episodes += 1


def many(opt, tmp):
    folder = os.path.join(tmp, "many")
    with Server(opt.binary, "serve", opt.task, "--graphs-per-task", 1, "--out", folder, "--sessions", opt.sessions, *QUICK) as server:
        until = time.monotonic() + opt.seconds
        workers = [Worker(server, i, until) for i in range(opt.sessions)]
        for w in workers:
            w.start()
        time.sleep(min(30, opt.seconds / 2))
        early = server.rss()
        for w in workers:
            w.join(timeout=opt.seconds + 240)
        check("every session ended", not any(w.is_alive() for w in workers))
        late = server.rss()
        errors = [e for w in workers for e in w.errors]
        check(f"{opt.sessions} sessions: no error", not errors, errors[:3])
        counts = sorted(w.evaluations for w in workers)
        check("fair: each gets its turn", counts[0] >= 1 and counts[-1] - counts[0] <= max(2, counts[-1] // 4), counts)
        check("no leak", late < early * 1.3 + 20000, (early, late))
        check("every place is free again", wait_for_sessions(server, 0))
        median = lambda times: sorted(times)[len(times) // 2]
        verify, evaluate = [t for w in workers for t in w.verify], [t for w in workers for t in w.evaluate]
        print(f"{opt.sessions} sessions, {opt.seconds:.0f} s: {sum(counts)} evaluations and as many verifications; "
              f"evaluations a session {counts[0]} to {counts[-1]}; verify-only median {median(verify):.2f} s, most {max(verify):.2f} s; "
              f"evaluation median {median(evaluate):.2f} s, most {max(evaluate):.2f} s; memory {early} kB, then {late} kB", flush=True)
    check("the server says nothing", server.output[1].count("closed") == 0, server.output[1][-500:])
    ends = of_kind(events(folder), "end")
    check("every episode is recorded", len(ends) == sum(w.episodes for w in workers), (len(ends), sum(w.episodes for w in workers)))


def noise(opt, tmp):
    """Bytes that are no HTTP, halves of requests: the server lives."""
    import socket
    with Server(opt.binary, "serve", opt.task, "--out", os.path.join(tmp, "noise"), *QUICK) as server:
        generator = random.Random(1)
        for i in range(200):
            s = socket.create_connection(("127.0.0.1", server.port), timeout=5)
            start = [b"", b"GET /", b"POST /step HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n{", b"GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n"][i % 4]
            s.sendall(start + bytes(generator.randrange(256) for _ in range(generator.randrange(300))))
            s.close()
        ws = WebSocket(server.port)
        ws.s.sendall(bytes(generator.randrange(256) for _ in range(1000)))
        ws.close()
        check("the server lives", server.http("GET", "/health")[0] == 200)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("binary")
    p.add_argument("samples")
    p.add_argument("--seconds", type=float, default=300 if os.environ.get("PASSNET_ALL") else 20)
    p.add_argument("--sessions", type=int, default=64)
    opt = p.parse_args()
    opt.binary, opt.task = os.path.abspath(opt.binary), os.path.join(os.path.abspath(opt.samples), "qwen2_silu_mlp")
    with tempfile.TemporaryDirectory() as tmp:
        with Server(opt.binary, "serve", opt.task, "--graphs-per-task", 1, "--out", os.path.join(tmp, "one"), *QUICK) as server:
            reward = episode_http(server)
            episode_socket(server)
            frames(server)
            check("and every session is gone", wait_for_sessions(server, 0))
            killed_client(server)
        passes = os.path.join(tmp, "passes")
        os.makedirs(passes)
        open(os.path.join(passes, "SiluMul.py"), "w").write(PASS)
        open(os.path.join(passes, "sorted_output_pass_rule_names.json"), "w").write(ORDER)
        bench = json.loads(run(opt.binary, "eval", opt.task, "--graphs-per-task", 1, "--passes", passes, "--no-files", "--json", *QUICK).stdout)
        check("the bench's score is near", 0.4 < bench["score"] / reward < 2.5, (bench["score"], reward))
        limits(opt, tmp)
        noise(opt, tmp)
        many(opt, tmp)
    finish()


if __name__ == "__main__":
    main()

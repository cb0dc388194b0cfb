#!/usr/bin/env python3
"""passnet mcp: both kinds of peers, over stdio and HTTP, right messages and wrong ones.

    mcp_test.py BINARY SAMPLES_DIR
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Server
from common import *

BINARY, TASK = os.path.abspath(sys.argv[1]), os.path.join(os.path.abspath(sys.argv[2]), "qwen2_silu_mlp")
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
NAMES = ["open_task", "close_task", "file_editor", "pass_evaluator", "match_explain", "author_suggest", "read_graph"]


def request(method, params=None, number=1, **more):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}, **more}


class Stdio:
    def __init__(self, folder):
        self.p = subprocess.Popen([BINARY, "mcp", TASK, "--graphs-per-task", "1", "--out", folder, *QUICK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())

    def send(self, message):
        self.p.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        self.p.stdin.flush()

    def ask(self, message):
        self.send(message)
        return json.loads(self.p.stdout.readline())

    def end(self):
        out, err = self.p.communicate(timeout=60)
        return self.p.returncode, out, err


def text_of(answer):
    return answer["result"]["content"][0]["text"]


def stdio(tmp):
    folder = os.path.join(tmp, "stdio")
    s = Stdio(folder)
    for asked, want in [("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25")]:
        answer = s.ask(request("initialize", {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}))
        check(f"initialize {asked}", answer["result"]["protocolVersion"] == want, answer)
    s.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    check("ping", s.ask(request("ping"))["result"] == {})
    check("tools/list", [t["name"] for t in s.ask(request("tools/list"))["result"]["tools"]] == NAMES)
    for name, message, code in [
        ("no JSON", "{oops", -32700), ("no method", {"jsonrpc": "2.0", "id": 1}, -32600), ("no such method", request("nothing"), -32601), ("no JSON-RPC", {"id": 1, "method": "ping"}, -32600),
        ("params as a list", {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602), ("no such tool", request("tools/call", {"name": "rm"}), -32602),
        ("arguments as a text", request("tools/call", {"name": "read_graph", "arguments": "x"}), -32602), ("an id of another type", {"jsonrpc": "2.0", "id": {}, "method": "ping"}, -32600),
        ("discover without _meta", request("server/discover"), -32601), ("an empty batch", [], -32600),
        ("another version", request("tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}}), -32022),
        ("no capabilities", request("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}), -32602),
        ("a ping of the new kind", request("ping", {"_meta": META}), -32601), ("a version that is no text", request("tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": 5}}), -32602),
    ]:
        answer = s.ask(message)
        check(name, "error" in answer and answer["error"]["code"] == code, answer)
    batch = s.ask([request("ping", number=1), {"jsonrpc": "2.0", "method": "notifications/x"}, request("ping", number=2)])
    check("a batch", [a["id"] for a in batch] == [1, 2], batch)
    discovered = s.ask(request("server/discover", {"_meta": META}))["result"]
    check("discover", discovered["supportedVersions"][0] == "2026-07-28" and discovered["resultType"] == "complete" and discovered["ttlMs"] > 0 and discovered["cacheScope"] == "public", discovered)
    listed = s.ask(request("tools/list", {"_meta": META}))["result"]
    check("lists of the new kind", listed["resultType"] == "complete" and listed["ttlMs"] > 0, list(listed))
    opened = s.ask(request("tools/call", {"name": "open_task", "arguments": {"task": "qwen2_silu_mlp"}, "_meta": META}))
    session = opened["result"]["structuredContent"]["session"]
    check("open_task", session in text_of(opened) and opened["result"]["resultType"] == "complete", opened)
    call = lambda name, arguments: s.ask(request("tools/call", {"name": name, "arguments": {**arguments, "session": session}, "_meta": META}))
    for tool, arguments in (create("pass_dir/SiluMul.py", PASS), create("pass_dir/sorted_output_pass_rule_names.json", ORDER)):
        check("create", "created successfully" in text_of(call(tool, arguments)))
    scored = call("pass_evaluator", {})["result"]
    check("evaluate", scored["structuredContent"]["correct"] and scored["structuredContent"]["score"] == scored["structuredContent"]["best"], scored)
    check("explain", "1 match" in text_of(call("match_explain", {})))
    check("suggest", "=== pass_dir/" in text_of(call("author_suggest", {})) or "nothing to gain" in text_of(call("author_suggest", {})))
    check("read", "silu" in text_of(call("read_graph", {})))
    check("an error is a result", call("file_editor", {"command": "view", "path": "../x"})["result"]["isError"] is True)
    check("no such session", s.ask(request("tools/call", {"name": "read_graph", "arguments": {"session": "0"}}))["result"]["isError"] is True)
    check("close", f"{scored['structuredContent']['score']:.4f}" in text_of(call("close_task", {})))
    check("closed", call("read_graph", {})["result"]["isError"] is True)
    check("a call that names no session uses the connection's", "silu" in text_of(s.ask(request("tools/call", {"name": "read_graph", "arguments": {}}))))
    s.send(request("tools/call", {"name": "read_graph", "arguments": {}}, 7))
    s.send(request("ping", number=8))
    check("two answers come, in any order", sorted(json.loads(s.p.stdout.readline())["id"] for _ in range(2)) == [7, 8])
    code, rest, err = s.end()
    check("ends with its input", code == 0 and rest == "", (code, rest, err))
    log = events(folder)
    check("sessions are recorded", len(of_kind(log, "end")) == 2 and of_kind(log, "end")[0]["score"] == scored["structuredContent"]["score"], [e["event"] for e in log])


def http(tmp):
    with Server(BINARY, "mcp", TASK, "--http", "--graphs-per-task", 1, "--out", os.path.join(tmp, "http"), *QUICK) as server:
        post = lambda body, headers=None: server.http("POST", "/mcp", body, {"Accept": "application/json, text/event-stream", **(headers or {})})
        status, answer, headers = post(request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}))
        session = {"Mcp-Session-Id": headers.get("Mcp-Session-Id", ""), "MCP-Protocol-Version": "2025-11-25"}
        check("initialize", status == 200 and len(session["Mcp-Session-Id"]) == 32, (status, headers))
        check("a notification", post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session)[0] == 202)
        check("tools/list", len(post(request("tools/list"), session)[1]["result"]["tools"]) == len(NAMES))
        check("a call", "silu" in text_of(post(request("tools/call", {"name": "read_graph"}), session)[1]))
        modern = lambda method, params=None, **headers: post(request(method, {**(params or {}), "_meta": META}), {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **{k.replace("_", "-"): v for k, v in headers.items()}})
        check("discover", modern("server/discover")[1]["result"]["resultType"] == "complete")
        opened = modern("tools/call", {"name": "open_task", "arguments": {}}, Mcp_Name="open_task")
        check("open_task", opened[0] == 200 and opened[1]["result"]["structuredContent"]["task"] == "qwen2_silu_mlp", opened)
        handle = opened[1]["result"]["structuredContent"]["session"]
        check("a handle works", "silu" in text_of(modern("tools/call", {"name": "read_graph", "arguments": {"session": handle}}, Mcp_Name="read_graph")[1]))
        check("no handle does not", modern("tools/call", {"name": "read_graph", "arguments": {}}, Mcp_Name="read_graph")[1]["result"]["isError"])
        wrong = [
            ("no such session", post(request("ping"), {"Mcp-Session-Id": "x"}), 404, None), ("no session", post(request("ping")), 400, None), ("GET", server.http("GET", "/mcp"), 405, None),
            ("another path", server.http("POST", "/x", "{}"), 404, None), ("another origin", post(request("ping"), {"Origin": "http://evil.example"}), 403, None), ("no JSON", post("{oops"), 400, -32700),
            ("another method in the header", modern("tools/list", Mcp_Method="ping"), 400, -32020), ("another name in the header", modern("tools/call", {"name": "read_graph"}, Mcp_Name="x"), 400, -32020),
            ("no name in the header", modern("tools/call", {"name": "read_graph"}), 400, -32020), ("another version in the header", modern("tools/list", MCP_Protocol_Version="2025-11-25"), 400, -32020),
            ("a version of nobody", post(request("tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}}), {"MCP-Protocol-Version": "2099-01-01", "Mcp-Method": "tools/list"}), 400, -32022),
            ("a method of nobody", modern("nothing"), 404, -32601), ("no _meta", post(request("tools/list"), {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}), 400, -32602),
            ("a handshake version of nobody", post(request("ping"), {**session, "MCP-Protocol-Version": "1999-01-01"}), 400, -32022), ("a batch of the new kind", post([request("ping")], {"MCP-Protocol-Version": "2026-07-28"}), 400, -32600),
        ]
        for name, (status, answer, _), want, code in wrong:
            check(name, status == want and (code is None or answer["error"]["code"] == code), (status, answer))
        check("delete", server.http("DELETE", "/mcp", None, session)[0] == 200)
        check("deleted", post(request("ping"), session)[0] == 404)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        stdio(tmp)
        http(tmp)
    finish()


if __name__ == "__main__":
    main()

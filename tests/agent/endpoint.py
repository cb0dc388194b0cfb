"""A chat-completions endpoint that answers from a script: for tests of what a client meets in the field.

A script is a list of answers, given in order, the last one again and again. An answer is a dict:
    {"message": {...}, "finish": "tool_calls", "usage": {...}}   a right answer (streamed where the request asks for it)
    {"status": 429, "headers": {...}, "body": "..."}               an error
    {"raw": "text", "type": "application/json"}                    200 with any body
    {"cut": N, ...}                                                the first N bytes of the answer, then the end
    {"slow": seconds, ...}                                         waits before it answers
    {"refuse": True}                                               closes the connection without an answer
or a function of the request's body that gives one.
"""
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def call(name, arguments, number=0):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": text}}


def says(content, *calls, **more):
    message = {"role": "assistant", "content": content, **more}
    if calls:
        message["tool_calls"] = [call(n, a, i) for i, (n, a) in enumerate(calls)]
    return {"message": message, "finish": "tool_calls" if calls else "stop"}


def pieces(answer, size=7):
    """The answer as the chunks of a stream, tool calls cut into pieces keyed by index, usage without choices last."""
    message, chunks = answer["message"], []
    text = message.get("content") or ""
    for key in ("reasoning_content", "refusal"):
        if message.get(key):
            chunks.append({"delta": {key: message[key]}})
    chunks += [{"delta": {"content": text[i : i + size]}} for i in range(0, len(text), size)]
    for index, c in enumerate(message.get("tool_calls", [])):
        chunks.append({"delta": {"tool_calls": [{"index": index, "id": c["id"], "type": "function", "function": {"name": c["function"]["name"], "arguments": ""}}]}})
        arguments = c["function"]["arguments"]
        for i in range(0, len(arguments), 500):
            chunks.append({"delta": {"tool_calls": [{"index": index, "function": {"arguments": arguments[i : i + 500]}}]}})
    chunks.append({"delta": {}, "finish_reason": answer.get("finish", "stop")})
    out = [": keep-alive\n\n"]
    out += ["data: " + json.dumps({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, **c}]}) + "\r\n\r\n" for c in chunks]
    out.append("data: " + json.dumps({"id": "x", "choices": [], "usage": answer.get("usage", {"prompt_tokens": 11, "completion_tokens": 7})}) + "\n\n")
    return "".join(out + ["data: [DONE]\n\n"])


class Endpoint:
    def __init__(self, script):
        self.script, self.requests, self.times, self.headers = list(script), [], [], []
        outer, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    number = len(outer.requests)
                    outer.requests.append(body)
                    outer.times.append(time.monotonic())
                    outer.headers.append(dict(self.headers))
                answer = outer.script[min(number, len(outer.script) - 1)]
                if callable(answer):
                    answer = answer(body)
                time.sleep(answer.get("slow", 0))
                if answer.get("refuse"):
                    self.close_connection = True
                    return
                kind = "application/json"
                if "raw" in answer:
                    data, kind = answer["raw"], answer.get("type", kind)
                elif "status" in answer:
                    data = answer.get("body", json.dumps({"error": {"message": "no", "type": "x", "param": None, "code": str(answer["status"])}}))
                elif body.get("stream") and not answer.get("whole"):
                    data, kind = pieces(answer), "text/event-stream; charset=utf-8"
                else:
                    data = json.dumps({"id": "x", "choices": [{"index": 0, "message": answer["message"], "finish_reason": answer.get("finish", "stop")}], "usage": answer.get("usage", {"prompt_tokens": 11, "completion_tokens": 7})})
                data = data.encode()
                try:
                    self.send_response(answer.get("status", 200))
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(data)))
                    for name, value in answer.get("headers", {}).items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(data[: answer["cut"]] if "cut" in answer else data)
                    if "cut" in answer:
                        self.close_connection = True
                except OSError:
                    self.close_connection = True  # the client did not wait

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.server.shutdown()
        self.server.server_close()

"""A WebSocket and HTTP client of a few lines, so that the tests of the server need no package."""
import base64
import http.client
import json
import os
import re
import socket
import struct
import subprocess

from common import environment


class Server:
    """passnet serve or passnet mcp --http in a process of its own."""

    def __init__(self, binary, *arguments):
        self.process = subprocess.Popen([binary, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        line = self.process.stdout.readline()
        if not line.startswith("listening"):
            raise RuntimeError(line + self.process.stderr.read())
        self.port = int(re.search(r":(\d+)", line.split("//")[1]).group(1))

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.process.terminate()
        self.output = self.process.communicate(timeout=60)

    def http(self, method, path, body=None, headers=None, timeout=120):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        c.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
        r = c.getresponse()
        text = r.read()
        c.close()
        try:
            return r.status, json.loads(text), dict(r.getheaders())
        except ValueError:
            return r.status, text, dict(r.getheaders())

    def rss(self):
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{self.process.pid}/status").read()).group(1))


class WebSocket:
    def __init__(self, port, path="/ws", timeout=300):
        self.s = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self._some()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head)

    def _some(self):
        data = self.s.recv(1 << 16)
        if not data:
            raise ConnectionError("closed")
        return data

    def _take(self, n):
        while len(self.buffer) < n:
            self.buffer += self._some()
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out

    def send(self, text, opcode=1, fin=True):
        data, mask = text.encode() if isinstance(text, str) else text, os.urandom(4)
        n = len(data)
        size = bytes([0x80 | n]) if n < 126 else b"\xfe" + struct.pack(">H", n) if n < 65536 else b"\xff" + struct.pack(">Q", n)
        masked = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
        self.s.sendall(bytes([(0x80 if fin else 0) | opcode]) + size + mask + masked)

    def frame(self):
        """(opcode, fin, payload) of the next frame."""
        first, second = self._take(2)
        n = second & 0x7F
        n = struct.unpack(">H", self._take(2))[0] if n == 126 else struct.unpack(">Q", self._take(8))[0] if n == 127 else n
        return first & 0x0F, bool(first & 0x80), self._take(n)

    def receive(self):
        out = b""
        while True:
            opcode, fin, data = self.frame()
            if opcode == 8:
                raise ConnectionError("closed")
            if opcode in (0, 1):
                out += data
                if fin:
                    return json.loads(out)

    def ask(self, kind, data=None, **more):
        self.send(json.dumps({"type": kind, "data": data or {}, **more}))
        return self.receive()

    def step(self, tool, arguments=None, **more):
        return self.ask("step", {"tool": tool, "arguments": arguments or {}}, **more)

    def close(self):
        self.s.close()

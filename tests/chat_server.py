"""A small local server that speaks the chat completions protocol from a script, for all tests."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """One HTTP answer: by default a completion with ``text`` and 10 + 5 tokens.

    ``calls`` are (tool, arguments) pairs; with ``text`` None the content is null.
    """

    text: str | None = ""
    calls: tuple[tuple[str, Any], ...] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay: float = 0.0
    pause: float = 0.0
    """Seconds before every single byte."""
    repeat: int = 1
    """How often the body is sent, one after the other."""
    cut: int | None = None
    """Bytes after which the connection is closed."""

    def payload(self) -> bytes:
        if self.body is not None:
            return self.body
        if self.status != 200:
            return json.dumps({"error": {"message": self.text or "scripted sk-secret"}}).encode()
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.calls:
            named = [
                {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)}
                for name, given in self.calls
            ]
            message["tool_calls"] = [
                {"id": f"call_{k}", "type": "function", "function": one}
                for k, one in enumerate(named)
            ]
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        reason = "tool_calls" if self.calls else "stop"
        choice = {"index": 0, "finish_reason": reason, "message": message}
        kind = {"id": "x", "object": "chat.completion", "created": 0, "model": "scripted"}
        return json.dumps({**kind, "choices": [choice], "usage": usage}).encode()


def replies(messages: list[dict[str, Any]]) -> int:
    """How often the model has replied so far."""
    return sum(message["role"] == "assistant" for message in messages)


@dataclass
class Server:
    """The address of a running server; what each request asked, by which key, and when."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


@contextmanager
def serve(
    script: Callable[[list[dict[str, Any]]], Reply], server: Server | None = None, port: int = 0
) -> Iterator[Server]:
    """Answer requests by a function of the messages, at a free port or this one."""
    server = server or Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(request)
            server.keys.append(self.headers.get("Authorization"))
            server.times.append(time.monotonic())
            reply = script(request.get("messages", []))
            time.sleep(reply.delay)
            payload = reply.payload()
            try:
                self.send_response(reply.status)
                size = str(len(payload) * reply.repeat)
                plain = {"Content-Type": "application/json", "Content-Length": size}
                for name, value in (plain | reply.headers).items():
                    self.send_header(name, value)
                self.end_headers()
                if reply.cut is not None:
                    self.wfile.write(payload[: reply.cut])
                    self.close_connection = True
                    return
                for _ in range(reply.repeat):
                    step = 1 if reply.pause else len(payload)
                    for k in range(0, len(payload), step or 1):
                        time.sleep(reply.pause)
                        self.wfile.write(payload[k : k + step])
            except (BrokenPipeError, ConnectionResetError):
                pass

        def log_message(self, *arguments: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *arguments: object) -> None:
            pass

    http = Quiet(("127.0.0.1", port), Handler)
    server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()

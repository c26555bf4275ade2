"""A model on this machine that knows nothing, at the address that the guides name."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

WORDS = "I do not know."
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def reply(path: str) -> dict[str, Any]:
    """What the server says: a chat completion, or a response where that is asked for."""
    if path.endswith("/responses"):
        text = {"type": "output_text", "text": WORDS, "annotations": []}
        message = {"type": "message", "id": "m", "role": "assistant", "status": "completed",
                   "content": [text]}  # fmt: skip
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
                 "input_tokens_details": {"cached_tokens": 0},
                 "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
        return {"id": "r", "object": "response", "created_at": 0, "model": "any",
                "output": [message], "status": "completed", "parallel_tool_calls": True,
                "tool_choice": "auto", "tools": [], "usage": usage}  # fmt: skip
    choice = {"index": 0, "message": {"role": "assistant", "content": WORDS},
              "finish_reason": "stop"}  # fmt: skip
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "any",
            "choices": [choice], "usage": USAGE}  # fmt: skip


class _Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.dumps(reply(self.path)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""


@contextmanager
def serving_a_model(port: int) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", port), _Model)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()

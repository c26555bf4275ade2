"""One connection to the Hub under test: requests are read, faults happen, answers are sent."""

import json
import re
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from hub_store import Refusal, Repo

if TYPE_CHECKING:
    from local_hub import LocalHub

API = r"/api/(models|datasets|spaces)/([^/]+/[^/]+)"
KINDS = {"models": "model", "datasets": "dataset", "spaces": "space"}


Routes = Sequence[tuple[str, str, Callable[..., None]]]
"""Method, pattern of the whole path, and what answers: it is given the connection, what the groups
of the pattern hold, and the bytes that came as ``body``."""


class Connection(BaseHTTPRequestHandler):
    """One connection; every answer has a length, so that a client keeps the connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two writes; the second would wait
    hub: "LocalHub"
    routes: Routes

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        self._answer()

    do_HEAD = do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

    def _answer(self) -> None:
        body = self._body()
        split = urlsplit(self.path)
        path, self.query = split.path, parse_qs(split.query)
        with self.hub.lock:
            self.hub.asked(self.command, path, len(body))
            fault = next((f for f in self.hub.faults if f.fits(self.command, path)), None)
            self.fault = fault.kind if fault else None
            if callable(self.fault):
                self.fault()
                self.close_connection = True
                return
            if isinstance(self.fault, int):
                self.send(self.fault, {"error": f"injected {self.fault}"}, {"Retry-After": "0"})
                return
            try:
                self._route(path, body)
            except Refusal as refusal:
                headers = {"X-Error-Code": refusal.code, "X-Error-Message": refusal.message}
                errors = [{"message": refusal.message}]
                told = {"error": refusal.message, "errors": errors}
                self.send(refusal.status, told, {k: v for k, v in headers.items() if v})

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if not isinstance(body, bytes):
            self.send_header("Content-Type", "application/json")
        if "Content-Length" not in (headers or {}):
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if self.fault == "cut":
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        elif self.fault == "garble":
            middle = len(data) // 2
            self.wfile.write(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
        else:
            self.wfile.write(data)

    @property
    def user(self) -> str | None:
        told = self.headers.get("Authorization", "")
        return self.hub.store.user(told.removeprefix("Bearer ") or None)

    def _route(self, path: str, body: bytes) -> None:
        for method, pattern, serve in self.routes:
            asked = "GET" if self.command == "HEAD" else self.command
            if asked == method and (found := re.fullmatch(pattern, path)) is not None:
                serve(self, *map(unquote, found.groups()), body=body)
                return
        raise Refusal(404, "", f"no such route: {self.command} {path}")

    def flag(self, name: str) -> bool:
        return self.query.get(name, ["false"])[0].lower() in ("true", "1")

    def repo(self, kinds: str, name: str, *, content: bool = False) -> Repo:
        return self.hub.store.find(KINDS[kinds], name, self.user, content=content)

    def content(self, data: bytes, headers: dict[str, str]) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked is None:
            self.send(200, data, headers | {"Content-Length": str(len(data))})
            return
        start, end = int(asked[1]), min(int(asked[2] or len(data)), len(data) - 1)
        headers |= {"Content-Range": f"bytes {start}-{end}/{len(data)}"}
        part = data[start : end + 1]
        self.send(206, part, headers | {"Content-Length": str(len(part))})

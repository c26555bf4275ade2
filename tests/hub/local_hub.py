"""A Hub on this machine: the protocol that ``huggingface_hub`` and ``datasets`` speak, and faults.

It is a server over HTTP, so that processes can be killed against it. What it answers follows what
the client sends and reads; nothing of the client is imported.
"""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer

import hub_pulls
import hub_reading
import hub_writing
from hub_connection import Connection
from hub_store import Repo, Store


@dataclass
class Fault:
    """What goes wrong with the next ``times`` requests that match.

    ``kind`` is a status, ``cut`` (the body ends half way), ``garble`` (a byte of it is another),
    or a function that is called instead of an answer.
    """

    method: str
    pattern: str
    kind: int | str | Callable[[], None]
    times: int = 1
    after: int = 0

    def fits(self, method: str, path: str) -> bool:
        if method != self.method or not re.search(self.pattern, path) or self.times < 1:
            return False
        if self.after:
            self.after -= 1
            return False
        self.times -= 1
        return True


@dataclass(frozen=True)
class Request:
    """One request as it came: ``sent`` are the bytes of its body."""

    method: str
    path: str
    sent: int


@dataclass
class LocalHub:
    """The Hub under test: what it holds, what it was asked, and what is to go wrong."""

    store: Store = field(default_factory=Store)
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    endpoint: str = ""
    chunk: int = 0
    large_from: int = 1 << 20

    def add_user(self, name: str, *organisations: str) -> str:
        """A user with a token, and a member of organisations; the token."""
        token = f"hf_{name}"
        self.store.users[token] = name
        for organisation in organisations:
            self.store.members.setdefault(organisation, set()).add(name)
        return token

    def repo(self, name: str, kind: str = "dataset") -> Repo:
        return self.store.repos[kind, name]

    def fail(
        self, method: str, pattern: str, kind: int | str | Callable[[], None], times: int = 1,
        after: int = 0,
    ) -> None:  # fmt: skip
        self.faults.append(Fault(method, pattern, kind, times, after))

    def asked(self, method: str, path: str, sent: int) -> None:
        self.requests.append(Request(method, path, sent))

    def uploads(self) -> list[Request]:
        """The requests since the last look that carried files: large ones, and commits."""
        found = [
            r for r in self.requests
            if (r.method == "PUT" and r.path.startswith("/lfs/")) or "/commit/" in r.path
        ]  # fmt: skip
        self.requests.clear()
        return found


@contextmanager
def serving(hub: LocalHub) -> Iterator[LocalHub]:
    """The Hub at work, on a port of its own."""
    routes = (*hub_reading.ROUTES, *hub_writing.ROUTES, *hub_pulls.ROUTES)
    handler = type("Handler", (Connection,), {"hub": hub, "routes": routes})
    server = _Server(("127.0.0.1", 0), handler)
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    """A thread for each connection; a client that was killed is nothing to report."""

    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """What went wrong with a connection the client tells."""

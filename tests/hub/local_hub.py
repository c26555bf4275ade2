"""A Hub on this machine: the protocol that ``huggingface_hub`` and ``datasets`` speak, and faults.

It is a server over HTTP, so that processes can be killed against it. What it answers follows what
the client sends and reads; nothing of the client is imported.
"""

import hashlib
import json
import re
import threading
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from hub_store import Blob, Fault, Refusal, Repo, Store, check_card

API = r"/api/(models|datasets|spaces)/([^/]+/[^/]+)"
LARGE_FROM = 1 << 20
Says = Callable[..., tuple[int, str, str]]
"""Runs a command: its exit code, output and errors."""


Request = namedtuple("Request", "method path")


@dataclass
class LocalHub:
    """The Hub under test: what it holds, what it was asked, and what is to go wrong."""

    store: Store = field(default_factory=Store)
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    endpoint: str = ""

    def add_user(self, name: str, *organisations: str) -> str:
        """A user with a token, and a member of organisations; the token."""
        token = f"hf_{name}"
        self.store.users[token] = name
        for organisation in organisations:
            self.store.members.setdefault(organisation, set()).add(name)
        return token

    def repo(self, name: str, kind: str = "dataset") -> Repo:
        return self.store.repos[kind, name]

    def fail(self, method: str, pattern: str, kind: Any, times: int = 1, after: int = 0) -> None:
        self.faults.append(Fault(method, pattern, kind, times, after))

    def uploads(self) -> list[Request]:
        """The requests since the last look that carried files: large ones, and commits."""
        found = [
            r for r in self.requests
            if (r.method == "PUT" and r.path.startswith("/lfs/")) or "/commit/" in r.path
        ]  # fmt: skip
        self.requests.clear()
        return found


def put(hub: LocalHub, name: str, folder: Path, tag: str | None = None) -> None:
    """A folder as it stands becomes the newest commit of a dataset, and a tag of it.

    No check of ours is asked.
    """
    repo = hub.store.repos.setdefault(("dataset", name), Repo("dataset", name))
    files = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        data, path = file.read_bytes(), file.relative_to(folder).as_posix()
        digest = hashlib.sha256(data).hexdigest() if file.suffix == ".parquet" else None
        files[path] = Blob(data, digest)
        if digest is not None:
            hub.store.large[digest] = data
    oid = repo.commit("refs/heads/main", files, "put")
    if tag is not None:
        repo.refs[f"refs/tags/{tag}"] = oid


@contextmanager
def serving(hub: LocalHub) -> Iterator[LocalHub]:
    """The Hub at work, on a port of its own."""
    server = _Server(("127.0.0.1", 0), type("Handler", (Connection,), {"hub": hub}))
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


ROUTES: list[tuple[str, str, Callable[..., None]]] = []
"""Method, pattern of the whole path, and what answers: it is given the connection, what the groups
of the pattern hold, and the bytes that came as ``body``."""


def route(method: str, *patterns: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def register(serve: Callable[..., None]) -> Callable[..., None]:
        ROUTES.extend((method, pattern, serve) for pattern in patterns)
        return serve

    return register


class Connection(BaseHTTPRequestHandler):
    """One connection; every answer has a length, so that a client keeps the connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two writes; the second would wait
    hub: LocalHub

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        split = urlsplit(self.path)
        path, self.query = split.path, parse_qs(split.query)
        with self.hub.lock:
            self.hub.requests.append(Request(self.command, path))
            fault = next((f for f in self.hub.faults if f.fits(self.command, path)), None)
            self.fault = fault.kind if fault else None
            if callable(self.fault):
                self.fault()
                self.close_connection = True
                return
            try:
                if isinstance(self.fault, int):
                    raise Refusal(self.fault, "", f"injected {self.fault}")
                self._route(path, body)
            except Refusal as refusal:
                told = {"error": refusal.message, "errors": [{"message": refusal.message}]}
                headers = {"X-Error-Code": refusal.code, "X-Error-Message": refusal.message,
                           "Retry-After": "0"}  # fmt: skip
                self.send(refusal.status, told, {k: v for k, v in headers.items() if v})

    do_HEAD = do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

    def _route(self, path: str, body: bytes) -> None:
        asked = "GET" if self.command == "HEAD" else self.command
        for method, pattern, serve in ROUTES:
            if asked == method and (found := re.fullmatch(pattern, path)) is not None:
                serve(self, *map(unquote, found.groups()), body=body)
                return
        raise Refusal(404, "", f"no such route: {self.command} {path}")

    def send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Length": str(len(data)), **(headers or {})}
        if not isinstance(body, bytes):
            headers["Content-Type"] = "application/json"
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if self.fault == "garble":
            middle = len(data) // 2
            data = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        self.wfile.write(data)

    def send_content(self, data: bytes, headers: dict[str, str]) -> None:
        """Send a file, or the range of it that is asked for."""
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked is None:
            self.send(200, data, headers)
            return
        start, end = int(asked[1]), min(int(asked[2] or len(data)), len(data) - 1)
        headers |= {"Content-Range": f"bytes {start}-{end}/{len(data)}"}
        self.send(206, data[start : end + 1], headers)

    @property
    def user(self) -> str | None:
        told = self.headers.get("Authorization", "")
        return self.hub.store.user(told.removeprefix("Bearer ") or None)

    @property
    def known_user(self) -> str:
        if (user := self.user) is None:
            raise Refusal(401, "", "Invalid username or password")
        return user

    def flag(self, name: str) -> bool:
        return self.query.get(name, ["false"])[0].lower() in ("true", "1")

    def repo(self, kinds: str, name: str, *, content: bool = False, write: bool = False) -> Repo:
        repo = self.hub.store.find(kinds.removesuffix("s"), name, self.user, content=content)
        if write and not self.hub.store.may_write(repo, self.user):
            raise Refusal(403, "", "no write access")
        return repo


@route("GET", r"/api/whoami-v2")
def whoami(at: Connection, *, body: bytes) -> None:
    user = at.known_user
    orgs = [{"name": o} for o, users in at.hub.store.members.items() if user in users]
    at.send(200, {"type": "user", "name": user, "orgs": orgs, "auth": {}})


@route("POST", r"/api/repos/create")
def create(at: Connection, *, body: bytes) -> None:
    told, user = json.loads(body), at.user
    kind = told.get("type") or "model"
    name = f"{told.get('organization') or user}/{told['name']}"
    prefix = "" if kind == "model" else f"{kind}s/"
    url = {"url": f"{at.hub.endpoint}/{prefix}{name}", "name": name}
    if (kind, name) in at.hub.store.repos:
        at.send(409, {"error": "You already created this repo", **url})
        return
    at.hub.store.create(user, kind, name, told)
    at.send(200, url)


@route("POST", r"/api/validate-yaml")
def validate(at: Connection, *, body: bytes) -> None:
    check_card(json.loads(body)["content"])
    at.send(200, {"errors": [], "warnings": []})


@route("PUT", rf"{API}/settings")
def settings(at: Connection, kinds: str, name: str, *, body: bytes) -> None:
    repo = at.repo(kinds, name, write=True)
    repo.gated = json.loads(body).get("gated", repo.gated)
    at.send(200, {})


@route("GET", API, rf"{API}/revision/([^/]+)")
def info(at: Connection, kinds: str, name: str, revision: str = "main", *, body: bytes) -> None:
    at.send(200, at.repo(kinds, name).told(revision))


@route("GET", rf"{API}/refs")
def refs(at: Connection, kinds: str, name: str, *, body: bytes) -> None:
    told: dict[str, Any] = {"converts": []}
    groups = {"refs/heads/": "branches", "refs/tags/": "tags", "refs/pr/": "pullRequests"}
    found = at.repo(kinds, name).refs.items()
    for prefix, group in groups.items():
        told[group] = [
            {"name": ref.removeprefix(prefix), "ref": ref, "targetCommit": oid}
            for ref, oid in found
            if ref.startswith(prefix)
        ]
    at.send(200, told)


@route("POST", rf"{API}/tag/([^/]+)")
def tag(at: Connection, kinds: str, name: str, revision: str, *, body: bytes) -> None:
    repo, ref = at.repo(kinds, name, write=True), f"refs/tags/{json.loads(body)['tag']}"
    if ref in repo.refs:
        raise Refusal(409, "", "Tag reference exists already")
    repo.refs[ref] = repo.resolve(revision)
    at.send(200, {})


@route("GET", rf"{API}/tree/([^/]+)", rf"{API}/tree/([^/]+)/(.+)")
def tree(
    at: Connection, kinds: str, name: str, revision: str, folder: str = "", *, body: bytes
) -> None:
    repo = at.repo(kinds, name, content=True)
    at.send(200, repo.tree(revision, folder, at.flag("recursive")))


@route("GET", r"/(datasets)/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")
def resolve(
    at: Connection, kinds: str, name: str, revision: str, path: str, *, body: bytes
) -> None:
    repo = at.repo(kinds, name, content=True)
    oid = repo.resolve(revision)
    blob = repo.commits[oid].get(path)
    if blob is None:
        raise Refusal(404, "EntryNotFound", f"{path} does not exist on {revision}")
    headers = {"X-Repo-Commit": oid, "ETag": f'"{blob.etag}"', "Accept-Ranges": "bytes"}
    if blob.lfs is None:
        at.send_content(blob.data, headers)
        return
    headers |= {"X-Linked-Size": str(len(blob.data)), "X-Linked-ETag": f'"{blob.lfs}"'}
    # Another host, as on the Hub: a client follows redirects on one host by itself.
    headers["Location"] = f"{at.hub.endpoint}/cdn/{blob.lfs}".replace("127.0.0.1", "localhost")
    at.send(302, b"", headers)


@route("GET", r"/cdn/([0-9a-f]+)")
def cdn(at: Connection, oid: str, *, body: bytes) -> None:
    at.send_content(at.hub.store.large[oid], {"ETag": f'"{oid}"', "Accept-Ranges": "bytes"})


@route("POST", rf"{API}/preupload/([^/]+)")
def preupload(at: Connection, kinds: str, name: str, revision: str, *, body: bytes) -> None:
    files, told = at.repo(kinds, name).files(revision), []
    for file in json.loads(body)["files"]:
        path = file["path"]
        large = path.endswith(".parquet") or file["size"] >= LARGE_FROM
        oid = files[path].etag if path in files else None
        mode = "lfs" if large else "regular"
        told.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
    at.send(200, {"files": told})


@route("POST", r"/(?:(?:datasets|spaces)/)?([^/]+/[^/]+)\.git/info/lfs/objects/batch")
def batch(at: Connection, *found: str, body: bytes) -> None:
    assert at.known_user
    objects: list[dict[str, Any]] = []
    for wanted in json.loads(body)["objects"]:
        entry = {"oid": wanted["oid"], "size": wanted["size"]}
        if wanted["oid"] not in at.hub.store.large:
            place = f"{at.hub.endpoint}/lfs/{wanted['oid']}"
            entry["actions"] = {"upload": {"href": place, "header": {}}}
        objects.append(entry)
    at.send(200, {"transfer": "basic", "objects": objects})


@route("PUT", r"/lfs/([0-9a-f]+)")
def keep(at: Connection, oid: str, *, body: bytes) -> None:
    if hashlib.sha256(body).hexdigest() != oid:
        raise Refusal(400, "", "the SHA-256 of what came is another")
    at.hub.store.large[oid] = body
    at.send(200, b"")


@route("POST", rf"{API}/commit/([^/]+)")
def commit(at: Connection, kinds: str, name: str, revision: str, *, body: bytes) -> None:
    lines = [json.loads(line) for line in body.splitlines() if line]
    repo = at.repo(kinds, name)
    oid, pr = at.hub.store.write(repo, revision, lines, at.user, at.flag("create_pr"))
    place = f"{at.hub.endpoint}/{kinds}/{name}"
    told = {"success": True, "commitOid": oid, "commitUrl": f"{place}/commit/{oid}"}
    if pr is not None:
        told["pullRequestUrl"] = f"{place}/discussions/{pr.num}"
    at.send(200, told)


@route("GET", rf"{API}/discussions")
def discussions(at: Connection, kinds: str, name: str, *, body: bytes) -> None:
    repo = at.repo(kinds, name)
    author = at.query.get("author", [None])[0]
    found = [d.told(repo) for d in reversed(repo.discussions) if author in (None, d.author)]
    start = 10 * int(at.query.get("p", ["0"])[0])
    told = {"count": len(found), "start": start, "discussions": found[start : start + 10]}
    at.send(200, told)


@route("GET", rf"{API}/discussions/(\d+)")
def discussion(at: Connection, kinds: str, name: str, num: str, *, body: bytes) -> None:
    repo = at.repo(kinds, name)
    at.send(200, repo.discussions[int(num) - 1].told(repo))


@route("POST", rf"{API}/discussions/(\d+)/comment")
def comment(at: Connection, kinds: str, name: str, num: str, *, body: bytes) -> None:
    pr = at.repo(kinds, name).discussions[int(num) - 1]
    at.send(200, {"newMessage": pr.comment(at.known_user, json.loads(body)["comment"])})


@route("POST", rf"{API}/discussions/(\d+)/status")
def status(at: Connection, kinds: str, name: str, num: str, *, body: bytes) -> None:
    pr = at.repo(kinds, name, write=True).discussions[int(num) - 1]
    pr.status = json.loads(body)["status"]
    at.send(200, {"newStatus": pr.say("status-change", at.known_user, {"status": pr.status})})

"""A Hub on this machine: the protocol that ``huggingface_hub`` and ``datasets`` speak, and faults.

It is a server over HTTP, so that processes can be killed against it. What it answers follows what
the client sends and reads; nothing of the client is imported.
"""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from hub_store import (
    Blob,
    Discussion,
    Refusal,
    Repo,
    Store,
    check_card,
    comment_on,
)

KINDS = {"models": "model", "datasets": "dataset", "spaces": "space"}


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
    page: int = 1000
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
    handler = type("Handler", (_Handler,), {"hub": hub})
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


class _Handler(BaseHTTPRequestHandler):
    """One connection; every answer has a length, so that a client keeps the connection."""

    protocol_version = "HTTP/1.1"
    hub: LocalHub

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
            self.hub.requests.append(Request(self.command, path, len(body)))
            fault = next((f for f in self.hub.faults if f.fits(self.command, path)), None)
            self.fault = fault.kind if fault else None
            if callable(self.fault):
                self.fault()
                self.close_connection = True
                return
            if isinstance(self.fault, int):
                self._send(self.fault, {"error": f"injected {self.fault}"}, {"Retry-After": "0"})
                return
            try:
                self._route(path, body)
            except Refusal as refusal:
                headers = {"X-Error-Code": refusal.code, "X-Error-Message": refusal.message}
                errors = [{"message": refusal.message}]
                told = {"error": refusal.message, "errors": errors}
                self._send(refusal.status, told, {k: v for k, v in headers.items() if v})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
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
    def _user(self) -> str | None:
        told = self.headers.get("Authorization", "")
        return self.hub.store.user(told.removeprefix("Bearer ") or None)

    def _route(self, path: str, body: bytes) -> None:
        for method, pattern, serve in _ROUTES:
            asked = "GET" if self.command == "HEAD" else self.command
            if asked == method and (found := re.fullmatch(pattern, path)) is not None:
                serve(self, *map(unquote, found.groups()), body=body)
                return
        raise Refusal(404, "", f"no such route: {self.command} {path}")

    def _flag(self, name: str) -> bool:
        return self.query.get(name, ["false"])[0].lower() in ("true", "1")

    def _repo(self, kinds: str, name: str, *, content: bool = False) -> Repo:
        return self.hub.store.find(KINDS[kinds], name, self._user, content=content)

    # Users and repositories

    def whoami(self, *, body: bytes) -> None:
        user = self._user
        if user is None:
            raise Refusal(401, "", "Invalid username or password")
        orgs = [{"name": o} for o, users in self.hub.store.members.items() if user in users]
        self._send(200, {"type": "user", "name": user, "orgs": orgs, "auth": {}})

    def create(self, *, body: bytes) -> None:
        told, user = json.loads(body), self._user
        kind, name = (
            told.get("type") or "model",
            f"{told.get('organization') or user}/{told['name']}",
        )
        prefix = "" if kind == "model" else f"{kind}s/"
        url = {"url": f"{self.hub.endpoint}/{prefix}{name}", "name": name}
        if (kind, name) in self.hub.store.repos:
            self._send(409, {"error": "You already created this repo", **url})
            return
        self.hub.store.create(user, kind, name, told)
        self._send(200, url)

    def validate(self, *, body: bytes) -> None:
        check_card(json.loads(body)["content"])
        self._send(200, {"errors": [], "warnings": []})

    def settings(self, kinds: str, name: str, *, body: bytes) -> None:
        repo, told = self._repo(kinds, name), json.loads(body)
        if not self.hub.store.may_write(repo, self._user):
            raise Refusal(403, "", "no write access")
        repo.gated = told.get("gated", repo.gated)
        if "visibility" in told:
            repo.private = told["visibility"] == "private"
        self._send(200, {})

    def info(self, kinds: str, name: str, revision: str = "main", *, body: bytes) -> None:
        self._send(200, self._repo(kinds, name).told(revision))

    def refs(self, kinds: str, name: str, *, body: bytes) -> None:
        repo = self._repo(kinds, name)
        told: dict[str, Any] = {"branches": [], "converts": [], "tags": [], "pullRequests": []}
        groups = {"refs/heads/": "branches", "refs/tags/": "tags", "refs/pr/": "pullRequests"}
        for ref, oid in repo.refs.items():
            for prefix, group in groups.items():
                if ref.startswith(prefix):
                    short = ref.removeprefix(prefix)
                    told[group].append({"name": short, "ref": ref, "targetCommit": oid})
        self._send(200, told)

    def tag(self, kinds: str, name: str, revision: str, *, body: bytes) -> None:
        repo, ref = self._repo(kinds, name), f"refs/tags/{json.loads(body)['tag']}"
        if not self.hub.store.may_write(repo, self._user):
            raise Refusal(403, "", "no write access")
        if ref in repo.refs:
            raise Refusal(409, "", "Tag reference exists already")
        repo.refs[ref] = repo.resolve(revision)
        self._send(200, {})

    # Reading

    def tree(self, kinds: str, name: str, revision: str, folder: str = "", *, body: bytes) -> None:
        repo = self._repo(kinds, name, content=True)
        recursive, expand = self._flag("recursive"), self._flag("expand")
        entries = repo.tree(revision, folder, recursive, expand)
        start = int(self.query.get("cursor", ["0"])[0])
        headers = {}
        if start + self.hub.page < len(entries):
            asked = f"recursive={recursive}&expand={expand}&cursor={start + self.hub.page}"
            headers["Link"] = f'<{self.hub.endpoint}{urlsplit(self.path).path}?{asked}>; rel="next"'
        self._send(200, entries[start : start + self.hub.page], headers)

    def paths_info(self, kinds: str, name: str, revision: str, *, body: bytes) -> None:
        repo = self._repo(kinds, name, content=True)
        told = parse_qs(body.decode())
        expand = told.get("expand", ["false"])[0].lower() == "true"
        self._send(200, repo.paths_info(revision, told.get("paths", []), expand))

    def resolve(self, *found: str, body: bytes) -> None:
        kinds, name, revision, path = found if len(found) == 4 else ("models", *found)
        repo = self._repo(kinds, name, content=True)
        oid = repo.resolve(revision)
        blob = repo.commits[oid].get(path)
        if blob is None:
            raise Refusal(404, "EntryNotFound", f"{path} does not exist on {revision}")
        headers = {"X-Repo-Commit": oid, "ETag": f'"{blob.etag}"', "Accept-Ranges": "bytes"}
        if blob.lfs is None:
            self._content(blob.data, headers)
            return
        headers |= {"X-Linked-Size": str(len(blob.data)), "X-Linked-ETag": f'"{blob.lfs}"'}
        # Another host, as on the Hub: a client follows redirects on one host by itself.
        headers["Location"] = f"{self.hub.endpoint}/cdn/{blob.lfs}".replace(
            "127.0.0.1", "localhost"
        )
        self._send(302, b"", headers)

    def cdn(self, oid: str, *, body: bytes) -> None:
        self._content(self.hub.store.large[oid], {"ETag": f'"{oid}"', "Accept-Ranges": "bytes"})

    def _content(self, data: bytes, headers: dict[str, str]) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked is None:
            self._send(200, data, headers | {"Content-Length": str(len(data))})
            return
        start, end = int(asked[1]), min(int(asked[2] or len(data)), len(data) - 1)
        if start >= len(data):
            self._send(416, b"", {"Content-Range": f"bytes */{len(data)}"})
            return
        headers |= {"Content-Range": f"bytes {start}-{end}/{len(data)}"}
        part = data[start : end + 1]
        self._send(206, part, headers | {"Content-Length": str(len(part))})

    # Writing

    def preupload(self, kinds: str, name: str, revision: str, *, body: bytes) -> None:
        repo = self._repo(kinds, name)
        files, told = repo.files(revision), []
        for file in json.loads(body)["files"]:
            path = file["path"]
            large = path.endswith(".parquet") or file["size"] >= self.hub.large_from
            oid = files[path].etag if path in files else None
            mode = "lfs" if large else "regular"
            told.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        self._send(200, {"files": told})

    def batch(self, *found: str, body: bytes) -> None:
        if self._user is None:
            raise Refusal(401, "", "Invalid username or password")
        objects: list[dict[str, Any]] = []
        for wanted in json.loads(body)["objects"]:
            entry = {"oid": wanted["oid"], "size": wanted["size"]}
            if wanted["oid"] not in self.hub.store.large:
                entry["actions"] = self._upload(wanted["oid"], wanted["size"])
            objects.append(entry)
        self._send(200, {"transfer": "basic", "objects": objects})

    def _upload(self, oid: str, size: int) -> dict[str, Any]:
        place, chunk = f"{self.hub.endpoint}/lfs/{oid}", self.hub.chunk
        verify = {"href": f"{place}/verify"}
        if not chunk or size <= chunk:
            return {"upload": {"href": place, "header": {}}, "verify": verify}
        parts = {str(k + 1): f"{place}/{k + 1}" for k in range(-(-size // chunk))}
        header = {"chunk_size": str(chunk), **parts}
        return {"upload": {"href": f"{place}/complete", "header": header}, "verify": verify}

    def put(self, oid: str, *, body: bytes) -> None:
        self._keep(oid, body)
        self._send(200, b"")

    def put_part(self, oid: str, number: str, *, body: bytes) -> None:
        self.hub.store.parts[oid, int(number)] = body
        self._send(200, b"", {"ETag": f'"{hashlib.md5(body).hexdigest()}"'})

    def complete(self, oid: str, *, body: bytes) -> None:
        told = json.loads(body)["parts"]
        pieces = [self.hub.store.parts.pop((oid, part["partNumber"])) for part in told]
        self._keep(oid, b"".join(pieces))
        self._send(200, {})

    def _keep(self, oid: str, data: bytes) -> None:
        if hashlib.sha256(data).hexdigest() != oid:
            raise Refusal(400, "", "the SHA-256 of what came is another")
        self.hub.store.large[oid] = data

    def verify(self, oid: str, *, body: bytes) -> None:
        if oid not in self.hub.store.large:
            raise Refusal(404, "", "no such object")
        self._send(200, {})

    def commit(self, kinds: str, name: str, revision: str, *, body: bytes) -> None:
        repo = self._repo(kinds, name)
        lines = [json.loads(line) for line in body.splitlines() if line]
        pull = self._flag("create_pr")
        oid, pr = self.hub.store.write(repo, revision, lines, self._user, pull)
        place = f"{self.hub.endpoint}/{kinds}/{name}"
        told = {"success": True, "commitOid": oid, "commitUrl": f"{place}/commit/{oid}"}
        if pr is not None:
            told["pullRequestUrl"] = f"{place}/discussions/{pr.num}"
        self._send(200, told)

    # Pull requests

    def _discussion(self, kinds: str, name: str, num: str) -> tuple[Repo, Discussion]:
        repo = self._repo(kinds, name)
        if not 0 < int(num) <= len(repo.discussions):
            raise Refusal(404, "", "no such discussion")
        return repo, repo.discussions[int(num) - 1]

    def discussions(self, kinds: str, name: str, *, body: bytes) -> None:
        repo = self._repo(kinds, name)
        wanted = {key: self.query.get(key, [None])[0] for key in ("status", "author")}
        found = [
            d.told(repo) for d in reversed(repo.discussions)
            if wanted["status"] in (None, "all", d.status)
            and wanted["author"] in (None, d.author)
        ]  # fmt: skip
        start = 10 * int(self.query.get("p", ["0"])[0])
        page = found[start : start + 10]
        self._send(200, {"count": len(found), "start": start, "discussions": page})

    def discussion(self, kinds: str, name: str, num: str, *, body: bytes) -> None:
        repo, pr = self._discussion(kinds, name, num)
        self._send(200, pr.told(repo))

    def comment(self, kinds: str, name: str, num: str, *, body: bytes) -> None:
        _, pr = self._discussion(kinds, name, num)
        user = self._user
        assert user is not None
        self._send(200, {"newMessage": comment_on(pr, user, json.loads(body)["comment"])})

    def merge(self, kinds: str, name: str, num: str, *, body: bytes) -> None:
        repo, pr = self._discussion(kinds, name, num)
        self.hub.store.merge(repo, pr, self._user)
        self._send(200, {})

    def status(self, kinds: str, name: str, num: str, *, body: bytes) -> None:
        repo, pr = self._discussion(kinds, name, num)
        user = self._user
        if not self.hub.store.may_write(repo, user) and user != pr.author:
            raise Refusal(403, "", "not yours")
        pr.status = json.loads(body)["status"]
        assert user is not None
        self._send(200, {"newStatus": pr.say("status-change", user, {"status": pr.status})})


_API = r"/api/(models|datasets|spaces)/([^/]+/[^/]+)"
_ROUTES = (
    ("GET", r"/api/whoami-v2", _Handler.whoami),
    ("POST", r"/api/repos/create", _Handler.create),
    ("POST", r"/api/validate-yaml", _Handler.validate),
    ("PUT", rf"{_API}/settings", _Handler.settings),
    ("GET", _API, _Handler.info),
    ("GET", rf"{_API}/revision/([^/]+)", _Handler.info),
    ("GET", rf"{_API}/refs", _Handler.refs),
    ("POST", rf"{_API}/tag/([^/]+)", _Handler.tag),
    ("GET", rf"{_API}/tree/([^/]+)", _Handler.tree),
    ("GET", rf"{_API}/tree/([^/]+)/(.+)", _Handler.tree),
    ("POST", rf"{_API}/paths-info/([^/]+)", _Handler.paths_info),
    ("GET", r"/(datasets|spaces)/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", _Handler.resolve),
    ("GET", r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", _Handler.resolve),
    ("GET", r"/cdn/([0-9a-f]+)", _Handler.cdn),
    ("POST", rf"{_API}/preupload/([^/]+)", _Handler.preupload),
    ("POST", r"/(?:(?:datasets|spaces)/)?([^/]+/[^/]+)\.git/info/lfs/objects/batch",
     _Handler.batch),
    ("PUT", r"/lfs/([0-9a-f]+)", _Handler.put),
    ("PUT", r"/lfs/([0-9a-f]+)/(\d+)", _Handler.put_part),
    ("POST", r"/lfs/([0-9a-f]+)/complete", _Handler.complete),
    ("POST", r"/lfs/([0-9a-f]+)/verify", _Handler.verify),
    ("POST", rf"{_API}/commit/([^/]+)", _Handler.commit),
    ("GET", rf"{_API}/discussions", _Handler.discussions),
    ("GET", rf"{_API}/discussions/(\d+)", _Handler.discussion),
    ("POST", rf"{_API}/discussions/(\d+)/comment", _Handler.comment),
    ("POST", rf"{_API}/discussions/(\d+)/merge", _Handler.merge),
    ("POST", rf"{_API}/discussions/(\d+)/status", _Handler.status),
)  # fmt: skip
__all__ = ["Blob", "LocalHub", "Request", "serving"]

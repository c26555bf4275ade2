"""What the Hub under test takes: large files and commits."""

import hashlib
import json
from typing import Any

from hub_connection import API, Connection, Routes
from hub_store import Refusal


def preupload(at: Connection, kinds: str, name: str, revision: str, *, body: bytes) -> None:
    repo = at.repo(kinds, name)
    files, told = repo.files(revision), []
    for file in json.loads(body)["files"]:
        path = file["path"]
        large = path.endswith(".parquet") or file["size"] >= at.hub.large_from
        oid = files[path].etag if path in files else None
        mode = "lfs" if large else "regular"
        told.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
    at.send(200, {"files": told})


def batch(at: Connection, *found: str, body: bytes) -> None:
    if at.user is None:
        raise Refusal(401, "", "Invalid username or password")
    objects: list[dict[str, Any]] = []
    for wanted in json.loads(body)["objects"]:
        entry = {"oid": wanted["oid"], "size": wanted["size"]}
        if wanted["oid"] not in at.hub.store.large:
            entry["actions"] = _upload(at, wanted["oid"], wanted["size"])
        objects.append(entry)
    at.send(200, {"transfer": "basic", "objects": objects})


def _upload(at: Connection, oid: str, size: int) -> dict[str, Any]:
    place, chunk = f"{at.hub.endpoint}/lfs/{oid}", at.hub.chunk
    verify = {"href": f"{place}/verify"}
    if not chunk or size <= chunk:
        return {"upload": {"href": place, "header": {}}, "verify": verify}
    parts = {str(k + 1): f"{place}/{k + 1}" for k in range(-(-size // chunk))}
    header = {"chunk_size": str(chunk), **parts}
    return {"upload": {"href": f"{place}/complete", "header": header}, "verify": verify}


def put(at: Connection, oid: str, *, body: bytes) -> None:
    _keep(at, oid, body)
    at.send(200, b"")


def put_part(at: Connection, oid: str, number: str, *, body: bytes) -> None:
    at.hub.store.parts[oid, int(number)] = body
    at.send(200, b"", {"ETag": f'"{hashlib.md5(body).hexdigest()}"'})


def complete(at: Connection, oid: str, *, body: bytes) -> None:
    told = json.loads(body)["parts"]
    pieces = [at.hub.store.parts.pop((oid, part["partNumber"])) for part in told]
    _keep(at, oid, b"".join(pieces))
    at.send(200, {})


def _keep(at: Connection, oid: str, data: bytes) -> None:
    if hashlib.sha256(data).hexdigest() != oid:
        raise Refusal(400, "", "the SHA-256 of what came is another")
    at.hub.store.large[oid] = data


def verify(at: Connection, oid: str, *, body: bytes) -> None:
    if oid not in at.hub.store.large:
        raise Refusal(404, "", "no such object")
    at.send(200, {})


def commit(at: Connection, kinds: str, name: str, revision: str, *, body: bytes) -> None:
    repo = at.repo(kinds, name)
    lines = [json.loads(line) for line in body.splitlines() if line]
    pull = at.flag("create_pr")
    oid, pr = at.hub.store.write(repo, revision, lines, at.user, pull)
    place = f"{at.hub.endpoint}/{kinds}/{name}"
    told = {"success": True, "commitOid": oid, "commitUrl": f"{place}/commit/{oid}"}
    if pr is not None:
        told["pullRequestUrl"] = f"{place}/discussions/{pr.num}"
    at.send(200, told)


ROUTES: Routes = (
    ("POST", rf"{API}/preupload/([^/]+)", preupload),
    ("POST", r"/(?:(?:datasets|spaces)/)?([^/]+/[^/]+)\.git/info/lfs/objects/batch",
     batch),
    ("PUT", r"/lfs/([0-9a-f]+)", put),
    ("PUT", r"/lfs/([0-9a-f]+)/(\d+)", put_part),
    ("POST", r"/lfs/([0-9a-f]+)/complete", complete),
    ("POST", r"/lfs/([0-9a-f]+)/verify", verify),
    ("POST", rf"{API}/commit/([^/]+)", commit),
)  # fmt: skip

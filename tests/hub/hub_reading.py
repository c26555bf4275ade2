"""What the Hub under test tells: users, repositories, files."""

import json
from typing import Any

from hub_connection import API, Connection, Routes
from hub_store import Refusal, check_card


def whoami(at: Connection, *, body: bytes) -> None:
    user = at.user
    if user is None:
        raise Refusal(401, "", "Invalid username or password")
    orgs = [{"name": o} for o, users in at.hub.store.members.items() if user in users]
    at.send(200, {"type": "user", "name": user, "orgs": orgs, "auth": {}})


def create(at: Connection, *, body: bytes) -> None:
    told, user = json.loads(body), at.user
    kind, name = (
        told.get("type") or "model",
        f"{told.get('organization') or user}/{told['name']}",
    )
    prefix = "" if kind == "model" else f"{kind}s/"
    url = {"url": f"{at.hub.endpoint}/{prefix}{name}", "name": name}
    if (kind, name) in at.hub.store.repos:
        at.send(409, {"error": "You already created this repo", **url})
        return
    at.hub.store.create(user, kind, name, told)
    at.send(200, url)


def validate(at: Connection, *, body: bytes) -> None:
    check_card(json.loads(body)["content"])
    at.send(200, {"errors": [], "warnings": []})


def settings(at: Connection, kinds: str, name: str, *, body: bytes) -> None:
    repo, told = at.repo(kinds, name), json.loads(body)
    if not at.hub.store.may_write(repo, at.user):
        raise Refusal(403, "", "no write access")
    repo.gated = told.get("gated", repo.gated)
    at.send(200, {})


def info(at: Connection, kinds: str, name: str, revision: str = "main", *, body: bytes) -> None:
    at.send(200, at.repo(kinds, name).told(revision))


def refs(at: Connection, kinds: str, name: str, *, body: bytes) -> None:
    repo = at.repo(kinds, name)
    told: dict[str, Any] = {"branches": [], "converts": [], "tags": [], "pullRequests": []}
    groups = {"refs/heads/": "branches", "refs/tags/": "tags", "refs/pr/": "pullRequests"}
    for ref, oid in repo.refs.items():
        for prefix, group in groups.items():
            if ref.startswith(prefix):
                short = ref.removeprefix(prefix)
                told[group].append({"name": short, "ref": ref, "targetCommit": oid})
    at.send(200, told)


def tag(at: Connection, kinds: str, name: str, revision: str, *, body: bytes) -> None:
    repo, ref = at.repo(kinds, name), f"refs/tags/{json.loads(body)['tag']}"
    if not at.hub.store.may_write(repo, at.user):
        raise Refusal(403, "", "no write access")
    if ref in repo.refs:
        raise Refusal(409, "", "Tag reference exists already")
    repo.refs[ref] = repo.resolve(revision)
    at.send(200, {})


def tree(
    at: Connection, kinds: str, name: str, revision: str, folder: str = "", *, body: bytes
) -> None:
    repo = at.repo(kinds, name, content=True)
    recursive, expand = at.flag("recursive"), at.flag("expand")
    entries = repo.tree(revision, folder, recursive, expand)
    at.send(200, entries)


def resolve(at: Connection, *found: str, body: bytes) -> None:
    kinds, name, revision, path = found if len(found) == 4 else ("models", *found)
    repo = at.repo(kinds, name, content=True)
    oid = repo.resolve(revision)
    blob = repo.commits[oid].get(path)
    if blob is None:
        raise Refusal(404, "EntryNotFound", f"{path} does not exist on {revision}")
    headers = {"X-Repo-Commit": oid, "ETag": f'"{blob.etag}"', "Accept-Ranges": "bytes"}
    if blob.lfs is None:
        at.content(blob.data, headers)
        return
    headers |= {"X-Linked-Size": str(len(blob.data)), "X-Linked-ETag": f'"{blob.lfs}"'}
    # Another host, as on the Hub: a client follows redirects on one host by itself.
    headers["Location"] = f"{at.hub.endpoint}/cdn/{blob.lfs}".replace("127.0.0.1", "localhost")
    at.send(302, b"", headers)


def cdn(at: Connection, oid: str, *, body: bytes) -> None:
    at.content(at.hub.store.large[oid], {"ETag": f'"{oid}"', "Accept-Ranges": "bytes"})


ROUTES: Routes = (
    ("GET", r"/api/whoami-v2", whoami),
    ("POST", r"/api/repos/create", create),
    ("POST", r"/api/validate-yaml", validate),
    ("PUT", rf"{API}/settings", settings),
    ("GET", API, info),
    ("GET", rf"{API}/revision/([^/]+)", info),
    ("GET", rf"{API}/refs", refs),
    ("POST", rf"{API}/tag/([^/]+)", tag),
    ("GET", rf"{API}/tree/([^/]+)", tree),
    ("GET", rf"{API}/tree/([^/]+)/(.+)", tree),
    ("GET", r"/(datasets|spaces)/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", resolve),
    ("GET", r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", resolve),
    ("GET", r"/cdn/([0-9a-f]+)", cdn),
)  # fmt: skip

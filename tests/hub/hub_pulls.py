"""Pull requests on the Hub under test."""

import json

from hub_connection import API, Connection, Routes
from hub_store import Discussion, Refusal, Repo, comment_on


def _discussion(at: Connection, kinds: str, name: str, num: str) -> tuple[Repo, Discussion]:
    repo = at.repo(kinds, name)
    if not 0 < int(num) <= len(repo.discussions):
        raise Refusal(404, "", "no such discussion")
    return repo, repo.discussions[int(num) - 1]


def discussions(at: Connection, kinds: str, name: str, *, body: bytes) -> None:
    repo = at.repo(kinds, name)
    wanted = {key: at.query.get(key, [None])[0] for key in ("status", "author")}
    found = [
        d.told(repo) for d in reversed(repo.discussions)
        if wanted["status"] in (None, "all", d.status)
        and wanted["author"] in (None, d.author)
    ]  # fmt: skip
    start = 10 * int(at.query.get("p", ["0"])[0])
    page = found[start : start + 10]
    at.send(200, {"count": len(found), "start": start, "discussions": page})


def discussion(at: Connection, kinds: str, name: str, num: str, *, body: bytes) -> None:
    repo, pr = _discussion(at, kinds, name, num)
    at.send(200, pr.told(repo))


def comment(at: Connection, kinds: str, name: str, num: str, *, body: bytes) -> None:
    _, pr = _discussion(at, kinds, name, num)
    user = at.user
    assert user is not None
    at.send(200, {"newMessage": comment_on(pr, user, json.loads(body)["comment"])})


def status(at: Connection, kinds: str, name: str, num: str, *, body: bytes) -> None:
    repo, pr = _discussion(at, kinds, name, num)
    user = at.user
    if not at.hub.store.may_write(repo, user) and user != pr.author:
        raise Refusal(403, "", "not yours")
    pr.status = json.loads(body)["status"]
    assert user is not None
    at.send(200, {"newStatus": pr.say("status-change", user, {"status": pr.status})})


ROUTES: Routes = (
    ("GET", rf"{API}/discussions", discussions),
    ("GET", rf"{API}/discussions/(\d+)", discussion),
    ("POST", rf"{API}/discussions/(\d+)/comment", comment),
    ("POST", rf"{API}/discussions/(\d+)/status", status),
)  # fmt: skip

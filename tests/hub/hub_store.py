"""What a Hub keeps: users, repositories, commits, large files, tags, pull requests."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

DATE = "2026-01-01T00:00:00.000Z"
FRAMEWORKS = ("inspect-ai", "math-arena", "mteb", "harbor", "causal-exams")
"""What an ``eval.yaml`` may name; the Hub keeps such a list and refuses others."""


class Refusal(Exception):
    """What the Hub answers instead: a status, the ``X-Error-Code`` and a message."""

    def __init__(self, status: int, code: str = "", message: str = "") -> None:
        super().__init__(message or code)
        self.status, self.code, self.message = status, code, message or code


@dataclass
class Fault:
    """A fault of the next ``times`` requests that match, beyond the first ``after``.

    ``kind`` is a status, ``garble`` (a byte of the body is another), or a function that is called
    instead of an answer.
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
class Blob:
    """A file of a commit; a large one by its SHA-256, with its bytes in the store of those."""

    data: bytes
    lfs: str | None = None

    @property
    def git_oid(self) -> str:
        content = self.data
        if self.lfs is not None:
            content = (
                f"version https://git-lfs\noid sha256:{self.lfs}\nsize {len(self.data)}\n".encode()
            )
        return hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()

    @property
    def etag(self) -> str:
        return self.lfs or self.git_oid

    def told(self, path: str) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "type": "file", "path": path, "size": len(self.data), "oid": self.git_oid,
        }  # fmt: skip
        if self.lfs is not None:
            entry["lfs"] = {"oid": self.lfs, "size": len(self.data), "pointerSize": 130}
        return entry


Files = Mapping[str, Blob]


@dataclass
class Discussion:
    """A pull request: who opened it, its state and what was said."""

    num: int
    title: str
    author: str
    base: str
    status: str = "open"
    events: list[dict[str, Any]] = field(default_factory=list)

    def told(self, repo: "Repo") -> dict[str, Any]:
        return {
            "num": self.num, "title": self.title, "author": {"name": self.author},
            "createdAt": DATE, "status": self.status, "isPullRequest": True,
            "repo": {"name": repo.name, "type": repo.kind}, "events": self.events,
            "changes": {"base": "refs/heads/main"}, "filesWithConflicts": [], "diff": "",
        }  # fmt: skip

    def comment(self, author: str, text: str) -> dict[str, Any]:
        latest = {"raw": text, "html": "", "author": {}}
        return self.say("comment", author, {"edited": False, "hidden": False, "latest": latest})

    def say(self, kind: str, author: str, data: Mapping[str, Any]) -> dict[str, Any]:
        event = {
            "id": f"{self.num:04d}{len(self.events):04d}", "type": kind, "createdAt": DATE,
            "author": {"name": author}, "data": dict(data),
        }  # fmt: skip
        self.events.append(event)
        return event


@dataclass
class Repo:
    """One repository: commits by oid, branches and tags by name."""

    kind: str
    name: str
    private: bool = False
    gated: str | bool = False
    allowed: set[str] = field(default_factory=set)
    commits: dict[str, dict[str, Blob]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    discussions: list[Discussion] = field(default_factory=list)

    def commit(self, ref: str, files: Files, why: str) -> str:
        parent = self.refs.get(ref, "")
        listing = [[path, blob.etag] for path, blob in sorted(files.items())]
        text = json.dumps([parent, ref, why, len(self.commits), listing])
        oid = hashlib.sha1(text.encode()).hexdigest()
        self.commits[oid] = dict(files)
        self.refs[ref] = oid
        return oid

    def resolve(self, revision: str) -> str:
        """The commit of a branch, tag, pull request or (whole) commit hash."""
        for ref in (f"refs/heads/{revision}", f"refs/tags/{revision}", revision):
            if ref in self.refs:
                return self.refs[ref]
        if revision in self.commits:
            return revision
        raise Refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")

    def files(self, revision: str) -> dict[str, Blob]:
        return self.commits[self.resolve(revision)]

    def told(self, revision: str) -> dict[str, Any]:
        oid = self.resolve(revision)
        return {
            "_id": "0", "id": self.name, "sha": oid, "private": self.private, "gated": self.gated,
            "disabled": False, "author": self.name.partition("/")[0], "lastModified": DATE,
            "createdAt": DATE, "likes": 0, "downloads": 0, "tags": [], "cardData": {},
            "siblings": [{"rfilename": path} for path in sorted(self.commits[oid])],
        }  # fmt: skip

    def tree(self, revision: str, folder: str, recursive: bool) -> list[Any]:
        files = self.files(revision)
        prefix = f"{folder}/" if folder else ""
        inside = {path: blob for path, blob in files.items() if path.startswith(prefix)}
        if folder and not inside:
            raise Refusal(404, "EntryNotFound", f"{folder} does not exist")
        found: dict[str, Any] = {}
        for path, blob in sorted(inside.items()):
            parts = path.removeprefix(prefix).split("/")
            for depth in range(1, len(parts)):
                if recursive or depth == 1:
                    found.setdefault(prefix + "/".join(parts[:depth]), None)
            if recursive or len(parts) == 1:
                found[path] = blob.told(path)
        return [
            entry or {"type": "directory", "path": path, "oid": "0" * 40}
            for path, entry in sorted(found.items())
        ]


@dataclass
class Store:
    """All of a Hub. ``users`` are names by token, ``members`` the users of organisations."""

    users: dict[str, str] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)
    repos: dict[tuple[str, str], Repo] = field(default_factory=dict)
    large: dict[str, bytes] = field(default_factory=dict)

    def user(self, token: str | None) -> str | None:
        if token is None:
            return None
        if token not in self.users:
            raise Refusal(401, "", "Invalid credentials in Authorization header")
        return self.users[token]

    def may_write(self, repo: Repo, user: str | None) -> bool:
        owner = repo.name.partition("/")[0]
        return user is not None and (user == owner or user in self.members.get(owner, set()))

    def find(self, kind: str, name: str, user: str | None, *, content: bool = False) -> Repo:
        """A repository that a user may see, or whose ``content`` the user may read."""
        repo = self.repos.get((kind, name))
        if repo is None or (repo.private and not self.may_write(repo, user)):
            raise Refusal(401 if user is None else 404, "RepoNotFound", "Repository not found")
        if content and repo.gated and not self.may_write(repo, user) and user not in repo.allowed:
            raise Refusal(
                401 if user is None else 403, "GatedRepo", f"Access to {name} is restricted"
            )
        return repo

    def create(self, user: str | None, kind: str, name: str, told: Mapping[str, Any]) -> Repo:
        """A new repository with what the Hub itself puts into one."""
        private = told.get("private") is True or told.get("visibility") == "private"
        repo = Repo(kind, name, private)
        if not self.may_write(repo, user):
            raise Refusal(403, "", f"You have no write access to {name}")
        repo.commit("refs/heads/main", {".gitattributes": Blob(b"*.parquet lfs\n")}, "initial")
        self.repos[kind, name] = repo
        return repo

    def write(
        self, repo: Repo, revision: str, lines: list[dict[str, Any]], user: str | None, pull: bool
    ) -> tuple[str, Discussion | None]:
        """A commit of the lines that a client sends; ``pull`` opens a pull request of it."""
        if user is None or (not pull and not self.may_write(repo, user)):
            raise Refusal(403, "", "Forbidden: pass `create_pr=1` to open a pull request")
        head = next(line["value"] for line in lines if line["key"] == "header")
        base = repo.resolve(revision)
        if head.get("parentCommit") not in (None, base):
            raise Refusal(412, "", "A commit has happened since. Please refresh and try again.")
        files = dict(repo.commits[base])
        for line in lines:
            self._apply(files, line["key"], line["value"])
        if (told := files.get("eval.yaml")) is not None and repo.kind == "dataset":
            check_eval_yaml(told.data)
        if not pull:
            return repo.commit(f"refs/heads/{revision}", files, head["summary"]), None
        number = len(repo.discussions) + 1
        pr = Discussion(number, head["summary"], user, base)
        pr.comment(user, head.get("description") or "")
        repo.discussions.append(pr)
        return repo.commit(f"refs/pr/{number}", files, head["summary"]), pr

    def _apply(self, files: dict[str, Blob], key: str, value: Mapping[str, Any]) -> None:
        match key:
            case "file":
                files[value["path"]] = Blob(base64.b64decode(value["content"]))
            case "lfsFile":
                if value["oid"] not in self.large:
                    raise Refusal(400, "", f"LFS pointer points to no file: {value['path']}")
                files[value["path"]] = Blob(self.large[value["oid"]], value["oid"])
            case "header":
                pass
            case _:
                raise Refusal(400, "", f"nothing here deletes or copies: {key}")


def check_card(text: str) -> None:
    """What the Hub refuses in a card's front matter."""
    parts = text.split("---\n")
    try:
        front = yaml.safe_load(parts[1]) if len(parts) > 2 and not parts[0] else {}
    except yaml.YAMLError as error:
        raise Refusal(400, "", f"YAML: {error}") from None
    if not isinstance(front, dict):
        raise Refusal(400, "", "metadata should be an object")
    known = {"gated", "license", "language", "tags", "pretty_name", "configs", "size_categories",
             "task_categories", "viewer", "extra_gated_prompt", "extra_gated_fields",
             "extra_gated_heading", "title", "emoji", "sdk", "colorFrom", "colorTo", "pinned",
             "app_file", "short_description"}  # fmt: skip
    if strange := sorted(front.keys() - known):
        raise Refusal(400, "", f"unknown metadata {strange}")
    for name in ("size_categories", "task_categories", "tags", "configs"):
        if not isinstance(front.get(name, []), list):
            raise Refusal(400, "", f'"{name}" must be an array')
    configs = front.get("configs", [])
    if len({config["config_name"] for config in configs}) != len(configs):
        raise Refusal(400, "", "config names must be unique")


def check_eval_yaml(data: bytes) -> None:
    """What the Hub's specification of ``eval.yaml`` asks for."""
    told = yaml.safe_load(data)
    for name in ("name", "description", "evaluation_framework"):
        if not isinstance(told.get(name), str):
            raise Refusal(400, "", f"eval.yaml: {name} is required")
    if told["evaluation_framework"] not in FRAMEWORKS:
        raise Refusal(400, "", "eval.yaml: unknown evaluation_framework")
    ids = [task["id"] for task in told["tasks"]]
    if not ids or len(set(ids)) != len(ids):
        raise Refusal(400, "", "eval.yaml: tasks need different ids")

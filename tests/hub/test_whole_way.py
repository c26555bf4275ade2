"""From empty folders to a board: publish, fetch, sit, submit, evaluate, board, each command killed.

The commands are those that people type, each in a process of its own against the Hub on this
machine. Each is killed once at the worst moment and then run again.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hub_store import Repo
from local_hub import LocalHub, serving
from rehearsal import environment_of

from grader.io.jsonio import canonical_json
from grader.io.schemas import first_problem

ROOT = Path(__file__).parent.parent.parent
Shared = Callable[[str, Callable[[Path], object]], Path]
SECRET = hashlib.sha256(b"a secret for the whole way").hexdigest()


@dataclass
class People:
    """Runs commands as ``ann``, who maintains, or ``bob``, who takes exams; kills when told to."""

    hub: LocalHub
    folder: Path
    running: "list[subprocess.Popen[str]]" = field(default_factory=list)
    killed: int = 0

    def run(self, user: str, *words: object) -> subprocess.CompletedProcess[str]:
        environment = os.environ | environment_of(self.hub, self.folder / user)
        environment |= {"HF_TOKEN": f"hf_{user}", "PYTHONPATH": str(ROOT)}
        environment["CAUSAL_EXAMS_SECRET"] = SECRET
        command = [sys.executable, *map(str, words)]
        with subprocess.Popen(
            command, env=environment, cwd=self.folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            self.running = [process]
            out, err = process.communicate(timeout=900)
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def does(self, user: str, *words: object) -> str:
        """Run a command that succeeds; what it prints."""
        done = self.run(user, *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def is_killed(
        self, method: str, pattern: str, user: str, *words: object, after: int = 0
    ) -> str:
        """Run a command that is killed at a request, then again; what it prints in the end."""
        self.hub.fail(
            method, pattern, lambda: self.running[0].send_signal(signal.SIGKILL), 1, after
        )
        assert self.run(user, *words).returncode == -signal.SIGKILL
        assert not any(fault.times for fault in self.hub.faults)
        self.killed += 1
        return self.does(user, *words)


@pytest.fixture
def people(tmp_path: Path) -> Iterator[People]:
    own = LocalHub()
    own.add_user("ann", "org")
    own.add_user("bob")
    with serving(own):
        yield People(own, tmp_path)


@pytest.fixture(scope="session")
def hidden(shared: Shared) -> Path:
    """A release with a private split, built with the command a maintainer types."""

    def build(out: Path) -> None:
        command = [sys.executable, "build_dataset.py", "build", "splits/private-example.toml"]
        command += ["--out", str(out), "--quiet", "--workers", "1"]
        environment = os.environ | {"CAUSAL_EXAMS_SECRET": SECRET}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    return shared("hidden", build)


def whole_way(people: People, release: Path) -> None:
    """All six steps, each killed where it hurts."""
    both = ("--repo", "org/exams", "--private-repo", "org/exams-private")
    publish = [ROOT / "build_dataset.py", "publish", release, *both]
    people.is_killed("PUT", "^/lfs/", "ann", *publish, "--revision", "v1", "--quiet", after=5)
    assert "nothing to send" in people.does("ann", *publish, "--revision", "v1", "--quiet")

    address, grader = "hf://org/exams@v1", ("-m", "grader")
    told = people.is_killed("GET", "^/cdn/", "bob", *grader, "fetch", "org/exams@v1", after=2)
    fetched = Path(told.splitlines()[-1])
    told_exam = ("--split", "test", "--exam", "demo")
    sit = ("-m", "baselines", "random", "--release", fetched, *told_exam, "--out", "answers")
    people.does("bob", *sit)
    (people.folder / "answers/run.json").write_text(
        json.dumps({"system": "random", "setting": "closed", "settings": {"seed": 0}})
    )
    submit = ("submit", "answers", "--release", address, *told_exam, "--to", "org/submissions")
    people.hub.store.create("ann", "dataset", "org/submissions", {})
    people.is_killed("POST", "/org/submissions/commit/", "bob", *grader, *submit)
    assert "handed in before" in people.does("bob", *grader, *submit)

    safe = ["--private", release / "private", "--ledger", "ledger.json"]
    (people.folder / "teams.txt").write_text("bob\n", "utf-8")
    evaluate = (*grader, "evaluate", "--from", "org/submissions", "--results", "org/results",
                "--release", address, *safe)  # fmt: skip
    told = people.is_killed("POST", "/org/results/commit/", "ann", *evaluate)
    assert "1 graded, 0 not, 0 known before" in told, told
    assert "0 graded, 0 not, 0 known before" in people.does("ann", *evaluate)
    (people.folder / "answers/run.json").write_text(json.dumps({"system": "random again"}))
    people.does("bob", *grader, *submit)
    told = people.is_killed("POST", "/discussions/2/comment", "ann", *evaluate)
    assert "0 graded, 0 not, 1 known before" in told, told

    people.does("ann", *grader, "board", "--from", "org/results", "--out", "site")
    assert people.killed == 5
    # Each thing is there once: rows, lines, comments, files; the board has both systems.
    results = people.hub.repo("org/results").files("main")
    rows = [json.loads(b.data) for path, b in results.items() if path.startswith("results/")]
    lines = [json.loads(line) for line in results["log.jsonl"].data.splitlines()]
    assert sorted(row["id"] for row in rows) == sorted(line["id"] for line in lines)
    assert {row["system"] for row in rows} == {"random", "random again"}
    assert [first_problem("report", row["report"]) for row in rows] == [None, None]
    assert {(row["status"], row["team"]) for row in rows} == {("graded", "bob")}
    pulls = people.hub.repo("org/submissions").discussions
    assert [pull.status for pull in pulls] == ["closed", "closed"]
    stored = people.hub.repo("org/submissions").files("main").keys()
    assert {f"submissions/bob/{row['id']}.parquet" for row in rows} == stored - {".gitattributes"}
    for pull in pulls:
        assert sum("<!-- causal-exams" in json.dumps(event) for event in pull.events) == 1
    index = (people.folder / "site/index.html").read_text("utf-8")
    assert index.count(">random") >= 2


@pytest.mark.slow
def test_a_private_exam_and_no_private_byte_in_public(people: People, hidden: Path) -> None:
    """Nothing that follows the truth is anywhere but in the closed repository."""
    whole_way(people, hidden)
    needles = private_bytes(hidden / "private")
    closed = people.hub.repo("org/exams-private")
    assert closed.private and closed.gated
    assert len(needles) > 100 and found_in(closed, needles), "the search finds what is there"
    for (_, name), repo in people.hub.store.repos.items():
        if name != closed.name:
            assert not found_in(repo, needles), name
    site = b"".join(file.read_bytes() for file in (people.folder / "site").rglob("*.*"))
    assert not any(needle in site for needle in needles)
    ledger = json.loads((people.folder / "ledger.json").read_bytes())
    assert list(*map(dict.keys, ledger["exams"].values())) == ["bob"]


def private_bytes(private: Path) -> frozenset[bytes]:
    """Secret, salts, keys, worlds, targets, truths in digits, and the private rows as JSON."""
    needles = {SECRET.encode(), bytes.fromhex(SECRET)}
    manifest = json.loads((private / "manifest.json").read_bytes())
    for salts in manifest["salts"].values():
        for salt in salts.values():
            needles |= {salt.encode(), bytes.fromhex(salt)}
    for file in private.rglob("*.parquet"):
        for row in pq.read_table(file).to_pylist():
            needles.add(canonical_json(row).encode())
            needles |= {text.encode() for text in _telling(row)}
    gate = (private.parent / "GATE.md").read_text(encoding="utf-8")
    needles |= {line.encode() for line in gate.splitlines() if "| test " in line and "." in line}
    return frozenset(needles)


def _telling(row: Mapping[str, Any]) -> Iterator[str]:
    """Cells that stand nowhere by chance: keys, long texts, numbers of eight digits and more.

    A short target (two signs, one method) is that of public tasks, too.
    """
    for name, value in row.items():
        if isinstance(value, str) and (len(value) >= 80 or name == "world_key"):
            yield value
        elif name in ("value", "value_se") and value is not None and len(str(value)) >= 9:
            yield str(value)


def found_in(repo: Repo, needles: frozenset[bytes]) -> list[bytes]:
    """Which of them stand in any state of a repository: in bytes, and in the cells of Parquet."""
    blobs = {blob.data for files in repo.commits.values() for blob in files.values()}
    text = b"\n".join([*blobs, *(_cells(data) for data in blobs if data[:4] == b"PAR1")])
    said = json.dumps([pull.events for pull in repo.discussions]).encode()
    return [needle for needle in needles if needle in text or needle in said]


def _cells(data: bytes) -> bytes:
    """What a Parquet file says once it is unpacked, a row as canonical JSON and every text."""
    import io

    table = pq.read_table(io.BytesIO(data))
    lines: list[bytes] = [str(table.schema.metadata).encode()]
    for row in table.to_pylist():
        lines.append(repr(row).encode())
        lines += [v if isinstance(v, bytes) else str(v).encode() for v in row.values()]
    return b"\n".join(lines)

"""Checking a release against its own manifest, and the private side against the public one.

A commitment is ``sha256(row salt || canonical JSON of the row)`` with ``row salt =
HMAC-SHA256(salt key of the split, "config/split/row id")``; the public config ``commitments`` has
the commitments, the private manifest the salt keys (``docs/release-format.md``). Whoever holds both
can prove that no truth was changed after publication.
"""

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grader.errors import UsageError
from grader.io import parquet
from grader.io.jsonio import canonical
from grader.io.schemas import first_problem
from grader.release.release import Release
from grader.release.side import Side
from grader.scoring.shape import Task

COMMITTED: Final = "commitments"
"""The public config of commitments: private config, id of the row, SHA-256."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the result."""

    name: str
    ok: bool
    detail: str


def verify(release: Release, *, proofs: bool = True) -> list[Check]:
    """All checks of the sides at hand; never raises for a damaged release.

    Without ``proofs`` what the records of tracks claim is taken as proved.
    """
    checks = [*_side("public", release.public)]
    if release.private is not None:
        checks += _side("private", release.private)
    if all(check.ok for check in checks):
        for split in release.splits:
            checks += _tasks(release, split, proofs)
            if not release.has_public_truth(split):
                checks.append(_commitments(release, split))
    return checks


def _check(name: str, problems: Iterable[str | None], fine: str) -> Check:
    """The check that fails at the first problem, or at what cannot be read on the way to one."""
    try:
        problem = next(filter(None, problems), None)
    except UsageError as error:
        problem = str(error)
    return Check(name, problem is None, problem or fine)


def _side(label: str, side: Side) -> Iterator[Check]:
    shards = sorted(side.manifest["shards"])
    problem = first_problem("manifest", side.manifest)
    yield _check(f"{label} manifest", [problem], "fits its schema")
    fine = f"{len(shards)} files agree with their SHA-256"
    yield _check(f"{label} shards", (_damage(side, name) for name in shards), fine)
    # Parquet files nobody vouches for: ``load_dataset`` would read them with the others.
    found = {file.relative_to(side.path).as_posix() for file in side.path.glob("*/*.parquet")}
    strangers = sorted(found.difference(shards))
    remedies = (f"{name} is not in the manifest; remove it" for name in strangers)
    yield _check(f"{label} files", remedies, "no other shard")


def _damage(side: Side, name: str) -> str | None:
    config, _, rest = name.partition("/")
    side.shards(config, rest.rsplit("-", 3)[0])
    with parquet.connect() as connection:
        ((rows,),) = parquet.read(connection, [side.file(name)], ["count(*)"])
    same = rows == side.manifest["shards"][name]["rows"]
    return None if same else f"{name}: {rows} rows, not as the manifest says"


def _tasks(release: Release, split: str, proofs: bool) -> Iterator[Check]:
    """What is wrong with tasks, exams and truths."""
    try:
        listed, tasks = release.exams(split), release.tasks(split, prompts=False)
    except UsageError as error:
        yield Check(f"{split} tasks", False, str(error))
        return
    ids = {task.task_id for task in tasks}
    doubled = len(tasks) - len(ids)
    yield Check(f"{split} task ids", not doubled, f"{len(tasks)} tasks, {doubled} repeated ids")
    yield Check(f"{split} tasks", True, "agree with the specification")
    unknown = (f"{exam}: {task_id}" for exam, members in listed.items() for task_id in members
               if task_id not in ids)  # fmt: skip
    yield _check(f"{split} exams", unknown, "name existing tasks")
    if release.has_public_truth(split) or release.private is not None:
        yield from _truths(release, split, tasks, proofs)


def _truths(release: Release, split: str, tasks: Sequence[Task], proofs: bool) -> Iterator[Check]:
    """Whether every task has its truth; every claim of a track with a checker, proved again from
    the record alone."""
    try:
        truths = release.truths(split, tasks)
    except UsageError as error:
        yield Check(f"{split} truths", False, str(error))
        return
    yield Check(f"{split} truths", True, f"{len(truths)}, one per task")
    for name, track in sorted(release.tracks.items()):
        certify, own = track.certify, [task for task in tasks if task.track == name]
        if proofs and own and certify is not None:
            proved = ((task.task_id, certify(task, truths[task.task_id])) for task in own)
            problems = (f"{task_id}: {problem}" for task_id, problem in proved if problem)
            fine = f"{len(own)} records proved again"
            yield _check(f"{split} {name} certificates", problems, fine)


def _commitments(release: Release, split: str) -> Check:
    name = f"{split} commitments"
    if (private := release.private) is None:
        return Check(name, True, "published; not checked, the private side is not here")
    seen: list[int] = []
    check = _check(name, _commitment_problems(release, private, split, seen), "")
    fine = f"{sum(seen)} private rows are what was committed to"
    return Check(name, check.ok, check.detail or fine)


def _commitment_problems(
    release: Release, private: Side, split: str, counts: list[int]
) -> Iterator[str]:
    """What is wrong with the commitments of a split; the numbers of rows that were compared are
    added to ``counts``."""
    salts = private.manifest["salts"].get(split)
    files = release.public.shards(COMMITTED, split)
    if salts is None or not files:
        yield "the split has no commitments or no salts"
        return
    key = bytes.fromhex(salts["rows"])
    with parquet.connect() as connection:
        configs = [name for (name,) in parquet.read(connection, files, ("DISTINCT config",))]
    for config in sorted(configs):
        expected = _read_commitments(files, config)
        seen = 0
        for row_id, row in _rows(private.shards(config, split)):
            seen += 1
            salt = hmac.digest(key, f"{config}/{split}/{row_id}".encode(), "sha256")
            digest = hashlib.sha256(salt + canonical(row).encode()).hexdigest()
            if expected.get(row_id) != digest:
                yield f"{config}: row {row_id} is not what was committed to"
        counts.append(seen)
        if seen != len(expected):
            yield f"{config}: {seen} rows, {len(expected)} committed"
    truths = {f"{track}_truth" for track in release.tracks if release.public.shards(track, split)}
    for config in sorted(truths.difference(configs)):
        yield f"{config} is not committed to"


def _read_commitments(files: Sequence[Path], config: str) -> dict[str, str]:
    """Row id to commitment of one private config: a config at a time is in memory."""
    with parquet.connect() as connection:
        where = ("row_id", "sha256"), "WHERE config = ?", [config]
        return dict(parquet.read(connection, files, *where))


def _rows(files: Sequence[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Row id (the first column) and row, as the builder's canonical form has it."""
    with parquet.connect() as connection:
        for file in files:
            cursor = connection.execute(f"SELECT * FROM {parquet.SCAN}", [[parquet.literal(file)]])
            names = [column[0] for column in cursor.description or ()]
            while batch := cursor.fetchmany(500):
                for values in batch:
                    yield str(values[0]), dict(zip(names, values, strict=True))

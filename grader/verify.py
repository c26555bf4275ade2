"""Checking a release against its own manifest, and the private side against the public one.

A commitment is ``sha256(row salt || canonical JSON of the row)`` with ``row salt =
HMAC-SHA256(salt key of the split, "config/split/row id")``; the public manifest has the
commitments, the private one the salt keys (``docs/release-format.md``). Whoever holds both can
prove that no truth was changed after publication.
"""

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import UsageError
from grader.io import parquet
from grader.io.jsonio import canonical
from grader.io.release import Release, Side
from grader.io.schemas import first_problem
from grader.model import Truth
from grader.shape import Task
from grader.tracks import TRACKS


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the result."""

    name: str
    ok: bool
    detail: str


def verify(release: Release) -> list[Check]:
    """All checks of the sides at hand; never raises for a damaged release."""
    checks: list[Check] = []
    sides = [("public", release.public)]
    if release.private is not None:
        sides.append(("private", release.private))
    for label, side in sides:
        checks.append(_manifest(label, side))
        checks.append(_shards(label, side))
        checks.append(_strangers(label, side))
    if all(check.ok for check in checks):
        for split in release.splits:
            checks.extend(_tasks(release, split))
            if not release.has_public_truth(split):
                checks.append(_commitments(release, split))
    return checks


def _manifest(label: str, side: Side) -> Check:
    problem = first_problem("manifest", side.manifest)
    return Check(f"{label} manifest", problem is None, problem or "fits its schema")


def _shards(label: str, side: Side) -> Check:
    names = sorted(side.manifest["shards"])
    for name in names:
        config, _, rest = name.partition("/")
        try:
            side.shards(config, rest.rsplit("-", 3)[0])
            with parquet.connect() as connection:
                ((rows,),) = parquet.read(connection, [side.path / name], ["count(*)"])
        except UsageError as error:
            return Check(f"{label} shards", False, str(error))
        if rows != side.manifest["shards"][name]["rows"]:
            return Check(f"{label} shards", False, f"{name}: {rows} rows, not as the manifest says")
    return Check(f"{label} shards", True, f"{len(names)} files agree with their SHA-256")


def _strangers(label: str, side: Side) -> Check:
    """Parquet files nobody vouches for: ``load_dataset`` would read them with the others."""
    known = set(side.manifest["shards"])
    found = {file.relative_to(side.path).as_posix() for file in side.path.glob("*/*.parquet")}
    extra = sorted(found - known)
    detail = f"{extra[0]} is not in the manifest; remove it" if extra else "no other shard"
    return Check(f"{label} files", not extra, detail)


def _tasks(release: Release, split: str) -> Iterator[Check]:
    try:
        tasks = release.tasks(split, prompts=False)
    except UsageError as error:
        yield Check(f"{split} tasks", False, str(error))
        return
    ids = [task.task_id for task in tasks]
    known = set(ids)
    doubled = len(ids) - len(known)
    yield Check(f"{split} task ids", not doubled, f"{len(ids)} tasks, {doubled} repeated ids")
    problem = next(
        (
            f"{task.task_id}: answer schema or file differ from the specification"
            for task in tasks
            if (task.answer_schema, task.answer_file)
            != (task.shape.name, task.task_id + task.shape.suffix)
        ),
        "",
    )
    yield Check(f"{split} tasks", not problem, problem or "agree with the specification")
    absent = [
        f"{exam}: {task_id}"
        for exam, members in release.exams(split).items()
        for task_id in members
        if task_id not in known
    ]
    yield Check(f"{split} exams", not absent, absent[0] if absent else "name existing tasks")
    try:
        truths = release.truths(split, tasks)
        yield Check(f"{split} truths", True, f"{len(truths)}, one per task")
        yield from _certificates(split, tasks, truths)
    except UsageError as error:
        if release.has_public_truth(split) or release.private is not None:
            yield Check(f"{split} truths", False, str(error))


def _certificates(
    split: str, tasks: Sequence[Task], truths: Mapping[str, Truth]
) -> Iterator[Check]:
    """Every claim of a track with a checker, proved again from the record alone."""
    for name, track in sorted(TRACKS.items()):
        if (certify := track.certify) is None:
            continue
        claims = [task for task in tasks if task.track == name]
        problem = next(
            (
                f"{task.task_id}: {found}"
                for task in claims
                if (found := certify(task, truths[task.task_id])) is not None
            ),
            None,
        )
        if claims:
            figure = f"{len(claims)} records proved again"
            yield Check(f"{split} {name} certificates", problem is None, problem or figure)


def _commitments(release: Release, split: str) -> Check:
    name = f"{split} commitments"
    if release.private is None:
        return Check(name, True, "published; not checked, the private side is not here")
    committed = {
        config: splits[split]
        for config, splits in release.public.manifest["commitments"].items()
        if split in splits
    }
    salts = release.private.manifest["salts"].get(split)
    if salts is None or not committed:
        return Check(name, False, "the split has no commitments or no salts")
    key = bytes.fromhex(salts["rows"])
    rows = 0
    for config, expected in sorted(committed.items()):
        problem = _check_config(release.private, config, split, key, expected)
        if problem:
            return Check(name, False, problem)
        rows += len(expected)
    missing = {
        f"{track}_truth" for track in TRACKS if release.public.shards(track, split)
    } - committed.keys()
    if missing:
        return Check(name, False, f"{min(missing)} is not committed to")
    return Check(name, True, f"{rows} private rows are what was committed to")


def _check_config(
    side: Side, config: str, split: str, key: bytes, expected: dict[str, str]
) -> str | None:
    seen = 0
    for row_id, row in _rows(side.shards(config, split)):
        salt = hmac.digest(key, f"{config}/{split}/{row_id}".encode(), "sha256")
        digest = hashlib.sha256(salt + canonical(row).encode()).hexdigest()
        if expected.get(row_id) != digest:
            return f"{config}: row {row_id} is not what was committed to"
        seen += 1
    return None if seen == len(expected) else f"{config}: {seen} rows, {len(expected)} committed"


def _rows(files: Sequence[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Row id (the first column) and row, as the builder's canonical form has it."""
    with parquet.connect() as connection:
        for file in files:
            cursor = connection.execute(f"SELECT * FROM {parquet.SCAN}", [[parquet.literal(file)]])
            names = [column[0] for column in cursor.description or ()]
            while batch := cursor.fetchmany(500):
                for values in batch:
                    yield str(values[0]), dict(zip(names, values, strict=True))

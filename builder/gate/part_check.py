"""The check of one part, where it was staged: all that can be said of its instances by themselves.

The part is read back from disk. Every truth is derived a second time, every story read again, right
answers are graded, task rows are held against the specification, and hashes of right answers are
kept for the checks of the whole release. The findings stand beside the rows in ``check.json``, with
the hashes of the rows that were checked and of the code that checked them: what is not about these
rows, or not by this code, is no check.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.metadata import version
from typing import Any, Final

from builder.gate import checks
from builder.gate.known_answers import (
    KnownPoints,
    answer_hashes,
    known_points,
    tasks_and_truths,
)
from builder.gate.part_rows import PartRows, read_part
from builder.release.identity import LIBRARIES, source_sha256
from builder.release.parts import Part, staged_sha256
from builder.release.tables import Row
from builder.splits.track import StoryReading, Track
from grader.io.jsonio import canonical
from grader.scoring.model import Truth
from grader.scoring.shape import Task

CHECK: Final = "check.json"

Certify = Callable[[Task, Truth], str | None]


class Unchecked(Exception):
    """A part that has no check that holds; the text says which part and why."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What the check of a part says.

    ``references`` and ``task_rows`` are problems, ``audit`` those of truths; ``audited`` counts
    instances and views; ``certificates`` are problems of what the grader can prove from a record
    alone, ``proved`` counts the records; ``stories`` are those told by rules, ``free`` the other
    ones, of which ``alike`` read as their graph. ``answers`` maps a task to the hash of its right
    answer, where truth is public.
    """

    instances: int
    tasks: int
    truths: int
    references: list[str]
    task_rows: list[str]
    answers: dict[str, str]
    audited: int
    audit: list[str]
    proved: int
    certificates: list[str]
    stories: int
    free: int
    alike: int
    misread: list[str]
    points: KnownPoints


@cache
def checker_sha256() -> str:
    """The identity of the code that checks, and of what its findings depend on besides."""
    libraries = {name: version(name) for name in (*LIBRARIES, "networkx", "duckdb", "jsonschema")}
    text = canonical([source_sha256(), libraries])
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def check_part(part: Part, track: Track) -> None:
    """Checks a staged part and leaves ``check.json`` beside it, unless one that holds is there."""
    try:
        read_check(part)
    except Unchecked:
        hashes = staged_sha256(part.folder, part.sizes)
        found = findings(part, track)
        record = {"checker": checker_sha256(), "sha256": hashes, "findings": _to_json(found)}
        file = part.folder / CHECK
        unfinished = file.with_name(f"{file.name}.unfinished")
        unfinished.write_text(canonical(record), encoding="utf-8")
        unfinished.replace(file)


def read_check(part: Part) -> Findings:
    """The findings about a part as it now stands on disk; raises :class:`Unchecked`."""
    try:
        record = json.loads((part.folder / CHECK).read_bytes())
        checker, hashes, told = record["checker"], record["sha256"], record["findings"]
    except (OSError, ValueError, KeyError, TypeError):
        raise Unchecked(f"part {part.name}: there is no check of it") from None
    if checker != checker_sha256():
        raise Unchecked(f"part {part.name}: its check is of another version of the checks")
    now = staged_sha256(part.folder, part.sizes)
    for config in sorted(now.keys() | hashes.keys()):
        if now.get(config) != hashes.get(config):
            raise Unchecked(f"part {part.name}: {config} was changed after it was checked")
    return _from_json(told)


def findings(part: Part, track: Track) -> Findings:
    """Looks at all instances of a part, an instance after the other."""
    rows = read_part(part)
    tables = rows.tables
    audited = list(audit_part(track, rows))
    stories = [one.story for one in audited if one.story is not None]
    certain = [story for story in stories if story.certain]
    free = [story for story in stories if not story.certain]
    proved, certificates = _certificates(track, rows)
    return Findings(
        instances=len(tables.worlds),
        tasks=len(tables.tasks),
        truths=len(tables.truth),
        references=list(checks.reference_problems(track, tables)),
        task_rows=checks.spec_problems(track, tables),
        answers={} if tables.private else answer_hashes(tasks_and_truths(rows, [])),
        audited=len(audited),
        audit=[problem for one in audited for problem in one.problems],
        proved=proved,
        certificates=certificates,
        stories=len(certain),
        free=len(free),
        alike=sum(not story.problems for story in free),
        misread=[problem for story in certain for problem in story.problems],
        points=known_points(rows),
    )


def _certificates(track: Track, rows: PartRows) -> tuple[int, list[str]]:
    """How many records claim what the grader can prove, and what is wrong with them."""
    certify = track.grader.certify
    if certify is None:
        return 0, []
    pairs = list(tasks_and_truths(rows, []))
    told = ((task.task_id, _proved_wrong(certify, task, truth)) for task, truth in pairs)
    return len(pairs), [f"{task_id}: {problem}" for task_id, problem in told if problem]


def _proved_wrong(certify: Certify, task: Task, truth: Truth) -> str | None:
    try:
        return certify(task, truth)
    except Exception as error:  # a damaged record; the others are looked at all the same
        return f"cannot be proved: {type(error).__name__}: {error}"


def _to_json(found: Findings) -> dict[str, Any]:
    told = {field.name: getattr(found, field.name) for field in fields(found)}
    return {**told, "points": found.points.to_json()}


def _from_json(told: Mapping[str, Any]) -> Findings:
    return Findings(**{**told, "points": KnownPoints.from_json(told["points"])})


@dataclass(frozen=True, slots=True)
class Audited:
    """The problems of one instance (in one view), one line each, and what its story reads as."""

    problems: list[str]
    story: StoryReading | None = None


def audit_part(track: Track, rows: PartRows) -> Iterator[Audited]:
    """The second look at the instances of a part, the views of a scene one after another: what they
    share is worked out once."""
    worlds = rows.tables.worlds
    if not track.scenes:
        for name, world in worlds.items():
            shown = {"tasks": rows.tasks.get(name, [])}
            yield _audit(track, world, rows.truths.get(name, ()), rows.labels.get(name), shown)
        return
    views = {task.task_id: task.view for task in rows.tables.tasks.values()}
    for scene in rows.scenes:
        name = scene["instance_id"]
        truths = [t for t in rows.truths.get(name, ()) if views.get(t["task_id"]) == scene["view"]]
        if name in worlds:
            yield _audit(track, worlds[name], truths, rows.labels.get(name), scene)


def _audit(
    track: Track, world: Row, truths: Sequence[Row], label: Row | None, shown: Mapping[str, Any]
) -> Audited:
    """The second look at one instance; an exception is a problem, no reason to skip the check."""
    name = world["instance_id"]
    try:
        found = track.audit(world, truths, label, shown)
        story = None if track.read is None else track.read(world, shown)
    except Exception as error:
        return Audited([f"{name}: the second derivation failed: {type(error).__name__}: {error}"])
    return Audited([f"{name}: {problem}" for problem in found], story and _named(name, story))


def _named(name: str, story: StoryReading) -> StoryReading:
    return replace(story, problems=tuple(f"{name}: {problem}" for problem in story.problems))

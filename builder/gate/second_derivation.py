"""The gate's second look at every instance: its truths derived again, its story read again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from builder.gate.tables import SplitTables, scene_rows
from builder.release.reader import rows, shards
from builder.track import StoryReading
from builder.tracks import TRACKS, load_track

AuditJob = tuple[str, Mapping[str, Any], Sequence[Mapping[str, Any]], Any, Mapping[str, Any]]
"""The track's reference, world row, truth rows, label row or None, scene row (or task rows)."""


@dataclass(frozen=True, slots=True)
class Audited:
    """The problems of one instance, one line each, and what its story reads as."""

    problems: list[str]
    story: StoryReading | None = None


def audit_jobs(release: Path, table: SplitTables) -> Iterator[AuditJob]:
    """The jobs of a table, read as they are asked for: all at once they fill memories."""
    side = release / ("private" if table.private else "public")
    truths: dict[str, list[Mapping[str, Any]]] = {}
    for truth in table.truth.values():
        truths.setdefault(truth["instance_id"], []).append(truth)
    labels = {
        row["instance_id"]: row for row in rows(shards(side, f"{table.track}_labels", table.split))
    }
    reference = TRACKS.reference(table.track)
    if not TRACKS[table.track].scenes:
        asked = _task_rows(release, table)
        for name, world in table.worlds.items():
            yield reference, world, truths.get(name, []), labels.get(name), asked[name]
        return
    views = {task.task_id: task.view for task in table.tasks.values()}
    for scene in scene_rows(shards(release / "public", f"{table.track}_scenes", table.split)):
        name = scene["instance_id"]
        shown = [t for t in truths.get(name, []) if views.get(t["task_id"]) == scene["view"]]
        if name in table.worlds:
            yield reference, table.worlds[name], shown, labels.get(name), scene


def _task_rows(release: Path, table: SplitTables) -> dict[str, Mapping[str, Any]]:
    """For a track without scenes: instance to ``{"tasks": [its task rows]}``."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows(shards(release / "public", table.track, table.split)):
        found.setdefault(row["instance_id"], []).append(row)
    return {instance: {"tasks": members} for instance, members in found.items()}


def audit(job: AuditJob) -> Audited:
    """The second look at one instance; an exception is a problem, no reason to skip the check."""
    reference, world, truths, label, shown = job
    track, name = load_track(reference), world["instance_id"]
    try:
        found = track.audit(world, truths, label, shown)
        story = None if track.read is None else track.read(world, shown)
    except Exception as error:
        return Audited([f"{name}: the second derivation failed: {type(error).__name__}: {error}"])
    return Audited([f"{name}: {problem}" for problem in found], story and _named(name, story))


def _named(name: str, story: StoryReading) -> StoryReading:
    return replace(story, problems=tuple(f"{name}: {problem}" for problem in story.problems))

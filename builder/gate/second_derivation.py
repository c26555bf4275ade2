"""The gate's second look at every instance: its truths derived again, its story read again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from builder.gate.part_rows import PartRows, Row
from builder.track import StoryReading, Track


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

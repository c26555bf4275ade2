"""Floors: what an answer that knows nothing earns, as a release's manifest states it."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from grader.io.jsonio import canonical
from grader.shape import NEVER, Shape, Task
from grader.track import Track
from grader.tracks import TRACKS

Floor = Mapping[str, Any]
"""``points`` (a share), ``se``, ``policy``, ``tasks``."""


def rules_sha256(track: Track, keys: Iterable[str]) -> str:
    """Identifies how answers of a track are scored: its ``rules``, and the shapes of those of its
    variants that are meant; what a later grader asks besides changes nothing.
    """
    shapes = {variant.key: variant.shape for variant in track.variants}
    told = {key: _told(shapes[key]) for key in keys if key in shapes}
    text = canonical({"track": track.name, "rules": track.rules, "variants": told})
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _told(shape: Shape) -> list[Any]:
    """What of a shape decides on points, as JSON; no abstention is not an abstention of null."""
    abstention = [] if shape.abstention is NEVER else [shape.abstention]
    labels = list(shape.labels)
    return [shape.name, shape.kind, shape.field, shape.pool, shape.metric, labels, abstention]


def find(entry: Mapping[str, Any], regime: str) -> Floor | None:
    """The floor of a variant's entry, of ``regime`` where there are several; ``None`` without."""
    if isinstance(entry.get("points"), (int, float)):
        return entry
    found: Floor | None = entry.get(regime)
    return found


@dataclass(frozen=True, slots=True)
class Floors:
    """The floors that hold for one exam: track to variant to entry.

    A track without floors for all its tasks, or with those of other rules, is left out;
    ``notices`` say why, a line each.
    """

    entries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @classmethod
    def of(cls, manifest: Mapping[str, Any], exam: str, tasks: Sequence[Task]) -> Self:
        """What a release's manifest says of an exam, whatever else stands in it."""
        stated = _member(_member(manifest, "floors"), exam)
        rules = _member(_member(manifest, "floor_rules"), exam)
        found: dict[str, Mapping[str, Any]] = {}
        notices = []
        for track in sorted({task.track for task in tasks}):
            entries = _member(stated, track)
            own = [task for task in tasks if task.track == track]
            problem = next(_problems(entries, _member(rules, track), TRACKS[track], own), None)
            if problem is None:
                found[track] = entries
            else:
                notices.append(f"no skill in {track}: {problem}")
        return cls(found, tuple(notices))

    def at(self, track: str, key: str, regime: str = "") -> float | None:
        """The floor of a variant, of ``regime`` where there are several: a share of the points."""
        entry = self.entries.get(track, {}).get(key)
        floor = None if entry is None else find(entry, regime)
        return None if floor is None else float(floor["points"])

    def of_task(self, task: Task) -> float | None:
        """The floor of what a task asks; ``None`` where its track has none."""
        return self.at(task.track, task.spec.key, _regime(task))


def _problems(
    entries: Mapping[str, Any], rules: Mapping[str, Any], track: Track, tasks: Sequence[Task]
) -> Iterator[str]:
    """Why floors cannot be used, the first reason first."""
    if not entries:
        yield "the release has no floors for this exam"
    for key in sorted({task.spec.key for task in tasks} - set(entries)):
        yield f"{key} has no floor; measure them again"
    if rules.get("grader") != rules_sha256(track, entries):
        yield "its floors were measured by the rules of another grader; measure them again"
    for task in tasks:
        entry = entries.get(task.spec.key)
        floor = find(entry, _regime(task)) if isinstance(entry, Mapping) else None
        points = floor.get("points") if isinstance(floor, Mapping) else None
        if not isinstance(points, (int, float)) or not 0 <= points <= 1:
            yield f"the floor of {task.spec.key} is no share of its points; fetch the release again"


def _regime(task: Task) -> str:
    regime = TRACKS[task.track].regime
    return "" if regime is None else regime(task)


def _member(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A member that is a table; an empty one where it is absent or something else."""
    found = table.get(name)
    return found if isinstance(found, Mapping) else {}

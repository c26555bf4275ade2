"""Floors: the points of the best constant answer to each variant, as a manifest states them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from grader.scoring.shape import Task
from grader.scoring.track import Track


@dataclass(frozen=True, slots=True)
class Floors:
    """The floors of one split: track to variant to a share of the points.

    A track without floors for all its tasks, or with those of other rules, is left out;
    ``notices`` say why, a line each.
    """

    shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @classmethod
    def from_manifest(
        cls,
        manifest: Mapping[str, Any],
        split: str,
        tasks: Sequence[Task],
        tracks: Mapping[str, Track],
    ) -> Self:
        """Return the floors that a release's manifest states for a split and the tracks of
        ``tasks``.

        Never raises for what stands in a manifest: a track whose floors cannot be used gets a
        notice.
        """
        stated = _table(_table(manifest, "floors"), split)
        found: dict[str, Mapping[str, float]] = {}
        notices = []
        for track in sorted({task.track for task in tasks}):
            entry = _table(stated, track)
            floors = _table(entry, "variants")
            keys = sorted({task.spec.key for task in tasks if task.track == track})
            problem = next(_problems(entry, floors, tracks[track], keys), None)
            if problem is None:
                found[track] = {key: float(floor["points"]) for key, floor in floors.items()}
            else:
                notices.append(f"no skill in {track}: {problem}")
        return cls(found, tuple(notices))

    def of_variant(self, track: str, key: str) -> float | None:
        """Return the floor (0 to 1) of the variant ``key``, ``family.variant``, or None."""
        return self.shares.get(track, {}).get(key)

    def of_task(self, task: Task) -> float | None:
        """Return the floor of a task's variant as points 0 to 1; None where its track has none."""
        return self.of_variant(task.track, task.spec.key)


def _problems(
    entry: Mapping[str, Any], floors: Mapping[str, Any], track: Track, keys: Sequence[str]
) -> Iterator[str]:
    """Yield why the floors of a track cannot be used, the first reason first; nothing if they can.

    ``entry`` is the track's part of the manifest, ``floors`` its table by variant, and ``keys`` the
    variants that need one.
    """
    if not floors:
        yield "the release has no floors of this split"
    for key in keys:
        if key not in floors:
            yield f"{key} has no floor; raise floor_tasks and build again"
    if entry.get("rules") != track.rules:
        yield "its floors were graded by other rules; build the release again"
    for key, floor in floors.items():
        points = floor.get("points") if isinstance(floor, Mapping) else None
        if not isinstance(points, (int, float)) or not 0 <= points <= 1:
            yield f"the floor of {key} is no share of its points; fetch the release again"


def _table(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a member that is a table; an empty one where it is absent or something else."""
    found = parent.get(name)
    return found if isinstance(found, Mapping) else {}

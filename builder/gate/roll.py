"""What a release's files list: ids alone, without the rows behind them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.gate.tables import exam_places, tracks, truth_side
from builder.release.reader import SIDES, column_names, configs, groups, public_side, shards, splits
from builder.release.shards import COMMITTED
from builder.tracks import TRACKS


@dataclass(frozen=True, slots=True)
class Roll:
    """One track of one split: its tasks with the instance of each, its scenes (``instance_id``,
    ``view``; none in a track without), its worlds in the order of their indices, and its exams."""

    split: str
    track: str
    private: bool
    tasks: Mapping[str, str]
    scenes: Sequence[tuple[str, str]]
    worlds: Sequence[str]
    exams: Sequence[tuple[str, int, str]]

    @property
    def instances(self) -> set[str]:
        """The instances as the public side shows them."""
        if TRACKS[self.track].scenes:
            return {instance for instance, _ in self.scenes}
        return set(self.tasks.values())


def rolls(release: Path) -> list[Roll]:
    """The rolls of a release, in the grader's order of tracks; raises ``UsageError``."""
    public = public_side(release)
    return [_roll(release, t, split) for t in tracks(public) for split in splits(public, t)]


def _roll(release: Path, track: str, split: str) -> Roll:
    public, side = public_side(release), truth_side(release, track, split)
    tasks = _columns(shards(public, track, split), ["task_id", "instance_id"])
    scenes = _columns(shards(public, f"{track}_scenes", split), ["instance_id", "view"])
    indices, worlds = _columns(shards(side, f"{track}_worlds", split), ["index", "instance_id"])
    return Roll(
        split,
        track,
        side != public,
        dict(zip(*tasks, strict=True)),
        list(zip(*scenes, strict=True)),
        [instance for _, instance in sorted(zip(indices, worlds, strict=True))],
        exam_places(release, track, split),
    )


def raw_ids(release: Path) -> Iterator[tuple[str, list[str]]]:
    """The ids of every config and split of both sides as they stand in the files, by
    ``config/split``.

    Exams and commitments have no id of their own, and a scene has a row per view: they are left
    out.
    """
    for side in SIDES:
        for config in configs(release / side):
            if config != COMMITTED and not config.endswith(("_exams", "_scenes")):
                for split in splits(release / side, config):
                    paths = shards(release / side, config, split)
                    (ids,) = _columns(paths, column_names(paths)[:1])
                    yield f"{config}/{split}", ids


def _columns(paths: Sequence[Path], names: Sequence[str]) -> list[list[Any]]:
    """Some columns of some shards, each as one list."""
    tables = [table.to_pydict() for table, _ in groups(paths, names)]
    return [[value for table in tables for value in table[name]] for name in names]

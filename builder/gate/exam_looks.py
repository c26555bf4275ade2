"""What the gate looks at split by split and exam by exam: rules of exams, known answers through
the whole grader, stated floors, shortcuts.

None of it needs anything of the rest, so workers share it; each opens the release for itself. What
they find comes back in an order of its own, whoever was ready first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from builder.gate.exams import Finding, exam_findings
from builder.gate.floors import StatedFloors, split_floors
from builder.gate.known_answers import (
    ExamPoints,
    graded_exams,
    points_of_no_answers,
    points_of_right_answers,
)
from builder.gate.shortcuts import ShortcutRow, Shortcuts, shortcut_rows
from builder.release.engine import Workers, map_instances
from builder.release.manifest import read_manifest
from grader.io.release import Release

Found = Finding | ExamPoints | StatedFloors | ShortcutRow


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at a split, by a name for messages."""

    split: str
    name: str
    find: Callable[[], Sequence[Found]]


@dataclass(frozen=True, slots=True)
class ExamLooks:
    """What was found: rules of exams and points of known answers by split, and over all splits the
    floors that are stated and the skill of shortcuts."""

    rules: Mapping[str, Sequence[Finding]]
    points: Mapping[str, Sequence[ExamPoints]]
    floors: Sequence[StatedFloors]
    shortcuts: Sequence[ShortcutRow]


def look_at_exams(
    release: Path,
    opened: Release,
    tasks: Mapping[str, int],
    shortcuts: Shortcuts | None,
    workers: Workers,
) -> ExamLooks:
    """All exams of a release, whose splits have so many ``tasks``."""
    # Right answers are written here: a worker that is killed would leave them behind.
    with TemporaryDirectory(prefix="causal-exams-gate-") as scratch:
        asked = list(_looks(release, opened, tasks, shortcuts, Path(scratch)))
        with closing(map_instances(_look, asked, workers, label=_name)) as several:
            found = [(look.split, item) for look, items in zip(asked, several, strict=True)
                     for item in items]  # fmt: skip
    return ExamLooks(
        {split: [i for of, i in found if of == split and isinstance(i, Finding)]
         for split in opened.splits},
        {split: [i for of, i in found if of == split and isinstance(i, ExamPoints)]
         for split in opened.splits},
        [item for _, item in found if isinstance(item, StatedFloors)],
        [item for _, item in found if isinstance(item, ShortcutRow)],
    )  # fmt: skip


def _looks(
    release: Path,
    opened: Release,
    tasks: Mapping[str, int],
    shortcuts: Shortcuts | None,
    scratch: Path,
) -> Iterator[_Look]:
    """Every look; what takes longest comes first, so that nobody waits for it."""
    if shortcuts is not None:
        for split in opened.splits:
            yield _Look(split, "shortcuts", partial(_shortcuts, release, split, shortcuts))
    exams = [(split, exam) for split in opened.splits
             for exam in graded_exams(opened, split, tasks[split])]  # fmt: skip
    for name, points in (("right", points_of_right_answers), ("empty", points_of_no_answers)):
        for split, exam in exams:
            find = partial(_points, points, release, split, exam, scratch)
            yield _Look(split, f"{name} answers to exam {exam}", find)
    for split in opened.splits:
        yield _Look(split, "exams", partial(_rules, release, split))
        yield _Look(split, "floors", partial(_floors, release, split))


def _look(look: _Look) -> Sequence[Found]:
    """Runs in a worker."""
    return look.find()


def _name(look: _Look) -> str:
    return f"the gate's look at {look.split}: {look.name}"


def _shortcuts(release: Path, split: str, shortcuts: Shortcuts) -> Sequence[ShortcutRow]:
    return list(shortcut_rows(release, Release.open(release), split, shortcuts))


def _points(
    points: Callable[[Release, str, str, Path], ExamPoints],
    release: Path,
    split: str,
    exam: str,
    scratch: Path,
) -> Sequence[ExamPoints]:
    return [points(Release.open(release), split, exam, scratch)]


def _rules(release: Path, split: str) -> Sequence[Finding]:
    opened = Release.open(release)
    return exam_findings(opened, split, read_manifest(opened.truth_side(split).path))


def _floors(release: Path, split: str) -> Sequence[StatedFloors]:
    return list(split_floors(Release.open(release), split))

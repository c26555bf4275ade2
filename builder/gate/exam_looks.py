"""What the gate looks at split by split and exam by exam: rules of exams, known answers through
the whole grader, stated floors, shortcuts.

None of it needs anything of the rest, so workers share it, while the gate does something else; each
opens the release for itself. What they find comes back in an order of its own, whoever was ready
first.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
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
from builder.release.trials import tellable
from builder.tracks import TRACKS
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


class Looks:
    """Looks at exams that have begun, and what they find.

    What cannot be looked at is told when it is asked for: of a damaged release other checks say
    better what is wrong with it.
    """

    def __init__(
        self,
        splits: Sequence[str],
        asked: Sequence[_Look],
        several: Iterable[Sequence[Found] | Exception],
    ) -> None:
        self._splits, self._asked, self._several = splits, asked, several
        self._ended: list[Sequence[Found] | Exception] = []

    def wait(self) -> None:
        """Until all have ended, and workers are free for something else."""
        self._ended += self._several

    def found(self) -> ExamLooks:
        """What was found; raises what the first raised that could not look."""
        self.wait()
        for items in self._ended:
            if isinstance(items, Exception):
                raise items
        found = [(look.split, item) for look, items in zip(self._asked, self._ended, strict=True)
                 if not isinstance(items, Exception) for item in items]  # fmt: skip
        return ExamLooks(
            {split: [i for of, i in found if of == split and isinstance(i, Finding)]
             for split in self._splits},
            {split: [i for of, i in found if of == split and isinstance(i, ExamPoints)]
             for split in self._splits},
            [item for _, item in found if isinstance(item, StatedFloors)],
            [item for _, item in found if isinstance(item, ShortcutRow)],
        )  # fmt: skip


@contextmanager
def looking_at_exams(
    release: Path, opened: Release, shortcuts: Shortcuts | None, workers: Workers
) -> Iterator[Looks]:
    """Looks at all exams of a release; several workers begin at once."""
    # Right answers are written here: a worker that is killed would leave them behind.
    with TemporaryDirectory(prefix="causal-exams-gate-") as scratch:
        try:
            asked = list(_looks(release, opened, shortcuts, Path(scratch)))
        except Exception as error:  # a damaged release, in which no exams are found
            yield Looks((), (), [error])
            return
        with closing(map_instances(_look, asked, workers, label=_name)) as several:
            yield Looks(opened.splits, asked, several)


def _looks(
    release: Path, opened: Release, shortcuts: Shortcuts | None, scratch: Path
) -> Iterator[_Look]:
    """Every look; what takes longest comes first, so that nobody waits for it."""
    if shortcuts is not None:
        for split in opened.splits:
            yield _Look(split, "shortcuts", partial(_shortcuts, release, split, shortcuts))
    exams = [(split, exam) for split in opened.splits
             for exam in graded_exams(opened, split, _tasks(opened, split))]  # fmt: skip
    for name, points in (("right", points_of_right_answers), ("empty", points_of_no_answers)):
        for split, exam in exams:
            find = partial(_points, points, release, split, exam, scratch)
            yield _Look(split, f"{name} answers to exam {exam}", find)
    for split in opened.splits:
        yield _Look(split, "exams", partial(_rules, release, split))
        yield _Look(split, "floors", partial(_floors, release, split))


def _tasks(opened: Release, split: str) -> int:
    """How many tasks a split has, as the manifest says."""
    shards = opened.public.manifest["shards"].items()
    begins = tuple(f"{track}/{split}-" for track in TRACKS)
    return sum(told["rows"] for name, told in shards if name.startswith(begins))


def _look(look: _Look) -> Sequence[Found] | Exception:
    """What is found, or what hindered it; runs in a worker."""
    try:
        return look.find()
    except Exception as error:
        return tellable(error)


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

"""What the gate looks at piece by piece: rules of exams, known answers through the whole grader,
stated floors, shortcuts; and in a build whether each shard holds what was staged.

None of it needs anything of the rest, so workers share it, while the gate does something else: it
checks every shard's hash, so that here the release is read as it stands. What they find is told in
one order, whoever was ready first.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from builder.gate.exams import Finding, exam_findings
from builder.gate.floors import StatedFloors, split_floors
from builder.gate.known_answers import ExamPoints, graded_exams, points_of_exam
from builder.gate.same_rows import CompareJob, compare_jobs, differences
from builder.gate.shortcuts import ShortcutRow, Shortcuts, shortcut_rows
from builder.release.engine import Workers, map_instances
from builder.release.manifest import Parts, read_manifest
from builder.release.reader import shards
from builder.release.trials import tellable
from builder.tracks import TRACKS
from grader.io.release import Release


@dataclass(frozen=True, slots=True)
class Difference:
    """What a shard holds that was not staged."""

    problem: str


Found = Finding | ExamPoints | StatedFloors | ShortcutRow | Difference


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at something of a split, by a name for messages."""

    split: str
    name: str
    find: Callable[[], Sequence[Found]]
    staged: bool = False
    """Whether it is about a shard and what was staged, not about exams."""


@dataclass(frozen=True, slots=True)
class ExamLooks:
    """What was found: rules of exams and points of known answers by split, and over all splits the
    floors that are stated and the skill of shortcuts."""

    rules: Mapping[str, Sequence[Finding]]
    points: Mapping[str, Sequence[ExamPoints]]
    floors: Sequence[StatedFloors]
    shortcuts: Sequence[ShortcutRow]


class Looks:
    """Looks that have begun, and what they find.

    What cannot be looked at is told when it is asked for: of a damaged release other checks say
    better what is wrong with it.
    """

    def __init__(
        self,
        splits: Sequence[str],
        asked: Sequence[_Look],
        several: Iterable[tuple[int, Sequence[Found] | Exception]],
    ) -> None:
        self._splits, self._asked, self._several = splits, asked, several
        self._ended: dict[int, Sequence[Found] | Exception] = {}

    def wait(self) -> None:
        """Until all have ended, and workers are free for something else."""
        self._ended.update(self._several)

    def differences(self) -> list[str]:
        """What shards hold that was not staged; raises what the first raised that could not look at
        one."""
        return [one.problem for _, one in self._found(True) if isinstance(one, Difference)]

    def of_exams(self) -> ExamLooks:
        """What was found of exams; raises what the first raised that could not look at one."""
        found = list(self._found(False))
        return ExamLooks(
            {split: [i for of, i in found if of == split and isinstance(i, Finding)]
             for split in self._splits},
            {split: [i for of, i in found if of == split and isinstance(i, ExamPoints)]
             for split in self._splits},
            [item for _, item in found if isinstance(item, StatedFloors)],
            [item for _, item in found if isinstance(item, ShortcutRow)],
        )  # fmt: skip

    def _found(self, staged: bool) -> Iterator[tuple[str, Found]]:
        """What was found, with its split, in shards or otherwise."""
        self.wait()
        for place, look in enumerate(self._asked):
            items = self._ended[place]
            if look.staged is staged:
                if isinstance(items, Exception):
                    raise items
                yield from ((look.split, item) for item in items)


@contextmanager
def looking_at(
    release: Path,
    opened: Release,
    shortcuts: Shortcuts | None,
    workers: Workers,
    parts: Parts | None = None,
) -> Iterator[Looks]:
    """Looks at a release and, where it is made of staged ``parts``, whether it holds their rows;
    several workers begin at once."""
    # Right answers are written here: a worker that is killed would leave them behind.
    with TemporaryDirectory(prefix="causal-exams-gate-") as scratch:
        asked = [
            *_listed(partial(_looks, opened.vouched(), shortcuts, Path(scratch)), staged=False),
            *_listed(partial(_comparisons, release, opened, parts), staged=True),
        ]
        numbered = enumerate(asked)
        with closing(
            map_instances(_look, numbered, workers, ordered=False, label=_name)
        ) as several:
            yield Looks(opened.splits, asked, several)


def _listed(looks: Callable[[], Iterable[_Look]], *, staged: bool) -> list[_Look]:
    """The looks, or one that tells why they cannot be listed."""
    try:
        return list(looks())
    except Exception as error:  # a damaged release; raised where it is asked for
        return [_Look("", "what is there", partial(_hindered, tellable(error)), staged)]


def _hindered(error: Exception) -> Sequence[Found]:
    raise error


def _comparisons(release: Path, opened: Release, parts: Parts | None) -> Iterator[_Look]:
    """Every shard of every track, beside the parts that it should be made of."""
    if parts is None:
        return
    for split, track in ((split, track) for split in opened.splits for track in TRACKS):
        if (split, track) in parts or shards(opened.public.path, track, split):
            for job in compare_jobs(release, track, split, parts.get((split, track), ())):
                yield _Look(split, f"{job.config}/{job.path.name}", partial(_compared, job), True)


def _looks(opened: Release, shortcuts: Shortcuts | None, scratch: Path) -> Iterator[_Look]:
    """Every look at exams; what takes longest comes first, so that nobody waits for it."""
    exams = [(split, exam) for split in opened.splits
             for exam in graded_exams(opened, split, _tasks(opened, split))]  # fmt: skip
    if shortcuts is not None:
        for split in opened.splits:
            yield _Look(split, "shortcuts", partial(_shortcuts, opened, split, shortcuts))
    for split, exam in exams:
        yield _Look(split, f"exam {exam}", partial(_points, opened, split, exam, scratch))
    for split in opened.splits:
        yield _Look(split, "exams", partial(_rules, opened, split))
        yield _Look(split, "floors", partial(_floors, opened, split))


def _tasks(opened: Release, split: str) -> int:
    """How many tasks a split has, as the manifest says."""
    listed = opened.public.manifest["shards"].items()
    begins = tuple(f"{track}/{split}-" for track in TRACKS)
    return sum(told["rows"] for name, told in listed if name.startswith(begins))


def _look(numbered: tuple[int, _Look]) -> tuple[int, Sequence[Found] | Exception]:
    """What is found, or what hindered it, by the number of the look; runs in a worker."""
    number, look = numbered
    try:
        return number, look.find()
    except Exception as error:  # raised where it is asked for: see ``Looks``
        return number, tellable(error)


def _name(numbered: tuple[int, _Look]) -> str:
    _, look = numbered
    return f"the gate's look at {look.split}: {look.name}"


def _shortcuts(opened: Release, split: str, shortcuts: Shortcuts) -> Sequence[ShortcutRow]:
    return list(shortcut_rows(opened, split, shortcuts))


def _points(opened: Release, split: str, exam: str, scratch: Path) -> Sequence[ExamPoints]:
    return [points_of_exam(opened, split, exam, scratch)]


def _rules(opened: Release, split: str) -> Sequence[Finding]:
    return exam_findings(opened, split, read_manifest(opened.truth_side(split).path))


def _compared(job: CompareJob) -> Sequence[Found]:
    return [Difference(problem) for problem in differences(job)]


def _floors(opened: Release, split: str) -> Sequence[StatedFloors]:
    return list(split_floors(opened, split))

"""One submission of a board: graded in a worker, and what the board keeps.

A report of a large exam is a hundred thousand characters, of which a table needs a few thousand:
the board keeps those at hand, and the whole packed.
"""

import json
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from grader.answers.submission import Limits as Budget
from grader.board.workers import Failed, Limits, run_limited, run_patiently
from grader.pipeline import grade
from grader.release.exam import Exam
from grader.reports.build import Graded
from grader.reports.ledger import close, held, show_all

_MOST_LEAVES: Final = 120
"""Members of a track's part with more figures are drawn on pages and stand in no table."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A graded submission: ``brief`` is its report without what only pages show."""

    source: Path
    brief: dict[str, Any]
    packed: bytes

    @classmethod
    def of(cls, source: Path, text: bytes) -> Self:
        """The entry of a report as JSON."""
        return cls(source, _brief(json.loads(text)), zlib.compress(text, 6))

    def report(self) -> dict[str, Any]:
        """The whole report, under the name that the board gives the submission."""
        whole: dict[str, Any] = json.loads(zlib.decompress(self.packed))
        return {**whole, "submission": self.brief["submission"]}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is no submission to this exam, and why."""

    source: Path
    reason: str


@dataclass(frozen=True, slots=True)
class NotGraded:
    """A submission that could not be graded, and why; ``again`` as in ``workers.Failed``."""

    source: Path
    reason: str
    again: bool = False


Result = Entry | LeftOut | NotGraded


def grade_all(
    exam: Exam,
    sources: Sequence[Path],
    *,
    workers: int,
    limits: Limits,
    budget: Budget | None = None,
    documents: bool = False,
    patient: bool = False,
    refuse: Callable[[Graded], None] = lambda _graded: None,
    advance: Callable[[], None] = lambda: None,
) -> list[Result]:
    """Every submission, graded on its own, in the order of ``sources``.

    ``limits`` are a worker's, ``budget`` is what the answers of one may cost,
    ``documents`` whether anyone will see more of a report than a table, ``patient`` whether what
    fails for want of time or memory is tried once more. ``refuse`` raises ``UsageError`` for a
    submission that must not be on the board; ``advance`` is called for each as it is finished.
    """
    # Read once, before there are workers, which then share it.
    _ = exam.truths, exam.floors, exam.arms

    def work(source: Path) -> bytes:
        graded = grade(
            exam, source, slice_intervals=documents, tables=documents, limits=budget, identify=True
        )
        return json.dumps(_told(graded, source, refuse)).encode("ascii")

    found: dict[int, Result] = {}
    run = run_patiently if patient else run_limited
    for place, outcome in run(work, sources, workers, limits):
        found[place] = _result(sources[place], outcome)
        advance()
    return [found[place] for place in range(len(sources))]


def with_figures(ledger: Path | None, exam: Exam, entries: Sequence[Entry]) -> list[Entry]:
    """Entries of a private exam with what their teams are shown, which the ledger counts."""
    shown = show_all(ledger, exam, [(entry.source, entry.report()) for entry in entries])
    return [
        Entry.of(entry.source, json.dumps(report).encode("ascii"))
        for entry, report in zip(entries, shown, strict=True)
    ]


def in_time(ledger: Path | None, exam: Exam, results: Sequence[Result]) -> list[Result]:
    """Results of the final ranking, of which the ledger tells the answers that come too late."""
    graded = {r.source: r for r in results if isinstance(r, Entry)}
    handed = {
        source: str(entry.brief["submission"]["answers_sha256"]) for source, entry in graded.items()
    }
    late = close(ledger, exam, handed)
    why = "handed in after the final ranking, which is made once"
    return [NotGraded(r.source, why) if r.source in late else r for r in results]


def _result(source: Path, outcome: bytes | Failed) -> Result:
    if isinstance(outcome, Failed):
        return NotGraded(source, outcome.reason, outcome.again)
    document = json.loads(outcome)
    if "left_out" in document:
        return LeftOut(source, document["left_out"])
    return Entry.of(source, outcome)


def _told(graded: Graded, source: Path, refuse: Callable[[Graded], None]) -> dict[str, Any]:
    """The report of a submission, or ``left_out`` and why."""
    if (stranger := _stranger(graded, source)) is not None:
        return {"left_out": stranger}
    refuse(graded)
    name = source.name.encode("utf-8", errors="replace").decode("utf-8")
    told = {"file": name, "answers_sha256": graded.answers_sha256}
    report = held(graded) if graded.exam.keeps_ledger else graded.report
    return {**report, "submission": {**report["submission"], **told}}


def _stranger(graded: Graded, source: Path) -> str | None:
    """Why something has no place on this board: nothing in it is about the exam."""
    submission, split = graded.submission, graded.exam.split
    if any(score.status != "missing" for score in graded.scores):
        return None
    if not submission.answers and not submission.run:
        return f"{source}: neither an answer nor a run.json in it"
    if split.track and submission.answers:
        return f"{source}: answers nothing of track {split.track}"
    if submission.answers or submission.unknown:
        return f"{source}: {graded.report['notices'][0]}; no answer to this exam in it"
    return None


def _brief(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report without what only pages show; of slices, the points of families."""
    parts = {}
    for name, part in report["tracks"].items():
        families = part["slices"].get("family", {})
        kept = {key: value for key, value in part.items() if sum(_leaves(value)) <= _MOST_LEAVES}
        points = {level: {"points": row.get("points")} for level, row in families.items()}
        parts[name] = {**kept, "slices": {"family": points}}
    brief: dict[str, Any] = _interned({**report, "tracks": parts})
    return brief


def _leaves(value: Any) -> Iterator[int]:
    """A one for each figure or word inside a value."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield 1


def _interned(value: Any) -> Any:
    """``value`` with equal keys as one object, since every report has the same ones."""
    if isinstance(value, dict):
        return {sys.intern(key): _interned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_interned(item) for item in value]
    return value

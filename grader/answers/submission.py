"""What a submission holds and may cost."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from grader.io.jsonio import BadJson, clip, parse_strict
from grader.scoring.model import CheckedAnswer, RawAnswer

MAX_BYTES: Final = {".json": 1 << 20, ".csv": 16 << 20, ".jsonl": 16 << 20}
"""The largest answer that is read, by file ending."""
MAX_USAGE: Final = 1 << 16
MAX_ENTRIES: Final = 1_000_000
MAX_NOTICES: Final = 50
NAMED_UNKNOWN: Final = 5
"""Strange ids that get a note of their own."""
BUDGET: Final = "budget"


def too_large(source: str, limit: int) -> RawAnswer:
    """Return what stands for an answer of more bytes than ``limit``."""
    message = f"over {limit >> 20} MiB; answers are far smaller"
    return RawAnswer(source, reason="too_large", message=message)


@dataclass(frozen=True, slots=True)
class SubmissionLimits:
    """The most that one submission may cost, all its attempts together.

    ``mebibytes`` of answers after decompression and ``cells`` in them (commas and ends of lines)
    are the same on every machine; ``seconds`` of processor time are not, so that no honest
    submission should come near them.
    """

    mebibytes: int = 1024
    cells: int = 50_000_000
    seconds: int = 900


class Budget:
    """The ``limits`` of a submission, and what of them it has used: bytes and cells that were
    read, processor time since it began to be read. Messages are empty while there is room."""

    def __init__(self, limits: SubmissionLimits | None = None) -> None:
        self.limits = limits or SubmissionLimits()
        self._bytes = self._cells = 0
        self._start = time.process_time()

    @property
    def reading_limit(self) -> str:
        """The message for answers not yet read once a limit on reading is passed, else empty."""
        if self._bytes > self.limits.mebibytes << 20:
            return _over_limit(f"{self.limits.mebibytes:,} MiB", "--max-mib")
        if self._cells > self.limits.cells:
            return _over_limit(f"{self.limits.cells:,} cells", "--max-cells")
        return ""

    @property
    def time_limit(self) -> str:
        """The message for answers not yet scored once the submission took too long, else empty."""
        if time.process_time() - self._start <= self.limits.seconds:
            return ""
        return _over_limit(f"{self.limits.seconds:,} s of processor time", "--max-seconds")

    def count_bytes(self, data: bytes) -> str:
        """Count what was read, and return what :attr:`reading_limit` says then."""
        self._bytes += len(data)
        self._cells += 1 + len(data) - len(data.translate(None, b",\n\r"))
        return self.reading_limit

    def refused_answer(self, source: str) -> RawAnswer:
        """Return the raw answer that stands for one which is no longer read or checked."""
        return RawAnswer(source, reason=BUDGET, message=self.reading_limit or self.time_limit)

    def within_time(self, checked: CheckedAnswer, source: str) -> CheckedAnswer:
        """Return ``checked``, or an invalid answer for a scored one once the time is used up."""
        if checked.status != "scored" or not (why := self.time_limit):
            return checked
        return CheckedAnswer("invalid", reason=BUDGET, message=f"{source}: {why}")


def _over_limit(limit: str, option: str) -> str:
    return f"comes after the submission's budget of {limit} was used up ({option} sets another)"


@dataclass(slots=True)
class Submission:
    """One submission as it was read from ``source``, before any answer is checked.

    ``answers`` are raw answers and ``usage`` lines of ``usage.jsonl``, both by task id; ``unknown``
    counts answers to no task of the split, ``notices`` say what was odd, ``run`` is ``run.json``.
    ``attempts`` are the attempts that hold answers, where it has several; the other fields are
    then what they come to together. ``budget`` is what reading and grading may cost and have.
    """

    source: Path
    answers: dict[str, RawAnswer] = field(default_factory=dict)
    unknown: int = 0
    notices: list[str] = field(default_factory=list)
    run: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, dict[str, Any]] = field(default_factory=dict)
    attempts: tuple["Submission", ...] = ()
    budget: Budget = field(default_factory=Budget)

    def add(self, task_id: str, raw: RawAnswer) -> None:
        """Record an answer; a second one for the same task makes both invalid."""
        first = self.answers.get(task_id)
        if first is not None:
            both = f"answered in {first.source} and in {raw.source}; keep one"
            raw = RawAnswer(first.source, reason="duplicate_answer", message=both)
        self.answers[task_id] = raw

    def note_unknown(self, where: str, name: str) -> None:
        """Count an answer to no task of the split, and name the first ones."""
        self.unknown += 1
        if self.unknown <= NAMED_UNKNOWN:
            self.notice(f"{where}: {clip(name)} is no task of this split; ignored")

    def notice(self, text: str) -> None:
        """Add a note for the submitter that is not about one known task."""
        self.notices = with_notice(self.notices, text)


USAGE_FIGURES: Final = ("input_tokens", "output_tokens", "tool_calls", "seconds", "cost_usd")


def mean_usage(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the mean of each figure over the lines of usage in which it is plausible."""
    means = {}
    for figure in USAGE_FIGURES:
        values = [amount for row in rows if (amount := amount_of(row, figure)) is not None]
        if values:
            means[figure] = math.fsum(values) / len(values)
    return means


def amount_of(row: Mapping[str, Any], figure: str) -> float | None:
    """Return a figure of a line of usage, or None where it is no number from 0 to 1e15."""
    value = row.get(figure)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1e15:
        return float(value)
    return None


def submission_name(source: Path) -> str:
    """Return what a submission is called: like its folder, or its file without ``.parquet``."""
    name = source.resolve().name if source.is_dir() else source.name.removesuffix(".parquet")
    return name.encode("utf-8", errors="replace").decode("utf-8")


def team_of(submission: str) -> str:
    """Return the team of a submission called ``team`` or ``team@n``: what stands before the first
    ``@`` of its name. It has the team's sessions, figures and place in a final ranking."""
    return submission.partition("@")[0]


def with_notice(notices: list[str], text: str) -> list[str]:
    """Return ``notices`` and ``text``: at most 50, then one line that says the rest is left out."""
    if len(notices) < MAX_NOTICES:
        return [*notices, text]
    if len(notices) == MAX_NOTICES:
        return [*notices, f"more than {MAX_NOTICES} notes; the rest is left out"]
    return notices


def json_object(data: bytes) -> dict[str, Any]:
    """Parse JSON that must be an object; raises :class:`BadJson`."""
    value = parse_strict(data)
    if not isinstance(value, dict):
        raise BadJson("not_object", "expected a JSON object")
    return value

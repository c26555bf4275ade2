"""The maintainer's loop: what was handed in and not looked at yet, graded, recorded, answered.

Each step leaves a trace on the Hub that the next run reads, so that a run can be killed anywhere:
the ledger counts equal answers once, a row appears in one commit with its line of the log, a
file is stored under its hash, an answer to the submitter carries the submission's id, and closing
the pull request comes last. What fails for want of our time or memory is not the submitter's fault:
it keeps its place, and is tried again by the next runs.
"""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from grader.answers.parquet_answers import card_of
from grader.answers.submission import SubmissionLimits, Unreadable
from grader.board.grading import Entry, NotGraded, grade_all, with_figures
from grader.board.sessions import refuse_others
from grader.board.workers import WorkFailure, WorkLimits, run_patiently
from grader.errors import UsageError
from grader.hub.inbox import HandedIn, download, handed_in, reply, store
from grader.hub.results import FAILED, GRADED, REFUSED, WAITING, ResultsDataset, Row
from grader.io.files import file_sha256
from grader.io.jsonio import BadJson
from grader.io.schemas import folder as schema_folder
from grader.pages.systems import setting_of
from grader.release.exam import Exam, Split
from grader.release.release import Release
from grader.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_CARDS: Final = WorkLimits(512 << 20, 60)
_NAMES: Final = 200
_TRIES: Final = 3
"""So many runs try to grade one submission before it is called failed."""

Outcome = dict[str, Any] | WorkFailure
"""A report, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSetup:
    """What the maintainer grades with: release (and its address, if on the Hub), a place for files,
    the limits.

    ``per_day`` is how many submissions of one team are looked at on one day, ``today`` (ISO).
    """

    release: Release
    address: str = ""
    work: Path
    ledger: Path | None = None
    key: bytes | None = None
    today: str
    per_day: int = 5
    workers: int = 1
    limits: WorkLimits
    budget: SubmissionLimits

    @property
    def sha256(self) -> str:
        """The hash of the release: that of its manifest."""
        return file_sha256(self.release.public.path / "manifest.json")


@dataclass(slots=True)
class Tally:
    """How a run went."""

    graded: int = 0
    failed: int = 0
    again: int = 0
    elsewhere: int = 0
    later: int = 0
    before: int = 0


def evaluate(
    api: "HfApi",
    inbox: str,
    results: ResultsDataset,
    desk: EvaluationSetup,
    tell: Callable[[str], None],
) -> Tally:
    """Everything in the dataset ``inbox`` that ``results`` does not know; raises ``UsageError``."""
    tally, waiting = Tally(), []
    taken = Counter(
        row["team"] for row in results.rows.values() if row.get("evaluated") == desk.today
    )
    for one in handed_in(api, inbox):
        row = results.rows.get(one.id)
        if row is not None and _is_settled(row, one):
            tally.before += 1
            _finish(api, inbox, one, row, results.repo, desk)
        elif taken[one.team] >= desk.per_day or _failed_on(desk.today, row):
            tally.later += 1
        else:
            taken[one.team] += 1
            waiting.append(one)
    for some in _batches(waiting, max(1, desk.workers)):
        found = list(_rows(api, inbox, some, results.rows, desk))
        rows = [(one, row) for one, row in found if row is not None]
        tally.elsewhere += len(found) - len(rows)
        if not rows:
            continue
        results.add([row for _, row in rows], "evaluated")
        for one, row in rows:
            tally.graded += row["status"] == GRADED
            tally.failed += row["status"] in (FAILED, REFUSED)
            tally.again += row["status"] == WAITING
            tell(f"{one.id}  {one.team}  {row['status']}  {row['reason']}".rstrip())
            _finish(api, inbox, one, row, results.repo, desk)
    return tally


def _is_settled(row: Row, one: HandedIn) -> bool:
    """Whether a row is the last word on a submission.

    One that failed by no fault of its own is looked at again when it is handed in again.
    """
    if row["status"] == FAILED and row.get("tries"):
        return bool(row["pull_request"] == one.pull)
    return bool(row["status"] != WAITING)


def _failed_on(day: str, row: Row | None) -> bool:
    """Whether a submission was given up on that day: handed in again, it waits for another, since
    its one row counts once among those of its team."""
    return row is not None and row["status"] == FAILED and row["evaluated"] == day


def _finish(
    api: "HfApi", inbox: str, one: HandedIn, row: Row, results: str, desk: EvaluationSetup
) -> None:
    """What follows a row: the file that was graded is stored, then its pull request answered."""
    if one.pull is None or row["status"] == WAITING:
        return
    if row["status"] == GRADED and not one.stored:
        store(api, inbox, one, download(api, inbox, one, desk.work))
    reply(api, inbox, one, row, results)


def _batches(waiting: Sequence[HandedIn], size: int) -> Iterator[Sequence[HandedIn]]:
    """So many at once: a run that is killed loses one batch of gradings."""
    for start in range(0, len(waiting), size):
        yield waiting[start : start + size]


def _rows(
    api: "HfApi",
    inbox: str,
    some: Sequence[HandedIn],
    before: Mapping[str, Row],
    desk: EvaluationSetup,
) -> Iterator[tuple[HandedIn, Row | None]]:
    """A row for each, in order; ``None`` for one to another release."""
    files: dict[HandedIn, Path] = {}
    refused: dict[HandedIn, str] = {}
    for one in some:
        if one.refused:
            refused[one] = one.refused
            continue
        try:
            files[one] = download(api, inbox, one, desk.work)
        except UsageError as error:
            if not str(error).startswith(one.path):
                raise  # the Hub's fault, not the submitter's
            refused[one] = str(error)
    cards = _cards(files)
    graded = dict(_graded(files, cards, desk))
    for one in some:
        if one in refused:
            yield one, row_of(one, None, {}, desk, REFUSED, refused[one])
            continue
        card, outcome = cards[one], graded[one]
        told = {} if isinstance(card, WorkFailure) else card
        if told.get("release_sha256") not in (None, desk.sha256):
            yield one, None
        elif not isinstance(outcome, WorkFailure):
            yield one, row_of(one, files[one], told, desk, GRADED, "", outcome)
        elif outcome.again:
            tries = before.get(one.id, {}).get("tries", 0) + 1
            yield one, _tried(row_of(one, files[one], told, desk, WAITING, outcome.reason), tries)
        else:
            yield one, row_of(one, files[one], told, desk, FAILED, outcome.reason)


def _tried(row: Row, tries: int) -> Row:
    """The row of what could not be graded by no fault of its own; the last try is the end of it."""
    if tries < _TRIES:
        reason = f"{row['reason']}; try {tries} of {_TRIES}, the next run tries again"
        return {**row, "tries": tries, "reason": reason}
    reason = f"{row['reason']}; tried {tries} times; hand it in again tomorrow for another try"
    return {**row, "tries": tries, "status": FAILED, "reason": reason}


def _cards(files: Mapping[HandedIn, Path]) -> dict[HandedIn, Outcome]:
    """What submissions say of themselves, each read in a process of its own."""
    order = list(files)

    def work(path: Path) -> bytes:
        try:
            return json.dumps(card_of(path)).encode("ascii")
        except (Unreadable, BadJson) as error:
            why = str(error).replace(str(path), path.name)
            raise UsageError(f"cannot be read ({why}); hand it in with `submit`") from None

    return {
        order[place]: outcome if isinstance(outcome, WorkFailure) else json.loads(outcome)
        for place, outcome in run_patiently(work, [files[one] for one in order], 1, _CARDS)
    }


def _graded(
    files: Mapping[HandedIn, Path], cards: Mapping[HandedIn, Outcome], desk: EvaluationSetup
) -> Iterator[tuple[HandedIn, Outcome]]:
    """The report of each, or why there is none; a group for each exam that is answered."""
    groups: dict[tuple[str, str], list[HandedIn]] = {}
    for one in files:
        card = cards[one]
        if isinstance(card, WorkFailure):
            yield one, card
        elif card.get("release_sha256") == desk.sha256:
            asked = str(card.get("split", ""))[:_NAMES], str(card.get("exam", ""))[:_NAMES]
            groups.setdefault(asked, []).append(one)
        else:
            why = "it does not say to which release it is; hand it in with `submit`"
            yield one, WorkFailure(why)
    for (split, name), members in groups.items():
        try:
            exam = exam_of(desk, split, name)
        except UsageError as error:
            yield from ((one, WorkFailure(str(error))) for one in members)
            continue
        yield from reports(exam, {files[one]: one for one in members}, desk)


def exam_of(desk: EvaluationSetup, split: str, name: str) -> Exam:
    """The exam that a card names; raises ``UsageError``.

    It is one that the release lists: parts and sums of exams would be further questions to a
    private truth.
    """
    if name not in desk.release.exams(desk.release.choose_split(split)):
        raise UsageError(f"{split}/{name}: no such exam in {desk.release.name}")
    return Split.open(desk.release, split, name, transcript_key=desk.key).choose_exam_for()


def reports(
    exam: Exam, sources: Mapping[Path, HandedIn], desk: EvaluationSetup
) -> Iterator[tuple[HandedIn, Outcome]]:
    """The report of each file, or why there is none, each graded in a process of its own."""
    results = grade_all(
        exam, list(sources), workers=desk.workers, limits=desk.limits, budget=desk.budget,
        documents=True, patient=True, refuse=refuse_others,
    )  # fmt: skip
    entries = [result for result in results if isinstance(result, Entry)]
    if exam.keeps_ledger and entries:
        entries = with_figures(desk.ledger, exam, entries)
    for entry in entries:
        yield sources[entry.source], entry.report
    for result in results:
        if not isinstance(result, Entry):
            text = result.reason.replace(str(result.source), result.source.name)
            again = isinstance(result, NotGraded) and result.again
            yield sources[result.source], WorkFailure(text, again)


def row_of(
    one: HandedIn,
    file: Path | None,
    card: Mapping[str, Any],
    desk: EvaluationSetup,
    status: str,
    reason: str,
    report: dict[str, Any] | None = None,
) -> Row:
    """What is known of a submission. The card's words are the submitter's: clipped, never paths."""
    submission = (report or {}).get("submission", {})
    return {
        "format": 1,
        "id": one.id,
        "day": one.day,
        "evaluated": desk.today,
        "team": one.team,
        "pull_request": one.pull,
        "system": str(card.get("system", "?"))[:_NAMES],
        "setting": setting_of(card)[:_NAMES],
        "release": {
            "name": desk.release.name,
            "sha256": desk.sha256,
            "address": desk.address,
        },
        "split": str(card.get("split", ""))[:_NAMES],
        "exam": str(card.get("exam", ""))[:_NAMES],
        "status": status,
        "reason": reason[:500],
        "submission_sha256": "" if file is None else file_sha256(file),
        "answers_sha256": submission.get("answers_sha256", ""),
        "grader": __version__,
        "grader_sha256": grader_sha256(),
        "report": report,
    }


@cache
def grader_sha256() -> str:
    """The code that grades: every file of the package and its schemas, Python and DuckDB."""
    digest = hashlib.sha256(f"{sys.version} {duckdb.__version__}".encode())
    for root in (Path(__file__).parent.parent, schema_folder()):
        for file in sorted(root.rglob("*")):
            if file.suffix in (".py", ".sql", ".toml", ".json", ".css"):
                digest.update(f"{file.relative_to(root).as_posix()} {file_sha256(file)}\n".encode())
    return digest.hexdigest()

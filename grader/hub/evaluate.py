"""The maintainer's loop: what was handed in and not looked at yet, graded, recorded, answered.

Each step leaves a trace on the Hub that the next run reads, so that a run can be killed anywhere:
the ledger counts equal answers once, a row appears in one commit with its line of the log, a
file is stored under its hash, an answer to the submitter carries the submission's id, and closing
the pull request comes last.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grader.benchmark import setting_of
from grader.board.cache import grader_sha256
from grader.board.grading import Entry, grade_all, with_figures
from grader.board.sessions import refuse_others
from grader.board.workers import Failed, Limits, run_limited
from grader.errors import UsageError
from grader.exam import Exam, Split
from grader.hub.inbox import HandedIn, download, handed_in, store
from grader.hub.reply import reply
from grader.hub.results import FAILED, GRADED, REFUSED, Results, Row
from grader.io.files import file_sha256
from grader.io.release import Release
from grader.submission.budget import Limits as Budget
from grader.submission.packed import card_of
from grader.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_CARDS: Final = Limits(512 << 20, 60)
_NAMES: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
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
    limits: Limits
    budget: Budget

    @property
    def sha256(self) -> str:
        """The hash of the release: that of its manifest."""
        return file_sha256(self.release.public.path / "manifest.json")


@dataclass(slots=True)
class Tally:
    """How a run went."""

    graded: int = 0
    failed: int = 0
    elsewhere: int = 0
    later: int = 0
    before: int = 0


def evaluate(
    api: "HfApi", inbox: str, results: Results, desk: Desk, tell: Callable[[str], None]
) -> Tally:
    """Everything in the dataset ``inbox`` that ``results`` does not know; raises ``UsageError``."""
    tally, waiting = Tally(), []
    taken = Counter(
        row["team"] for row in results.rows.values() if row.get("evaluated") == desk.today
    )
    for one in handed_in(api, inbox):
        if one.id in results.rows:
            tally.before += 1
            _finish(api, inbox, one, results.rows[one.id], results.repo, desk)
        elif taken[one.team] >= desk.per_day:
            tally.later += 1
        else:
            taken[one.team] += 1
            waiting.append(one)
    for some in _batches(waiting, max(1, desk.workers)):
        found = list(_rows(api, inbox, some, desk))
        rows = [(one, row) for one, row in found if row is not None]
        tally.elsewhere += len(found) - len(rows)
        if not rows:
            continue
        results.add([row for _, row in rows], "evaluated")
        for one, row in rows:
            good = row["status"] == GRADED
            tally.graded, tally.failed = tally.graded + good, tally.failed + (not good)
            tell(f"{one.id}  {one.team}  {row['status']}  {row['reason']}".rstrip())
            _finish(api, inbox, one, row, results.repo, desk)
    return tally


def _finish(api: "HfApi", inbox: str, one: HandedIn, row: Row, results: str, desk: Desk) -> None:
    """What follows a row: the file that was graded is stored, then its pull request answered."""
    if one.pull is None:
        return
    if row["status"] == GRADED and not one.stored:
        store(api, inbox, one, download(api, inbox, one, desk.work))
    reply(api, inbox, one, row, results)


def _batches(waiting: Sequence[HandedIn], size: int) -> Iterator[Sequence[HandedIn]]:
    """So many at once: a run that is killed loses one batch of gradings."""
    for start in range(0, len(waiting), size):
        yield waiting[start : start + size]


def _rows(
    api: "HfApi", inbox: str, some: Sequence[HandedIn], desk: Desk
) -> Iterator[tuple[HandedIn, Row | None]]:
    """A row for each, in order; ``None`` for one to another release."""
    files: dict[HandedIn, Path] = {}
    why: dict[HandedIn, str] = {}
    for one in some:
        if one.refused:
            why[one] = one.refused
            continue
        try:
            files[one] = download(api, inbox, one, desk.work)
        except UsageError as error:
            if not str(error).startswith(one.path):
                raise  # the Hub's fault, not the submitter's
            why[one] = str(error)
    cards = _cards(files)
    graded = dict(_graded(files, cards, desk))
    for one in some:
        card = cards.get(one, {})
        status, outcome = (REFUSED, why[one]) if one in why else (FAILED, graded.get(one, ""))
        if one in files and card.get("release_sha256") not in (None, desk.sha256):
            yield one, None
        elif isinstance(outcome, str):
            yield one, row_of(one, files.get(one), card, desk, status, outcome, None)
        else:
            yield one, row_of(one, files[one], card, desk, GRADED, "", outcome)


def _cards(files: Mapping[HandedIn, Path]) -> dict[HandedIn, dict[str, Any]]:
    """What submissions say of themselves, each read in a process of its own."""
    order = list(files)

    def work(path: Path) -> bytes:
        return json.dumps(card_of(path)).encode("ascii")

    found: dict[HandedIn, dict[str, Any]] = {one: {} for one in order}
    for place, outcome in run_limited(work, [files[one] for one in order], 1, _CARDS):
        if not isinstance(outcome, Failed):
            found[order[place]] = json.loads(outcome)
    return found


def _graded(
    files: Mapping[HandedIn, Path], cards: Mapping[HandedIn, Mapping[str, Any]], desk: Desk
) -> Iterator[tuple[HandedIn, dict[str, Any] | str]]:
    """The report of each, or why there is none; a group for each exam that is answered."""
    groups: dict[tuple[str, str], list[HandedIn]] = {}
    for one in files:
        card = cards[one]
        if card.get("release_sha256") == desk.sha256:
            asked = str(card.get("split", ""))[:_NAMES], str(card.get("exam", ""))[:_NAMES]
            groups.setdefault(asked, []).append(one)
        else:
            yield one, "it does not say to which release it is; hand it in with `submit`"
    for (split, name), members in groups.items():
        try:
            exam = exam_of(desk, split, name)
        except UsageError as error:
            yield from ((one, str(error)) for one in members)
            continue
        yield from reports(exam, {files[one]: one for one in members}, desk)


def exam_of(desk: Desk, split: str, name: str) -> Exam:
    """The exam that a card names; raises ``UsageError``.

    It is one that the release lists: parts and sums of exams would be further questions to a
    private truth.
    """
    if name not in desk.release.exams(desk.release.choose_split(split)):
        raise UsageError(f"{split}/{name}: no such exam in {desk.release.name}")
    return Split.open(desk.release, split, name, transcript_key=desk.key).choose_exam_for()


def reports(
    exam: Exam, sources: Mapping[Path, HandedIn], desk: Desk
) -> Iterator[tuple[HandedIn, dict[str, Any] | str]]:
    """The report of each file, or why there is none, each graded in a process of its own."""
    results = grade_all(
        exam, list(sources), workers=desk.workers, limits=desk.limits, budget=desk.budget,
        documents=True, refuse=refuse_others,
    )  # fmt: skip
    entries = [result for result in results if isinstance(result, Entry)]
    if exam.keeps_ledger and entries:
        entries = with_figures(desk.ledger, exam, entries)
    for entry in entries:
        yield sources[entry.source], entry.report()
    for result in results:
        if not isinstance(result, Entry):
            text = result.reason.replace(str(result.source), result.source.name)
            yield sources[result.source], text


def row_of(
    one: HandedIn,
    file: Path | None,
    card: Mapping[str, Any],
    desk: Desk,
    status: str,
    reason: str,
    report: dict[str, Any] | None,
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

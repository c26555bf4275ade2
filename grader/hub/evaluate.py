"""The maintainer's loop: what was handed in and not looked at yet, graded, recorded, answered.

Each step leaves a trace on the Hub that the next run reads, so that a run can be killed anywhere:
the ledger counts equal answers once, a row appears in one commit with its line of the log, a
file is stored under its hash, an answer to the submitter carries the submission's id, and closing
the pull request comes last. What fails for want of our time or memory is not the submitter's fault:
it keeps its place, and is tried again by the next runs.

After an erratum the stored files that an older version of the release graded are graded by the new
one. A row keeps what it said under the older version, and what is rescored already is left alone.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from grader.answers.parquet_answers import card_of
from grader.answers.submission import SubmissionLimits
from grader.board.grading import Entry, NotGraded, grade_all, with_figures
from grader.board.workers import WorkFailure, WorkLimits, run_patiently
from grader.errors import UsageError
from grader.hub.results import FAILED, GRADED, REFUSED, WAITING, ResultsDataset, Row, grader_sha256
from grader.hub.submissions import (
    Delivery,
    download,
    download_graded,
    list_submissions,
    reply,
    store,
)
from grader.io.files import Unreadable, file_sha256
from grader.io.jsonio import BadJson
from grader.pages.leaderboard import rank
from grader.pages.systems import setting_of
from grader.release.exam import Exam, Split
from grader.release.release import ReleaseFolder
from grader.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_CARDS: Final = WorkLimits(512 << 20, 60)
_LONGEST_NAME: Final = 200
_TRIES: Final = 3
"""Runs that try to grade one submission before it is called failed."""
_KEPT: Final = ("day", "pull_request", "team", "system", "setting", "split", "exam")
"""Members of a row that a rescoring leaves as they were."""

Outcome = dict[str, Any] | WorkFailure
"""A report, or why there is none."""
Change = dict[str, Any]
"""A rescored submission: ``system``, ``team``, and ``before`` and ``after``, each with ``place``,
``points`` and ``skill``."""
Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSetup:
    """What the maintainer grades with: release (and its address, if on the Hub), folder, limits.

    Of ``inbox``, a dataset, ``per_day`` submissions of a team are looked at on one day, ``today``.
    """

    release: ReleaseFolder
    address: str = ""
    inbox: str
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
        """The SHA-256 of the release's manifest."""
        return file_sha256(self.release.public.path / "manifest.json")


def evaluate(
    api: "HfApi",
    inbox: str,
    results: ResultsDataset,
    setup: EvaluationSetup,
    tell: Callable[[str], None],
) -> Counter[str]:
    """Grade, record and answer what the dataset ``inbox`` has beyond ``results``.

    Returns how many submissions were graded, failed (or refused), are waiting for another try, are
    known before, came too late today, or are to another release. Raises ``UsageError``.
    """
    counts: Counter[str] = Counter()
    waiting = []
    taken = Counter(
        row["team"] for row in results.rows.values() if row.get("evaluated") == setup.today
    )
    for one in list_submissions(api, inbox):
        row = results.rows.get(one.id)
        if row is not None and _is_settled(row, one):
            counts["known"] += 1
            _finish(api, inbox, one, row, results.repo, setup.work)
        elif taken[one.team] >= setup.per_day or (
            # Given up on today it waits for another day: its one row counts once for its team.
            row is not None and row["status"] == FAILED and row["evaluated"] == setup.today
        ):
            counts["late"] += 1
        else:
            taken[one.team] += 1
            waiting.append(one)
    for some in _batches(waiting, setup.workers):
        rows = _evaluate_batch(api, inbox, some, results.rows, setup)
        counts["elsewhere"] += len(some) - len(rows)
        if rows:
            results.add(list(rows.values()), "evaluated")
        for one, row in rows.items():
            counts[FAILED if row["status"] == REFUSED else row["status"]] += 1
            tell(f"{one.id}  {one.team}  {row['status']}  {row['reason']}".rstrip())
            _finish(api, inbox, one, row, results.repo, setup.work)
    return counts


def _is_settled(row: Row, one: Delivery) -> bool:
    """Return whether a row is the last word on a submission.

    One that failed by no fault of its own is looked at again when it is handed in again.
    """
    if row["status"] == FAILED and row.get("tries"):
        return bool(row["pull_request"] == one.pull)
    return bool(row["status"] != WAITING)


def _finish(api: "HfApi", inbox: str, one: Delivery, row: Row, results: str, work: Path) -> None:
    """Store the very file that was graded, then answer its pull request and close it."""
    if one.pull is None or row["status"] == WAITING:
        return
    if row["status"] == GRADED and not one.stored:
        file = download_graded(api, inbox, one, row["submission_sha256"], work)
        if file is not None:
            store(api, inbox, one, file)
    reply(api, inbox, one.pull, row, results)


def _batches(things: list[Thing], workers: int) -> Iterator[list[Thing]]:
    """Yield as many things at once as there are workers. A killed run repeats one batch at most."""
    for start in range(0, len(things), max(1, workers)):
        yield things[start : start + max(1, workers)]


def _evaluate_batch(
    api: "HfApi",
    inbox: str,
    batch: list[Delivery],
    before: Mapping[str, Row],
    setup: EvaluationSetup,
) -> dict[Delivery, Row]:
    """Return the rows of some submissions, in order, without those to another release."""
    files: dict[Delivery, Path] = {}
    refused: dict[Delivery, str] = {}
    for one in batch:
        if one.refused:
            refused[one] = one.refused
            continue
        try:
            files[one] = download(api, inbox, one, setup.work)
        except UsageError as error:
            if not str(error).startswith(one.path):
                raise  # the Hub's fault, not the submitter's
            refused[one] = str(error)
    cards = _read_cards(files)
    outcomes = dict(_grade_files(files, cards, setup))
    rows = {}
    for one in batch:
        if one in refused:
            row = row_of(one, None, {}, setup, WorkFailure(refused[one]))
            rows[one] = {**row, "status": REFUSED}
        elif one in outcomes:
            card = cards[one]
            stated = {} if isinstance(card, WorkFailure) else card
            row = row_of(one, files[one], stated, setup, outcomes[one])
            rows[one] = _with_try(row, before) if row["status"] == WAITING else row
    return rows


def _with_try(row: Row, before: Mapping[str, Row]) -> Row:
    """Return the row of what failed by no fault of its own with its tries, of which one is last."""
    tries = before.get(row["id"], {}).get("tries", 0) + 1
    if tries < _TRIES:
        reason = f"{row['reason']}; try {tries} of {_TRIES}, the next run tries again"
        return {**row, "tries": tries, "reason": reason}
    reason = f"{row['reason']}; tried {tries} times; hand it in again tomorrow for another try"
    return {**row, "tries": tries, "status": FAILED, "reason": reason}


def _read_cards(files: Mapping[Delivery, Path]) -> dict[Delivery, Outcome]:
    """Return the card of each submission, each read in a process of its own."""
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


def _grade_files(
    files: Mapping[Delivery, Path], cards: Mapping[Delivery, Outcome], setup: EvaluationSetup
) -> Iterator[tuple[Delivery, Outcome]]:
    """Yield the outcome of each submission to this release, exam by exam."""
    groups: dict[tuple[str, str], list[Delivery]] = {}
    for one in files:
        card = cards[one]
        if isinstance(card, WorkFailure):
            yield one, card
        elif card.get("release_sha256") is None:
            why = "it does not say to which release it is; hand it in with `submit`"
            yield one, WorkFailure(why)
        elif card["release_sha256"] == setup.sha256:
            groups.setdefault((_name(card, "split"), _name(card, "exam")), []).append(one)
    for (split, name), members in groups.items():
        try:
            exam = exam_of(setup, split, name)
        except UsageError as error:
            yield from ((one, WorkFailure(str(error))) for one in members)
            continue
        yield from reports(exam, {files[one]: one for one in members}, setup)


def _name(card: Mapping[str, Any], member: str, default: str = "") -> str:
    """Return a submitter's text, cut to 200 characters, else ``default``; unsafe as a path."""
    return str(card.get(member, default))[:_LONGEST_NAME]


def exam_of(setup: EvaluationSetup, split: str, name: str) -> Exam:
    """Return the exam that a card names. Raises ``UsageError``.

    It is one that the release lists: parts and sums of exams would be further questions to a
    private truth.
    """
    if name not in setup.release.exams(setup.release.choose_split(split)):
        raise UsageError(f"{split}/{name}: no such exam in {setup.release.name}")
    return Split.open(setup.release, split, name, transcript_key=setup.key).choose_exam_for()


def reports(
    exam: Exam, sources: Mapping[Path, Delivery], setup: EvaluationSetup
) -> Iterator[tuple[Delivery, Outcome]]:
    """Yield the outcome of each file, each graded in a process of its own."""
    results = grade_all(
        exam, list(sources), workers=setup.workers, limits=setup.limits, budget=setup.budget,
        documents=True, patient=True,
    )  # fmt: skip
    entries = [result for result in results if isinstance(result, Entry)]
    if exam.keeps_ledger and entries:
        entries = with_figures(setup.ledger, exam, entries)
    for entry in entries:
        yield sources[entry.source], entry.report
    for result in results:
        if isinstance(result, NotGraded):
            text = result.reason.replace(str(result.source), result.source.name)
            yield sources[result.source], WorkFailure(text, result.again)


def row_of(
    one: Delivery,
    file: Path | None,
    card: Mapping[str, Any],
    setup: EvaluationSetup,
    outcome: Outcome,
) -> Row:
    """Return what is known of a submission, with its status by the outcome of its grading."""
    failure = outcome if isinstance(outcome, WorkFailure) else None
    report = None if isinstance(outcome, WorkFailure) else outcome
    submission = {} if report is None else report["submission"]
    status = GRADED if failure is None else WAITING if failure.again else FAILED
    return {
        "format": 1,
        "id": one.id,
        "day": one.day,
        "evaluated": setup.today,
        "team": one.team,
        "pull_request": one.pull,
        "system": _name(card, "system", "?"),
        "setting": setting_of(card),
        "release": {"name": setup.release.name, "sha256": setup.sha256, "address": setup.address},
        "split": _name(card, "split"),
        "exam": _name(card, "exam"),
        "submissions": setup.inbox,
        "status": status,
        "reason": "" if failure is None else failure.reason[:500],
        "submission_sha256": "" if file is None else file_sha256(file),
        "answers_sha256": submission.get("answers_sha256", ""),
        "grader": __version__,
        "grader_sha256": grader_sha256(),
        "report": report,
    }


def rescore(
    api: "HfApi",
    inbox: str,
    results: ResultsDataset,
    setup: EvaluationSetup,
    tell: Callable[[str], None],
) -> list[Change]:
    """Grade again every row of another version of the release; return all changes there ever were.

    Raises ``UsageError``.
    """
    stored = {one.id: one for one in list_submissions(api, inbox) if one.stored}
    for (split, name), group in _older_rows(results.rows.values(), setup).items():
        exam = exam_of(setup, split, name)
        for some in _batches(group, setup.workers):
            files: dict[Path, Delivery] = {}
            for row in some:
                one, sha256 = stored.get(row["id"]), row["submission_sha256"]
                file = one if one is None else download_graded(api, inbox, one, sha256, setup.work)
                if one is None or file is None:
                    who = f"{row['id']}  {row['team']}"
                    tell(f"{who}  the file that was graded is not in {inbox}; left as it was")
                else:
                    files[file] = one
            paths = {one: path for path, one in files.items()}
            fresh = []
            for one, outcome in reports(exam, files, setup):
                if isinstance(outcome, WorkFailure):
                    raise UsageError(f"{one.path}: {outcome.reason}; an earlier version graded it")
                row = row_of(one, paths[one], {}, setup, outcome)
                old = results.rows[one.id]
                before = {"release": old["release"], **_figures(old["report"])}
                kept = {name: old[name] for name in _KEPT}
                fresh.append({**row, **kept, "before": [*old.get("before", []), before]})
            if fresh:
                results.add(fresh, "rescored")
            for row in fresh:
                tell(f"{row['id']}  {row['team']}  rescored")
    rows = results.rows.values()
    return changes(row for row in rows if row["release"]["sha256"] == setup.sha256)


def _older_rows(rows: Iterable[Row], setup: EvaluationSetup) -> dict[tuple[str, str], list[Row]]:
    """Return the graded rows of other versions, by split and exam, in the order they came."""
    own = setup.release.public.manifest["release"]
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row["day"], row["pull_request"] or 0, row["id"])):
        same = row["release"]["name"].partition(" ")[0] == own
        if row["status"] == GRADED and same and row["release"]["sha256"] != setup.sha256:
            groups.setdefault((row["split"], row["exam"]), []).append(row)
    return groups


def _figures(report: Mapping[str, Any]) -> dict[str, Any]:
    return {name: report[name] for name in ("points", "skill")}


def changes(rows: Iterable[Row]) -> list[Change]:
    """Return figures and places before and after the last erratum, the best of today first.

    Places are by figures alone, since intervals of before are not kept.
    """
    exams: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.get("before"):
            exams.setdefault((row["split"], row["exam"]), []).append(row)
    found = []
    for members in exams.values():
        at = {row["id"]: {name: row[name] for name in ("system", "team", "id")} for row in members}
        for when in ("before", "after"):
            figures = [
                _figures(row["report"] if when == "after" else row["before"][-1]) for row in members
            ]
            places = rank([
                {**own, "points_interval": None, "skill_interval": None,
                 "submission": row["report"]["submission"], "id": row["id"]}
                for own, row in zip(figures, members, strict=True)
            ])  # fmt: skip
            for place, one in places:
                at[one["id"]][when] = {"place": place, **_figures(one)}
        found += [at[one["id"]] for _, one in places]
    return found

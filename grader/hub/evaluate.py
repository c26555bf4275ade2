"""The maintainer's loop: what was handed in and not looked at yet, graded, recorded, answered.

Each step leaves a trace on the Hub that the next run reads, so that a run can be killed anywhere:
the ledger counts equal answers once, a row appears in one commit with its line of the log, a
file is stored under its hash, an answer to the submitter carries the submission's id, and closing
the pull request comes last. What failed is graded again where it is handed in again on another day.

After an erratum the stored files that an older version of the release graded are graded by the new
one. A row keeps what it said under the older version, and what is rescored already is left alone.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grader.answers.parquet_answers import card_of
from grader.answers.submission import SubmissionLimits
from grader.board.grading import Entry, grade_all, with_figures
from grader.board.workers import WorkFailure, WorkLimits, run_limited
from grader.errors import UsageError
from grader.hub.client import explain_hub_errors, list_files
from grader.hub.results import FAILED, GRADED, REFUSED, ResultsDataset, Row, grader_sha256
from grader.hub.submissions import (
    Delivery,
    download,
    download_graded,
    list_submissions,
    path_of,
    reply,
    store,
)
from grader.io.files import Unreadable, file_sha256
from grader.io.jsonio import BadJson
from grader.pages.systems import setting_of
from grader.pages.words import points
from grader.release.exam import Exam, Split
from grader.release.release import ReleaseFolder
from grader.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi

PER_DAY: Final = 5
"""Submissions of a team that are looked at on one day."""
_CARDS: Final = WorkLimits(512 << 20, 60)
_KEPT: Final = ("day", "pull_request", "team", "system", "setting", "split", "exam")
"""Members of a row that a rescoring leaves as they were."""

Outcome = dict[str, Any] | str
"""A report, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSetup:
    """What the maintainer grades with: release (and its address, if on the Hub), the dataset
    ``inbox`` of submissions, a folder for them, limits, and the day (ISO) that it is."""

    release: ReleaseFolder
    address: str = ""
    inbox: str
    work: Path
    ledger: Path | None = None
    key: bytes | None = None
    today: str
    workers: int = 1
    limits: WorkLimits
    budget: SubmissionLimits

    @property
    def sha256(self) -> str:
        """The SHA-256 of the release's manifest."""
        return file_sha256(self.release.public.path / "manifest.json")


def evaluate(
    api: "HfApi", results: ResultsDataset, setup: EvaluationSetup, tell: Callable[[str], None]
) -> Counter[str]:
    """Grade, record and answer what the inbox has beyond ``results``; return how many submissions
    were graded, failed (or refused), are known before, came too late today, or are to another
    release. Raises ``UsageError``."""
    counts: Counter[str] = Counter()
    waiting = []
    taken = Counter(row["team"] for row in results.rows.values() if row["evaluated"] == setup.today)
    for one in list_submissions(api, setup.inbox):
        row = results.rows.get(one.id)
        if row is not None and (row["status"] != FAILED or row["pull_request"] == one.pull):
            counts["known"] += 1
            _finish(api, one, row, results.repo, setup)
        elif taken[one.team] >= PER_DAY or (row is not None and row["evaluated"] == setup.today):
            counts["late"] += 1
        else:
            taken[one.team] += 1
            waiting.append(one)
    for start in range(0, len(waiting), setup.workers):  # a killed run repeats one batch at most
        some = waiting[start : start + setup.workers]
        rows = _evaluate_batch(api, some, setup)
        counts["elsewhere"] += len(some) - len(rows)
        if rows:
            results.add(list(rows.values()), "evaluated")
        for one, row in rows.items():
            counts[GRADED if row["status"] == GRADED else FAILED] += 1
            tell(f"{one.id}  {one.team}  {row['status']}  {row['reason']}".rstrip())
            _finish(api, one, row, results.repo, setup)
    return counts


def _finish(api: "HfApi", one: Delivery, row: Row, results: str, setup: EvaluationSetup) -> None:
    """Store the very file that was graded, then answer its pull request and close it."""
    if row["status"] == GRADED:
        file = download_graded(api, setup.inbox, one, row["submission_sha256"], setup.work)
        if file is not None:
            store(api, setup.inbox, one, file)
    reply(api, setup.inbox, one.pull, row, results)


def _evaluate_batch(
    api: "HfApi", batch: list[Delivery], setup: EvaluationSetup
) -> dict[Delivery, Row]:
    """Return the rows of some submissions, in order, without those to another release."""
    files: dict[Delivery, Path] = {}
    outcomes: dict[Delivery, Outcome] = {}
    for one in batch:
        if one.refused:
            outcomes[one] = one.refused
        elif file := download(api, setup.inbox, one, setup.work):
            files[one] = file
        else:
            wrong = "its file name is not its SHA-256; hand it in with `submit`"
            outcomes[one] = f"{one.path}: {wrong}"
    cards: dict[Delivery, dict[str, Any]] = {}
    read = list(files)
    for place, card in run_limited(_read_card, [files[one] for one in read], 1, _CARDS):
        if isinstance(card, WorkFailure):
            outcomes[read[place]] = card.reason
        else:
            cards[read[place]] = json.loads(card)
    outcomes |= _grade_files(files, cards, setup)
    rows = {}
    for one in batch:
        if one in outcomes:
            rows[one] = row_of(one, files.get(one), cards.get(one, {}), setup, outcomes[one])
            if one not in files:
                rows[one]["status"] = REFUSED
    return rows


def _read_card(path: Path) -> bytes:
    """Return the card of a submission as JSON; raises ``UsageError`` where it cannot be read."""
    try:
        return json.dumps(card_of(path)).encode("ascii")
    except (Unreadable, BadJson) as error:
        why = str(error).replace(str(path), path.name)
        raise UsageError(f"cannot be read ({why}); hand it in with `submit`") from None


def _grade_files(
    files: Mapping[Delivery, Path],
    cards: Mapping[Delivery, Mapping[str, Any]],
    setup: EvaluationSetup,
) -> Iterator[tuple[Delivery, Outcome]]:
    """Yield the outcome of each submission to this release, exam by exam."""
    groups: dict[tuple[str, str], list[Delivery]] = {}
    for one, card in ((one, cards[one]) for one in files if one in cards):  # as they came
        if card.get("release_sha256") is None:
            yield one, "it does not say to which release it is; hand it in with `submit`"
        elif card["release_sha256"] == setup.sha256:
            groups.setdefault((_name(card, "split"), _name(card, "exam")), []).append(one)
    for (split, name), members in groups.items():
        try:
            exam = exam_of(setup, split, name)
        except UsageError as error:
            yield from ((one, str(error)) for one in members)
            continue
        yield from reports(exam, {files[one]: one for one in members}, setup)


def _name(card: Mapping[str, Any], member: str, default: str = "") -> str:
    """Return a submitter's text, cut to 200 characters, else ``default``; unsafe as a path."""
    return str(card.get(member, default))[:200]


def exam_of(setup: EvaluationSetup, split: str, name: str) -> Exam:
    """Return the exam that a card names and the release lists: parts and sums of exams would be
    further questions to a private truth. Raises ``UsageError``."""
    if name not in setup.release.exams(setup.release.choose_split(split)):
        raise UsageError(f"{split}/{name}: no such exam in {setup.release.name}")
    return Split.open(setup.release, split, name, transcript_key=setup.key).choose_exam_for()


def reports(
    exam: Exam, sources: Mapping[Path, Delivery], setup: EvaluationSetup
) -> Iterator[tuple[Delivery, Outcome]]:
    """Yield the outcome of each file, each graded in a process of its own."""
    results = grade_all(
        exam, list(sources), workers=setup.workers, limits=setup.limits, budget=setup.budget,
        documents=True,
    )  # fmt: skip
    entries = [result for result in results if isinstance(result, Entry)]
    if exam.keeps_ledger and entries:
        entries = with_figures(setup.ledger, exam, entries)
    for entry in entries:
        yield sources[entry.source], entry.report
    for result in results:
        if not isinstance(result, Entry):
            reason = result.reason.replace(str(result.source), result.source.name)
            yield sources[result.source], reason


def row_of(
    one: Delivery,
    file: Path | None,
    card: Mapping[str, Any],
    setup: EvaluationSetup,
    outcome: Outcome,
) -> Row:
    """Return what is known of a submission: it is graded, or failed for a reason."""
    report = None if isinstance(outcome, str) else outcome
    submission = {} if report is None else report["submission"]
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
        "status": GRADED if report is not None else FAILED,
        "reason": outcome[:500] if isinstance(outcome, str) else "",
        "submission_sha256": "" if file is None else file_sha256(file),
        "answers_sha256": submission.get("answers_sha256", ""),
        "grader": __version__,
        "grader_sha256": grader_sha256(),
        "report": report,
    }


def rescore(
    api: "HfApi", results: ResultsDataset, setup: EvaluationSetup, tell: Callable[[str], None]
) -> int:
    """Grade again, and count, all rows of other versions of the release. Raises ``UsageError``."""
    with explain_hub_errors(setup.inbox):
        there = list_files(api, setup.inbox, "main")
    count = 0
    for (split, name), group in _older_rows(results, setup).items():
        exam = exam_of(setup, split, name)
        for start in range(0, len(group), setup.workers):
            files: dict[Path, Delivery] = {}
            for row in group[start : start + setup.workers]:
                path, sha256 = path_of(row["team"], row["id"]), row["submission_sha256"]
                one = Delivery(row["id"], row["team"], row["day"], path, row["pull_request"])
                if path in there and (
                    file := download_graded(api, setup.inbox, one, sha256, setup.work, "main")
                ):
                    files[file] = one
                else:
                    who = f"{row['id']}  {row['team']}"
                    tell(f"{who}  the file that was graded is not in {setup.inbox}; left as it was")
            fresh = [_rescored_row(*pair, results, setup) for pair in reports(exam, files, setup)]
            if fresh:
                results.add(fresh, "rescored")
            count += len(fresh)
            for row in fresh:
                changes = ", ".join(
                    f"{name} {points(row['before'][-1][name])} → {points(row['report'][name])}"
                    for name in ("skill", "points")
                )
                tell(f"{row['id']}  {row['team']}  rescored: {changes}")
    return count


def _rescored_row(
    one: Delivery, outcome: Outcome, results: ResultsDataset, setup: EvaluationSetup
) -> Row:
    """Return a row by the new version, which keeps what it said before. Raises ``UsageError``."""
    if isinstance(outcome, str):
        raise UsageError(f"{one.path}: {outcome}; an earlier version graded it")
    old = results.rows[one.id]
    before = {name: old["report"][name] for name in ("points", "skill")}
    return {
        **row_of(one, None, {}, setup, outcome),
        "submission_sha256": old["submission_sha256"],
        **{name: old[name] for name in _KEPT},
        "before": [*old.get("before", []), {"release": old["release"], **before}],
    }


def _older_rows(
    results: ResultsDataset, setup: EvaluationSetup
) -> dict[tuple[str, str], list[Row]]:
    """Return the graded rows of other versions, by split and exam, in the order they came."""
    own = setup.release.public.manifest["release"]
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(results.rows.values(), key=lambda row: (row["day"], row["pull_request"])):
        same = row["release"]["name"].partition(" ")[0] == own
        if row["status"] == GRADED and same and row["release"]["sha256"] != setup.sha256:
            groups.setdefault((row["split"], row["exam"]), []).append(row)
    return groups

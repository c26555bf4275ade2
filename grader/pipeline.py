"""The whole grading run: read, check, verify, score, aggregate, report. No step goes back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.bundles import arms
from grader.errors import UsageError
from grader.exam import Exam
from grader.io.jsonio import clip
from grader.io.release import CORRECTED
from grader.model import Checked, RawAnswer, Score, Unit
from grader.report.aggregate import Totals, aggregate, with_statuses
from grader.report.attempts import with_attempts
from grader.report.build import build_report, finite
from grader.report.ladder import overall
from grader.report.redact import redact, with_figure
from grader.score import score, verify
from grader.shape import Task
from grader.submission.attempts import merge, read
from grader.submission.budget import REASON, Budget, Limits
from grader.submission.check import check
from grader.submission.collect import submissions_in
from grader.submission.submission import Submission, with_notice
from grader.tracks import TRACKS, VARIANTS

Answers = dict[str, Checked]
"""Task id to the checked answer, of every task of the exam."""


@dataclass(frozen=True, slots=True)
class Graded:
    """One submission, graded: its answers, their scores, and what these come to."""

    exam: Exam
    submission: Submission
    told: Answers
    """What can be said of the answers without the truth."""
    checked: Answers
    scores: Sequence[Score]
    totals: Totals
    report: dict[str, Any]

    @property
    def shown_points(self) -> float | None:
        """Points of the half that figures of a private split are about; ``None`` as the overall."""
        if self.totals.points is None:
            return None
        return overall(self.shown_units)

    @property
    def shown_units(self) -> list[list[Unit]]:
        """The units of each track in that half."""
        shown = self.exam.shown
        every = self.totals.units.values()
        halves = [[unit for unit in units if unit.instance in shown] for units in every]
        return [half for half in halves if half]


def grade(
    exam: Exam,
    source: Path | Submission,
    *,
    slice_intervals: bool = True,
    limits: Limits | None = None,
) -> Graded:
    """Grade a submission, or the one at a path (a folder, a packed file, or attempt folders).

    ``limits`` are what one that is read here may cost.

    The headline is that of the first attempt, or of all attempts together for shapes that merge
    them; what the others add stands in the report's ``attempts``.
    """
    submission = read(source, exam.split.tasks, limits) if isinstance(source, Path) else source
    signed = sign_attempts(exam, submission.source, check_attempts(exam, submission))
    attempts, notices = verify_attempts(exam, submission, signed)
    told, checked = merge_attempts(exam, signed), merge_attempts(exam, attempts)
    scores = score_tasks(exam, checked, submission.budget)
    totals = aggregate(
        scores,
        exam.truths,
        checked,
        submission.usage,
        exam.floors,
        slice_intervals=slice_intervals,
    )
    report = build_report(exam, submission, totals, _with_exam(exam, notices))
    if len(attempts) > 1:
        grid = [score_tasks(exam, attempt, submission.budget) for attempt in attempts]
        report = finite(with_attempts(report, submission.attempts, grid, exam.truths, attempts))
    if not exam.split.reveal:
        report = _held_back(exam, report, _before_the_truth(scores, told))
    return Graded(exam, submission, told, checked, scores, totals, report)


def _before_the_truth(scores: Sequence[Score], told: Answers) -> Sequence[Score]:
    """Score rows with statuses that no truth decided: whether a transcript replays is a fact of it.

    One whose host's key was not checked could be made up, to ask.
    """
    rows = []
    for row in scores:
        known = told[row.task_id]
        if row.status != known.status and row.reason != REASON:
            row = replace(row, status=known.status, reason=known.reason)
        rows.append(row)
    return rows


def _held_back(exam: Exam, report: dict[str, Any], rows: Sequence[Score]) -> dict[str, Any]:
    """The redacted report; at the end, with the points of the half that nobody was told of."""
    silent = redact(with_statuses(report, rows))
    if not exam.is_final or report["points"] is None:
        return silent
    ends, shows = report["points_interval"], report["detectable"] or 0.0
    return with_figure(silent, round(report["points"], 1), [round(x, 1) for x in ends], shows)


def look_at(exam: Exam, submission: Submission) -> tuple[Answers, list[str]]:
    """The checked answers and what is odd about them, without looking at any truth."""
    checked = check_attempts(exam, submission)
    attempts = sign_attempts(exam, submission.source, checked)
    notices = _remarks(exam, submission)
    if len(attempts) > 1 and any(task.shape.merge is None for task in exam.tasks):
        merging = sorted({spec.track for spec in VARIANTS if spec.shape.merge is not None})
        notices = with_notice(
            notices,
            f"of {len(attempts)} attempts, {submission.attempts[0].source.name} is looked at; the "
            f"others count in `grade` ({', '.join(merging)}: all of them everywhere)",
        )
    return merge_attempts(exam, attempts), notices


def check_attempts(exam: Exam, submission: Submission) -> list[Answers]:
    """What can be said of each attempt's answers without the truth."""
    return [
        {
            task.task_id: _check(task, part.answers.get(task.task_id), submission.budget)
            for task in exam.tasks
        }
        for part in submission.attempts or (submission,)
    ]


def _check(task: Task, raw: RawAnswer | None, budget: Budget) -> Checked:
    if raw is not None and raw.data is not None and budget.late:
        raw = budget.refused(raw.source)
    with budget.working():
        return check(task, raw)


def verify_attempts(
    exam: Exam, submission: Submission, signed: Sequence[Answers]
) -> tuple[Sequence[Answers], list[str]]:
    """The answers with the statuses that count, and what the submitter is told so far.

    ``signed`` is what :func:`sign_attempts` gives; transcripts must replay.
    """
    verified = [
        {task.task_id: _verify(exam, task, checked, submission.budget) for task in exam.tasks}
        for checked in signed
    ]
    return verified, _remarks(exam, submission)


def _verify(exam: Exam, task: Task, checked: Answers, budget: Budget) -> Checked:
    answer = budget.exhausted(checked[task.task_id], task.answer_file)
    with budget.working():
        return verify(task, exam.truths[task.task_id], answer)


def sign_attempts(exam: Exam, source: Path, attempts: Sequence[Answers]) -> list[Answers]:
    """The answers after their signatures were compared with the host's key, where one was given.

    Raises ``UsageError`` where the sessions of an attempt are those of several submissions.
    """
    found: list[Answers] = []
    for checked in attempts:
        signed, hosted = _signed(exam, checked)
        found.append(signed)
        if len(hosted) > 1:
            named = ", ".join(clip(name) for name in sorted(hosted)[:4])
            raise UsageError(
                f"{source}: holds signed sessions of {len(hosted)} submissions ({named}); a "
                "submission holds its own alone"
            )
    return found


def hosts(exam: Exam, checked: Answers) -> list[str]:
    """By which names the host knows those whose sessions the answers record."""
    return sorted(_signed(exam, checked)[1])


def _signed(exam: Exam, checked: Answers) -> tuple[Answers, set[str]]:
    """The answers after their signatures were looked at, and whose sessions they record."""
    key = exam.split.transcript_key
    found, hosted = dict(checked), set[str]()
    for task in exam.tasks if key is not None else ():
        if (sign := TRACKS[task.track].sign) is not None and key is not None:
            found[task.task_id], names = sign(found[task.task_id], task.answer_file, key)
            hosted |= names
    return found, hosted


def merge_attempts(exam: Exam, attempts: Sequence[Answers]) -> Answers:
    """One checked answer of all attempts at each task."""
    return {
        task.task_id: merge(task, [checked[task.task_id] for checked in attempts])
        for task in exam.tasks
    }


def score_tasks(exam: Exam, checked: Answers, budget: Budget) -> list[Score]:
    """One score row for each task of the exam, in its order.

    What comes after the budget was used up is invalid from here on, in ``checked`` too.
    """
    bundles = arms(exam.tasks, exam.split.bundles.get(exam.name, {}))
    scores = []
    for task in exam.tasks:
        bundle, arm = bundles.get(task.task_id, ("", ""))
        alpha = task.inputs.get("alpha")
        nominal = 1 - alpha if isinstance(alpha, float) else None
        truth = exam.truths[task.task_id]
        answer = budget.exhausted(checked[task.task_id], task.answer_file)
        checked[task.task_id] = answer
        with budget.working():
            scored = score(task, truth, answer)
        scores.append(
            replace(
                scored,
                nominal=nominal,
                bundle=bundle,
                arm=arm,
                floor=exam.floors.of_task(task),
                ceiling=truth.ceiling,
            )
        )
    return scores


def _remarks(exam: Exam, submission: Submission) -> list[str]:
    """What reading said, and whether the answers seem meant for another exam."""
    notices = list(submission.notices)
    if not submission.answers:
        notices.insert(0, _nothing_found(exam, submission))
    split = exam.split
    meant = {"release": split.release.name, "split": split.name, "exam": exam.name}
    for key, value in meant.items():
        packed = submission.run.get(key)
        if "packed_by" in submission.run and packed != value:
            text = f"packed for {key} {clip(packed)}, graded against {clip(value)}"
            notices = with_notice(notices, text)
    if outside := _outside(exam, submission):
        count = f"{len(outside):,} answers are" if len(outside) > 1 else f"{outside[0]} is"
        text = f"{count} to no task of exam {exam.name}: --exam all grades the whole split"
        notices = with_notice(notices, text)
    return notices


def _outside(exam: Exam, submission: Submission) -> list[str]:
    """Answered tasks of the split that the exam leaves out, of the track that is graded."""
    asked = {task.task_id for task in exam.tasks}
    tracks = {task.track for task in exam.tasks}
    return [
        task.task_id
        for task in exam.split.tasks
        if task.task_id in submission.answers
        and task.task_id not in asked
        and (exam.split.track is None or task.track in tracks)
    ]


def _nothing_found(exam: Exam, submission: Submission) -> str:
    if submission.unknown:
        return f"none of the answers is to a task of split {exam.split.name}; is it the right one?"
    source = submission.source
    inside = [entry.name for entry in submissions_in(source)] if source.is_dir() else []
    if inside:
        shown = ", ".join(inside[:4]) + (", …" if len(inside) > 4 else "")
        return f"no answer here, but {shown}: grade one of them, or all with `leaderboard`"
    return f"no answer here; answers are named like {exam.tasks[0].answer_file}"


def _with_exam(exam: Exam, notices: list[str]) -> list[str]:
    """Which version of the truth was used, where there are two, and which tracks lack floors."""
    for text in (*_about_truth(exam), *exam.floors.notices):
        notices = with_notice(notices, text)
    return notices


def _about_truth(exam: Exam) -> Iterator[str]:
    names = exam.differing
    count = f"{len(names or ())} of {len(exam.tasks)} tasks"
    if names is not None and exam.split.truth == CORRECTED:
        listed = ": " + ", ".join(names) if names else ""
        yield f"corrected truth; it differs from the published one for {count}{listed}"
    elif names:
        yield f"published truth; for {count} there is a corrected one: --truth corrected"

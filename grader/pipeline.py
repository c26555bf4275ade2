"""The whole grading run: read, check, verify, score, aggregate, report. No step goes back."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

from grader.answers.check import answers_sha256
from grader.answers.collect import read_submission, submissions_in
from grader.answers.submission import (
    BUDGET,
    NAMED_UNKNOWN,
    Budget,
    Submission,
    SubmissionLimits,
    with_notice,
)
from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.release.exam import Exam, Split
from grader.release.release import WHOLE_SPLIT
from grader.reports.aggregate import aggregate, with_statuses
from grader.reports.build import GradedSubmission, build_report, with_attempts
from grader.reports.redact import redact, with_figure
from grader.scoring.model import CheckedAnswer, Score
from grader.scoring.score import check, score, verify
from grader.scoring.shape import Task
from grader.statistics.bootstrap import percentile_interval

Answers = dict[str, CheckedAnswer]
"""Task id to the checked answer."""


def grade(
    exam: Exam,
    source: Path | Submission,
    *,
    slice_intervals: bool = True,
    tables: bool = True,
    limits: SubmissionLimits | None = None,
) -> GradedSubmission:
    """Grade a submission, or the one at a path (a folder, a packed file, or attempt folders).

    ``limits`` are what one that is read here may cost. Without ``slice_intervals`` the report has
    no intervals of slices, which cost as much as all the rest; without ``tables`` it lacks what
    only the tables of a track show.

    The headline is that of the first attempt, or of all attempts together for shapes that merge
    them; what the others add stands in the report's ``attempts``.
    """
    submission = (
        read_submission(source, exam.split.tasks, limits) if isinstance(source, Path) else source
    )
    # An erratum takes tasks out of the exam, but must not change the hash of the same answers.
    listed = (*exam.tasks, *exam.deprecated)
    checked = check_attempts(listed, submission)
    signed, hosts = sign_attempts(exam, submission.source, checked)
    verified = verify_attempts(exam, signed, submission.budget)
    before, answers = merge_attempts(listed, signed), merge_attempts(exam.tasks, verified)
    scores = score_tasks(exam, answers, submission.budget)
    totals = aggregate(
        scores,
        exam.truths,
        answers,
        submission.usage,
        exam.split.release.tracks,
        exam.floors,
        slice_intervals=slice_intervals,
        tables=tables,
    )
    report = build_report(exam, submission, totals, _remarks(exam, submission))
    if len(verified) > 1:
        grid = [score_tasks(exam, attempt, submission.budget) for attempt in verified]
        tracks = exam.split.release.tracks
        report = with_attempts(report, submission.attempts, grid, exam.truths, verified, tracks)
    if not exam.split.reveal:
        report = _held_back(exam, report, _before_the_truth(scores, before))
    digest = answers_sha256(before)
    return GradedSubmission(exam, submission, scores, totals, report, hosts, digest)


def with_gap(graded: GradedSubmission) -> GradedSubmission:
    """Return ``graded`` with a member ``gap`` and a notice in its report where they can be stated.

    The gap is the skill in the exam of the same name of another split, whose truth is public, minus
    the skill in this exam (docs/upkeep.md says how to read it). It is left out where the report is
    redacted, no other split has such an exam, or one of the two is not answered.
    """
    exam, here, mine = graded.exam, graded.totals.skill, graded.submission
    if not (exam.split.reveal and here and mine.answers):
        return graded
    release, key = exam.split.release, exam.split.transcript_key
    for name in release.splits:
        known = (WHOLE_SPLIT, *release.exams(name))
        if name == exam.split.name or not release.has_public_truth(name) or exam.name not in known:
            continue
        other = Split.open(release, name, exam.name, exam.split.track, transcript_key=key)
        submission = read_submission(mine.source, other.tasks, mine.budget.limits)
        public = grade(other.choose_exam_for(), submission, slice_intervals=False, tables=False)
        there, missing = public.totals.skill, public.report["census"]["missing"]
        if not submission.answers or there is None:
            continue
        draws = [a - b for a, b in zip(there.replicates, here.replicates, strict=False)]
        low, high = percentile_interval(draws)
        more = there.value - here.value
        gap = {"split": name, "missing": missing, "skill": there.value}
        gap |= {"difference": more, "interval": [low, high]}
        text = (
            f"skill on {name}, whose truth is public, minus skill here: {more:+.1f} "
            f"({low:+.1f} to {high:+.1f}; {missing:,} tasks missing there)"
        )
        notices = [text, *graded.report["notices"]]
        return replace(graded, report={**graded.report, "gap": gap, "notices": notices})
    return graded


def _before_the_truth(scores: Sequence[Score], told: Answers) -> Sequence[Score]:
    """Return score rows with the statuses and reasons of ``told``, answers that no truth decided.

    Whether a transcript replays is a fact of the truth, and one whose signature was not checked
    could be made up to ask for it. Rows that are invalid for the budget stay so.
    """
    rows = []
    for row in scores:
        known = told[row.task_id]
        is_same = row.status == known.status or row.reason == BUDGET
        rows.append(row if is_same else replace(row, status=known.status, reason=known.reason))
    return rows


def _held_back(exam: Exam, report: dict[str, Any], rows: Sequence[Score]) -> dict[str, Any]:
    """Return the redacted report with the statuses of ``rows``; the final one has its points."""
    silent = redact(with_statuses(report, rows))
    if not exam.is_final or report["points"] is None:
        return silent
    ends, shows = report["points_interval"], report["detectable"] or 0.0
    return with_figure(silent, round(report["points"], 1), [round(x, 1) for x in ends], shows)


def check_submission(exam: Exam, submission: Submission) -> tuple[Answers, list[str]]:
    """Return the checked answers by task id and notices about them, without reading any truth.

    Of several attempts the first counts, but for shapes that merge them.
    """
    checked = check_attempts(exam.tasks, submission)
    attempts, _ = sign_attempts(exam, submission.source, checked)
    notices = _remarks(exam, submission)
    if len(attempts) > 1 and any(task.shape.merge is None for task in exam.tasks):
        first = submission.attempts[0].source.name
        text = f"of {len(attempts)} attempts, {first} is looked at; the others count in `grade`"
        notices = with_notice(notices, text)
    return merge_attempts(exam.tasks, attempts), notices


def check_attempts(tasks: Sequence[Task], submission: Submission) -> list[Answers]:
    """Return the checked answers of each attempt (or of the one there is) at every task."""
    parts: list[Answers] = []
    for part in submission.attempts or (submission,):
        parts.append({})
        for task in tasks:
            raw = part.answers.get(task.task_id)
            if raw is not None and raw.data is not None and submission.budget.time_limit:
                raw = submission.budget.refused_answer(raw.source)
            parts[-1][task.task_id] = check(task, raw)
    return parts


def verify_attempts(exam: Exam, signed: Sequence[Answers], budget: Budget) -> list[Answers]:
    """Return each attempt's answers, checked against the truth: a transcript must replay."""
    verified: list[Answers] = []
    for checked in signed:
        verified.append({})
        for task in exam.tasks:
            answer = budget.within_time(checked[task.task_id], task.answer_file)
            verified[-1][task.task_id] = verify(task, exam.truths[task.task_id], answer)
    return verified


def sign_attempts(
    exam: Exam, source: Path, attempts: Sequence[Answers]
) -> tuple[Sequence[Answers], frozenset[str]]:
    """Check the signatures of answers by the host's key; without a key nothing is checked.

    Return the attempts after it, and the names of the submissions whose sessions they record. A
    session that an earlier attempt holds too is invalid. Raises ``UsageError`` where the sessions
    of one attempt are of several submissions.
    """
    key = exam.split.transcript_key
    if key is None:
        return attempts, frozenset()
    found, hosts = [dict(checked) for checked in attempts], set[str]()
    for place, signed in enumerate(found):
        known = set[str]()
        for task in (*exam.tasks, *exam.deprecated):
            if (sign := task.shape.sign) is not None:
                answer, names = sign(signed[task.task_id], task.answer_file, key)
                earlier = [attempt[task.task_id].answer for attempt in found[:place]]
                if names and answer.answer in earlier:
                    why = f"{task.answer_file}: the session of an earlier attempt; hold a new one"
                    answer = CheckedAnswer("invalid", reason="signature", message=why)
                signed[task.task_id] = answer
                known |= names
        if len(known) > 1:
            named = ", ".join(clip(name) for name in sorted(known)[:4])
            why = f"holds signed sessions of {len(known)} submissions ({named})"
            raise UsageError(f"{source}: {why}; keep only those of this submission")
        hosts |= known
    return found, frozenset(hosts)


def merge_attempts(tasks: Sequence[Task], attempts: Sequence[Answers]) -> Answers:
    """Return one answer a task: the first attempt's, or all joined where the shape merges them."""
    if len(attempts) == 1:
        return attempts[0]
    merged = {}
    for task in tasks:
        answers, merge = [checked[task.task_id] for checked in attempts], task.shape.merge
        merged[task.task_id] = answers[0] if merge is None else merge(answers)
    return merged


def score_tasks(exam: Exam, checked: Answers, budget: Budget) -> list[Score]:
    """Return one score row for each task of the exam, in its order.

    What comes after the budget was used up is invalid from here on, in ``checked`` too.
    """
    scores = []
    for task in exam.tasks:
        bundle, arm = exam.arms.get(task.task_id, ("", ""))
        alpha, truth = task.inputs.get("alpha"), exam.truths[task.task_id]
        answer = budget.within_time(checked[task.task_id], task.answer_file)
        checked[task.task_id] = answer
        coverage = 1 - alpha if isinstance(alpha, float) else None
        floor = exam.floors.of_variant(task.track, task.spec.key)
        row = score(task, truth, answer)
        scores.append(replace(row, nominal_coverage=coverage, bundle=bundle, arm=arm, floor=floor))
    return scores


def _remarks(exam: Exam, submission: Submission) -> list[str]:
    """Return the notices of reading, and those about the submission and the exam as a whole."""
    notices = list(submission.notices)
    if not submission.answers:
        notices.insert(0, _nothing_found(exam, submission))
    split, run = exam.split, submission.run
    meant = {"release": split.release.name, "split": split.name, "exam": exam.name}
    more = [
        f"was packed for {key} {clip(run.get(key))}, but is graded against {clip(value)}"
        for key, value in meant.items()
        if "packed_by" in run and run.get(key) != value
    ]
    hashes = run.get("hashes")
    sat = hashes.get("release") if isinstance(hashes, dict) else None
    if sat is not None and sat != split.release.content_hashes(split.name):
        more.append(f"the run sat another build of {split.release.name}: the hashes differ")
    if isinstance(partial := run.get("partial"), str):
        more.append(f"a partial run: {clip(partial, 200)}")
    if submission.unknown > NAMED_UNKNOWN:
        count = f"{submission.unknown:,} answers are"
        more.append(f"{count} to no task of split {split.name}; ignored")
    asked = {task.task_id for task in exam.tasks}
    asked |= split.release.deprecated_tasks(split.name).keys()
    outside = [
        task.task_id
        for task in split.tasks
        if split.track in (None, task.track)
        and task.task_id in submission.answers
        and task.task_id not in asked
    ]
    if outside and not exam.is_final:  # the final exam is half of one
        count = f"{len(outside):,} answers are" if len(outside) > 1 else f"{outside[0]} is"
        more.append(f"{count} to no task of exam {exam.name}: --exam all grades the whole split")
    if gone := len(exam.deprecated):
        tasks = "task of the exam counts" if gone == 1 else "tasks of the exam count"
        more.append(f"{gone} deprecated {tasks} no more (ERRATA.md)")
    return reduce(with_notice, [*more, *exam.floors.notices], notices)


def _nothing_found(exam: Exam, submission: Submission) -> str:
    """Return the notice for a submission without answers to the split: what to do instead."""
    if submission.unknown:
        return f"none of the answers is to a task of split {exam.split.name}; is it the right one?"
    source = submission.source
    inside = [entry.name for entry in submissions_in(source)] if source.is_dir() else []
    if inside:
        shown = ", ".join(inside[:4]) + (", …" if len(inside) > 4 else "")
        return f"no answer here, but {shown}: grade one of them, or all with `leaderboard`"
    return f"no answer here; answers are named like {exam.tasks[0].answer_file}"

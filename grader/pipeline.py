"""The whole grading run as one function: load, collect, check, score, aggregate, report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.io.release import CORRECTED, PUBLISHED, Release, select_exam
from grader.model import Checked, Score, Truth
from grader.names import did_you_mean
from grader.report.build import build_report
from grader.report.redact import redact
from grader.report.summaries import summaries
from grader.score import score, verify
from grader.shape import Task
from grader.statistics.repeats import add_attempts
from grader.submission.attempts import Attempt, attempt_folders, join, merge, run_of
from grader.submission.check import check
from grader.submission.collect import collect
from grader.submission.found import Found
from grader.tracks import TRACKS
from grader.tracks.causalds.matched import Arms, arms


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tasks of a release are meant."""

    release: Release
    split: str
    exam: str
    tasks: list[Task]


@dataclass(frozen=True, slots=True)
class Graded:
    """One submission, graded."""

    selection: Selection
    found: Found
    checked: dict[str, Checked]
    scores: list[Score]
    report: dict[str, Any]


class Session:
    """One split of one release, read once, to grade any number of submissions against.

    Its tasks come without their prompts, which grading does not need
    (:meth:`grader.io.release.Release.with_prompts` adds them).
    """

    def __init__(
        self,
        release: Release,
        split: str | None = None,
        exam: str | None = None,
        track: str | None = None,
        *,
        reveal: bool = False,
        truth: str = PUBLISHED,
        transcript_key: bytes | None = None,
    ) -> None:
        self.release = release
        self.transcript_key = transcript_key
        self.split = release.choose_split(split)
        self.exam = exam
        self.reveal = reveal or release.has_public_truth(self.split)
        self.all_tasks = release.tasks(self.split, prompts=False)
        self.track = self._check_track(track)
        self._exams = release.exams(self.split)
        self._truths: dict[str, Truth] = {}
        self._stated: Mapping[str, Arms] | None = None
        self.truth = truth
        self._corrections: Mapping[str, Mapping[str, Any]] | None = None
        if release.has_public_truth(self.split):
            self._corrections = release.corrections(self.split)
        if truth == CORRECTED and self._corrections is None:
            raise UsageError(
                f"--truth {truth}: the truths of split {self.split} are in one version only; leave "
                "the option out (imported releases have a corrected version)"
            )

    def _check_track(self, track: str | None) -> str | None:
        known = {task.track for task in self.all_tasks}
        if track is not None and track not in known:
            raise UsageError(
                f"--track {track}: not in split {self.split}{did_you_mean(track, known)}"
            )
        return track

    def select(self, answered: frozenset[str] = frozenset()) -> Selection:
        """The tasks meant by ``--exam`` and ``--track``; see :func:`select_exam`."""
        name, tasks = select_exam(self._exams, self.all_tasks, self.exam, answered)
        if self.track is not None:
            tasks = [task for task in tasks if task.track == self.track]
        if not tasks:
            raise UsageError(f"exam {name} has no task in track {self.track}; choose another")
        return Selection(self.release, self.split, name, tasks)

    def find(self, source: Path) -> tuple[Selection, Found, dict[str, Checked]]:
        """Collect and check the answers of ``source``, without looking at any truth."""
        selection, found, attempts = self._find(source)
        if len(attempts) > 1 and any(task.shape.merge is None for task in selection.tasks):
            found.notice(
                f"of {len(attempts)} attempts, {attempts[0].label} is looked at; the others count "
                "in `grade` (ccr: all of them everywhere)"
            )
        return selection, found, _merged(selection.tasks, attempts)

    def _find(self, source: Path) -> tuple[Selection, Found, list[Attempt]]:
        """The attempts in ``source``: one, or those of its attempt folders that hold answers."""
        folders = attempt_folders(source, {task.track for task in self.all_tasks})
        parts = [collect(folder, self.all_tasks) for folder in folders or [source]]
        found = join(source, parts, run_of(source)) if folders else parts[0]
        selection = self.select(frozenset(found.answers))
        _remark(selection, found)
        kept = [part for part in parts if part.answers] or parts[:1]
        attempts = [
            Attempt(
                part.source.name,
                part,
                {
                    task.task_id: check(task, part.answers.get(task.task_id))
                    for task in selection.tasks
                },
            )
            for part in kept
        ]
        for attempt in attempts:
            self._require_signatures(selection, attempt.checked, found)
        return selection, found, attempts

    def _require_signatures(
        self, selection: Selection, checked: dict[str, Checked], found: Found
    ) -> None:
        """Refuse transcripts that the host's key did not sign, where a key was given."""
        if self.transcript_key is None:
            return
        hosted: set[str] = set()
        for task in selection.tasks:
            if (sign := TRACKS[task.track].sign) is not None:
                answer = checked[task.task_id]
                checked[task.task_id], names = sign(answer, task.answer_file, self.transcript_key)
                hosted |= names
        if len(hosted) > 1:
            named = ", ".join(clip(name) for name in sorted(hosted)[:4])
            found.notice(f"signed transcripts of {len(hosted)} submissions: {named}")

    def settle_exam(self, *sources: Path) -> None:
        """Choose one exam for several submissions: the one that holds what any of them answered.

        Raises ``UsageError`` where none or several do.
        """
        answered: set[str] = set()
        for source in sources if self.exam is None else ():
            for part in attempt_folders(source, ()) or [source]:
                answered |= collect(part, self.all_tasks).answers.keys()
        self.exam = self.select(frozenset(answered)).exam

    def grade(self, source: Path) -> Graded:
        """Grade the submission at ``source`` (a folder, a packed file, or attempt folders).

        The headline is that of the first attempt, ccr's of all attempts together; what the others
        add stands in the report's ``attempts``.
        """
        selection, found, attempts = self._find(source)
        truths = self.truths(selection.tasks)
        attempts = [self._verified(selection.tasks, attempt) for attempt in attempts]
        checked = _merged(selection.tasks, attempts)
        bundles = arms(selection.tasks, self._bundles(selection.exam))
        scores = self._scores(selection.tasks, checked, bundles)
        own = summaries(scores, truths, checked)
        differing = self._differing(selection, found)
        report = build_report(selection, found, scores, own)
        if differing is not None:
            report["truth"] = {"version": self.truth, "differing": differing}
        if len(attempts) > 1:
            grid = [self._scores(selection.tasks, part.checked, bundles) for part in attempts]
            add_attempts(report, attempts, grid, truths)
        if not self.reveal:
            report = redact(report)
        return Graded(selection, found, checked, scores, report)

    def _verified(self, tasks: Sequence[Task], attempt: Attempt) -> Attempt:
        """An attempt with the statuses that count, which only the truth can tell."""
        truths = self.truths(tasks)
        checked = attempt.checked
        verified = {
            task.task_id: verify(task, truths[task.task_id], checked[task.task_id])
            for task in tasks
        }
        return replace(attempt, checked=verified)

    def _scores(
        self, tasks: Sequence[Task], checked: Mapping[str, Checked], bundles: Arms
    ) -> list[Score]:
        truths = self.truths(tasks)
        scores = []
        for task in tasks:
            bundle, arm = bundles.get(task.task_id, ("", ""))
            alpha = task.inputs.get("alpha")
            nominal = 1 - alpha if isinstance(alpha, float) else None
            row = score(task, truths[task.task_id], checked[task.task_id])
            if bundle or nominal is not None:
                row = replace(row, nominal=nominal, bundle=bundle, arm=arm)
            scores.append(row)
        return scores

    def _bundles(self, exam: str) -> Arms:
        """What the exam says of bundles; asked of the release once."""
        if self._stated is None:
            self._stated = self.release.exam_bundles(self.split)
        return self._stated.get(exam, {})

    def refuse_private_details(self, what: str) -> None:
        """Per-task results of a private-truth split are for whoever says ``--reveal``."""
        if not self.reveal:
            raise UsageError(
                f"--split {self.split}: its truth is private and {what}; "
                "add --reveal if nobody else will see it"
            )

    def truths(self, tasks: Sequence[Task]) -> dict[str, Truth]:
        """The truth of each task, read once a session."""
        if any(task.task_id not in self._truths for task in tasks):
            read = self.release.truths(self.split, tasks)
            if self.truth == CORRECTED:
                for task_id in read.keys() & (self._corrections or {}).keys():
                    read[task_id] = replace(read[task_id], **(self._corrections or {})[task_id])
            self._truths.update(read)
        return self._truths

    def _differing(self, selection: Selection, found: Found) -> list[str] | None:
        """The tasks whose published and corrected truths differ, which the submitter is told.

        ``None`` for a release whose truths are in one version only.
        """
        if self._corrections is None:
            return None
        names = [task.task_id for task in selection.tasks if task.task_id in self._corrections]
        count = f"{len(names)} of {len(selection.tasks)} tasks"
        if self.truth == CORRECTED:
            listed = ": " + ", ".join(names) if names else ""
            found.notice(f"corrected truth; it differs from the published one for {count}{listed}")
        elif names:
            found.notice(
                f"published truth; for {count} there is a corrected one: --truth corrected"
            )
        return names


def _attempt(part: Found, tasks: Sequence[Task]) -> Attempt:
    checked = {task.task_id: check(task, part.answers.get(task.task_id)) for task in tasks}
    return Attempt(part.source.name, part, checked)


def _merged(tasks: Sequence[Task], attempts: Sequence[Attempt]) -> dict[str, Checked]:
    return {
        task.task_id: merge(task, [part.checked[task.task_id] for part in attempts])
        for task in tasks
    }


def _nothing_found(selection: Selection, found: Found) -> str:
    if found.unknown:
        return f"none of the answers is to a task of split {selection.split}; is it the right one?"
    inside = []
    if found.source.is_dir():
        inside = [
            entry.name
            for entry in sorted(found.source.iterdir())
            if not entry.is_symlink()
            and (entry.suffix == ".parquet" or entry.is_dir())
            and not entry.name.startswith(".")
        ]
    if inside:
        shown = ", ".join(inside[:4]) + (", …" if len(inside) > 4 else "")
        return f"no answer here, but {shown}: grade one of them, or all with `leaderboard`"
    return f"no answer here; answers are named like {selection.tasks[0].answer_file}"


def _remark(selection: Selection, found: Found) -> None:
    """Tell a submitter whose answers seem meant for another exam."""
    if not found.answers:
        found.notices.insert(0, _nothing_found(selection, found))
    meant = {
        "release": selection.release.name,
        "split": selection.split,
        "exam": selection.exam,
    }
    for key, value in meant.items():
        packed = found.run.get(key)
        if "packed_by" in found.run and packed != value:
            found.notice(f"packed for {key} {clip(packed)}, graded against {clip(value)}")

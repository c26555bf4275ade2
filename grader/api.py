"""Grading from Python: :func:`grade`, what it returns, and a release to look at.

Everything here raises :class:`grader.errors.UsageError`, whose text is one line, for input that
cannot be used; what is wrong with single answers stands in the report.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.answers.collect import read_submission
from grader.answers.submission import Submission
from grader.errors import UsageError
from grader.io.jsonio import canonical_json
from grader.opening import open_release
from grader.pipeline import grade as grade_exam
from grader.pipeline import with_gap
from grader.release.exam import Exam, Split
from grader.release.release import find_task
from grader.release.scenes import TABLES, read_scenes
from grader.reports.build import GradedSubmission
from grader.reports.ledger import show_all, with_held_back
from grader.reports.table import on_points_scale, truth_json
from grader.scoring.model import RawAnswer
from grader.scoring.shape import Task

Answers = str | Path | Mapping[str, Any]
"""A folder of answers, a packed file, or answers by task id: objects, or the text of their
files."""


class Release:
    """One split of a release on disk, to look at and to hand to :func:`grade`.

    ``path`` is the release's folder or its public side (default: ``$CAUSAL_EXAMS_RELEASE``, then
    ``./release``), ``private`` the private side of a private split, ``split`` its name where there
    are several."""

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        private: str | Path | None = None,
        split: str | None = None,
    ) -> None:
        sides = [None if side is None else Path(side) for side in (path, private)]
        self._opened = open_release(*sides)
        self.split = self._opened.choose_split(split)

    @property
    def name(self) -> str:
        """Name and version, such as ``mini 0.1.0``."""
        return self._opened.name

    @cached_property
    def exams(self) -> dict[str, list[str]]:
        """Exam name to the ids of its tasks, in order."""
        return self._opened.exams(self.split)

    def task(self, task_id: str) -> dict[str, Any]:
        """Return one task as the public side states it.

        Members: ``task_id``, ``track``, ``family``, ``variant``, ``rung``, ``view``,
        ``input_mode``, ``prompt``, ``answer_file``, ``answer_schema`` (a name) and ``inputs``.
        """
        listed = [find_task(self._tasks, task_id, self.name)]
        (task,) = self._opened.with_prompts(self.split, listed)
        more = {"answer_schema": task.answer_schema, "inputs": dict(task.inputs)}
        return {**task.members(), **more}

    def table(self, task_id: str, name: str = "data") -> dict[str, list[Any]]:
        """Return a table that a data task ships: column name -> values, for ``pandas.DataFrame``.

        ``name`` is ``data``, ``test_features`` or ``calibration``; where the task ships none of
        that name the result is empty. Raises ``UsageError`` for any other name.
        """
        if name not in TABLES:
            raise UsageError(f"{name}: no such table; use one of {', '.join(TABLES)}")
        task = find_task(self._tasks, task_id, self.name)
        found = read_scenes(self._opened, self.split, [task.instance_id])
        scene = found.get((task.instance_id, task.view))
        table = scene.tables_of(task).get(name, ()) if scene is not None else ()
        return {column: list(values) for column, values in table}

    @cached_property
    def _tasks(self) -> list[Task]:
        return self._opened.tasks(self.split, prompts=False)


class Report:
    """The report of a submission; ``data`` is the whole of ``report.json``."""

    def __init__(self, data: Mapping[str, Any], tasks: list[dict[str, Any]]) -> None:
        self.data: dict[str, Any] = dict(data)
        self.tasks = tasks
        """One flat row a task with the columns of ``--csv`` and ``--parquet``; none where single
        scores may not be seen. The headline is no mean over them, but over tracks."""
        self.skill: float | None = data["skill"]
        """Skill over all tracks: 100 is gold, 0 the best constant answers, on a twin.

        ``None`` where only some tracks were attempted, the exam has no floors, or a redacted
        report may show no figure."""
        self.points: float | None = data["points"]
        """Points over all tracks, 0 to 100; ``None`` where only some tracks were attempted, or a
        redacted report may show no figure."""
        self.tracks: dict[str, Any] = data["tracks"]
        """Each track's part of ``report.json`` by the track's name."""

    def __repr__(self) -> str:
        return f"Report(skill={self.skill}, points={self.points}, tasks={len(self.tasks)})"


def grade(
    answers: Answers,
    release: "Release | str | Path | None" = None,
    *,
    exam: str | None = None,
    track: str | None = None,
    reveal: bool = False,
    ledger: str | Path | None = None,
) -> Report:
    """Grade answers as ``python -m grader`` does, and return the report.

    ``exam`` is by default the only one that holds every answered task; ``"all"`` is the whole
    split. ``track`` grades that track alone. ``reveal`` puts the truth beside each task. Without it
    the report of a private split is redacted, as the command's is: its ``tasks`` are empty, and
    ``ledger`` (a file, by default beside the private side) records which figure was shown.
    """
    opened = release if isinstance(release, Release) else Release(release)
    split = Split.open(opened._opened, opened.split, exam, track, reveal=reveal)
    if isinstance(answers, Mapping):
        submission = _submission(answers, split)
    else:
        submission = read_submission(Path(answers), split.tasks)
    chosen = split.choose_exam_for(frozenset(submission.answers))
    graded = grade_exam(chosen, submission)
    if submission.unknown and not isinstance(answers, Mapping):
        graded = with_gap(graded)
    report = graded.report
    if chosen.keeps_ledger:
        place = None if ledger is None else Path(ledger)
        (report,) = show_all(place, chosen, [(submission.source, with_held_back(graded))])
    return Report(report, _rows(chosen, graded, reveal) if split.reveal else [])


def _submission(answers: Mapping[str, Any], split: Split) -> Submission:
    """Return answers by task id as a submission; objects become JSON, text and bytes stay."""
    found = Submission(Path("answers"))
    known = {task.task_id for task in split.tasks}
    for task_id, answer in answers.items():
        if task_id not in known:
            found.note_unknown("answers", str(task_id))
            continue
        text = answer if isinstance(answer, str | bytes) else canonical_json(answer)
        data = text.encode("utf-8") if isinstance(text, str) else text
        found.add(task_id, RawAnswer(f"answers[{task_id!r}]", data))
    return found


def _rows(exam: Exam, graded: GradedSubmission, reveal: bool) -> list[dict[str, Any]]:
    """Return the score rows as ``--csv`` and ``--parquet`` write them, as dictionaries."""
    scores = sorted(graded.scores, key=lambda score: score.task_id)
    rows = [asdict(on_points_scale(score)) for score in scores]
    if reveal:
        for row in rows:
            row["truth_json"] = truth_json(exam.truths[row["task_id"]])
    return rows

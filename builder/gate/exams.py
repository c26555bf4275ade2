"""The rules of every exam as a whole: no task's prompt answers another task; a label that is asked
for often is not always the same; a composed exam is what was requested of it; right answers to it
are worth 100 points through the whole grader, and none 0."""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any, Final

from builder.gate.part_check import EMPTY, GOLD, Findings, lost_points
from builder.gate.report import GateLine, line_of
from builder.splits.track import VARIED_FROM, Composition, Track
from grader.io.jsonio import canonical_json
from grader.opening import open_release
from grader.pipeline import grade
from grader.release.exam import choose_exam
from grader.release.release import ReleaseFolder
from grader.scoring.model import RawAnswer, Truth
from grader.scoring.score import score_answer
from grader.scoring.shape import Task

TOLERANCE: Final = 0.05
"""The share of a composed exam's tasks that may be of another level than requested, on any axis and
rounding apart."""
AXES: Final[Mapping[str, Callable[[Task], str]]] = {
    "family": lambda task: task.family,
    "rung": lambda task: str(task.rung),
    "variant": lambda task: task.spec.key,
    "view": lambda task: task.view,
}
"""The axes of a composition that a task row shows: these are counted again."""

Tracks = Mapping[str, Track]


@dataclass(frozen=True, slots=True)
class HeldExam:
    """One exam of a split, as it stands in the files.

    ``compositions`` maps each track that composed the exam to what was requested and realised.
    ``matched`` says that it is a matched ablation, which repeats questions by design.
    """

    name: str
    tasks: Sequence[Task]
    compositions: Mapping[str, Composition]
    matched: bool


def exam_lines(opened: ReleaseFolder, tracks: Tracks, split: str) -> Iterator[GateLine]:
    """Yield the lines on the exams of a split: no prompt answers another task, no label is always
    the same, composed exams are as requested."""
    exams = _exams(opened, split)
    asked = {t.task_id: t for exam in exams for t in exam.tasks if t.shape.suffix != ".csv"}
    truths = opened.truths(split, list(asked.values())) if asked else {}
    handed_in = [
        problem
        for exam in exams
        for problem in borrowed_answers(_with_prompts(opened, tracks, split, exam), tracks, truths)
    ]
    yield line_of(
        f"{split}: no prompt answers another task",
        filter(None, handed_in),
        f"{len(exams)} exams, {len(handed_in)} printed answers tried on other tasks",
    )
    # Private answers are drawn by themselves: a report or refusal for what chance gave tells it.
    if opened.has_public_truth(split):
        yield constant_labels(split, exams, truths)
    yield as_requested(split, exams)


def _exams(opened: ReleaseFolder, split: str) -> list[HeldExam]:
    """Return every exam of a split as it stands in the files, with the tasks but not their prompts.
    The compositions come from the manifest of the side that holds the truths."""
    listed = opened.exams(split)
    members = {name for names in listed.values() for name in names}
    tasks = {task.task_id: task for task in opened.tasks(split, prompts=False, only=members)}
    bundles = opened.exam_bundles(split)
    manifest = opened.truth_side(split).manifest
    compositions: dict[str, dict[str, dict[str, Any]]] = {
        name: defaultdict(dict) for name in listed
    }
    for track, entry in manifest["splits"][split]["tracks"].items():
        for key, levels in entry.get("composition", {}).items():
            name, _, axis = key.partition(": ")
            if axis and name in compositions:
                compositions[name][track][axis] = levels
    return [
        HeldExam(name, [tasks[i] for i in ids], compositions[name], name in bundles)
        for name, ids in listed.items()
    ]


def _with_prompts(opened: ReleaseFolder, tracks: Tracks, split: str, exam: HeldExam) -> HeldExam:
    """Return the exam with only those tasks whose prompt may answer another, prompts included: they
    share their instance with another task, and their track says what prompts print."""
    asked = Counter(task.instance_id for task in exam.tasks)
    together = [
        task
        for task in exam.tasks
        if tracks[task.track].lends is not None and asked[task.instance_id] > 1
    ]
    return replace(exam, tasks=opened.with_prompts(split, together) if together else ())


def borrowed_answers(
    exam: HeldExam, tracks: Tracks, truths: Mapping[str, Truth]
) -> Iterator[str | None]:
    """Grade every answer that a prompt prints as an answer to each other task about its instance.
    Yield one value for each: the problem if the answer is right, else None."""
    members: dict[tuple[str, str], list[Task]] = defaultdict(list)
    for task in exam.tasks:
        members[task.track, task.instance_id].append(task)
    for (track, _), siblings in sorted(members.items()):
        lends = tracks[track].lends
        for shown, asked in permutations(siblings, 2):
            for text in lends(shown, asked) if lends is not None else ():
                raw = RawAnswer(asked.answer_file, text.encode("utf-8"))
                right = score_answer(asked, truths[asked.task_id], raw).points >= 1
                yield (
                    f"exam {exam.name}: the prompt of {shown.task_id} ({shown.spec.key}) answers "
                    f"{asked.task_id} ({asked.spec.key})"
                    if right
                    else None
                )


def constant_labels(split: str, exams: Sequence[HeldExam], truths: Mapping[str, Truth]) -> GateLine:
    """Return the line on variants with labels whose tasks in an exam all have the same answer.

    This is a problem where the track composed the exam, elsewhere it only enters the figure.
    Matched ablations and variants with fewer than ``VARIED_FROM`` instances are not checked.
    """
    problems, told, checked = list[str](), list[str](), 0
    for exam in exams:
        asked: dict[tuple[str, str], list[Task]] = defaultdict(list)
        for task in exam.tasks:
            if task.shape.pool == "pass" and not exam.matched:
                asked[task.track, task.spec.key].append(task)
        for (track, key), tasks in sorted(asked.items()):
            if len({task.instance_id for task in tasks}) < VARIED_FROM:
                continue
            checked += 1
            answers = (truths[task.task_id] for task in tasks)
            told_apart = ([one.should_abstain, one.value, dict(one.target)] for one in answers)
            if len(set(map(canonical_json, told_apart))) == 1:
                line = f"exam {exam.name}: {len(tasks)} tasks of {track} {key} have one answer"
                (problems if track in exam.compositions else told).append(line)
    figure = f"{checked} variants in exams that ask {VARIED_FROM} instances or more"
    if told:
        figure += f"; of exams that were not composed: {'; '.join(told)}"
    return line_of(f"{split}: no label is always the same", problems, figure)


def as_requested(split: str, exams: Sequence[HeldExam]) -> GateLine:
    """Return the line that holds composed exams, counted again, against what was requested: a
    problem when more than ``TOLERANCE`` of a track's tasks are elsewhere on an axis."""
    problems, shares = list[str](), list[float]()
    for exam in exams:
        for track, axes in exam.compositions.items():
            for axis in axes.keys() & AXES.keys() if not exam.matched else ():
                counts = Counter(AXES[axis](task) for task in exam.tasks if task.track == track)
                requested = {level: row["requested"] for level, row in axes[axis].items()}
                shares.append(share_elsewhere(requested, counts))
                if shares[-1] > TOLERANCE:
                    problems.append(
                        f"exam {exam.name}: {shares[-1]:.0%} of the tasks of {track} are of "
                        f"another {axis} than requested; lower the weights of what these "
                        "scenes cannot be asked, or add scenes"
                    )
    figure = (
        f"{len(shares)} axes; at most {max(shares, default=0.0):.1%} of an exam's tasks are not "
        f"as requested ({TOLERANCE:.0%} may be, beside rounding to whole tasks)"
    )
    return line_of(f"{split}: exams as requested", problems, figure)


def share_elsewhere(requested: Mapping[str, float], realised: Mapping[str, float]) -> float:
    """Return the share (0 to 1) of realised tasks that are of another level than requested.

    Both arguments map a level to a number of tasks. Requested numbers are fractions, so one task of
    each level's difference counts as rounding.
    """
    levels = {*requested, *realised}
    off = (abs(requested.get(level, 0.0) - realised.get(level, 0.0)) for level in levels)
    total = sum(realised.values())
    return sum(max(0.0, one - 1.0) for one in off) / 2 / total if total else 0.0


def points_of_exam(job: tuple[Path, str, str, Path]) -> tuple[str, str, Findings]:
    """Grade right answers to all tasks of an exam, and then none, through the whole grader. Return
    split, exam and problems: right answers that lost points, and points that empty ones earned.

    ``job`` holds release, split, exam and a folder for the answers, which its owner removes, as a
    worker may be killed. Runs in a worker, which opens the release itself.
    """
    release, split, name, scratch = job
    opened = open_release(release)
    exam = choose_exam(opened, split, name, reveal=True, whole=False)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        # Nobody sees intervals of slices, which cost as much as all the rest.
        empty = grade(exam, Path(folder), slice_intervals=False, tables=False).report["points"]
        for task in exam.tasks:
            text = task.shape.gold(task, exam.truths[task.task_id])
            (Path(folder) / task.answer_file).write_text(text, encoding="utf-8")
        gold = grade(exam, Path(folder), slice_intervals=False)
    found, whole = Findings(), gold.report["points"]
    lost = [f"{row.task_id}: {problem}" for row in gold.scores if (problem := lost_points(row))]
    found.problems[GOLD] += lost + ([f"exam {name}: {whole} points"] if whole != 100.0 else [])
    found.problems[EMPTY] += [f"exam {name}: {empty} points"] if empty else []
    return split, name, found

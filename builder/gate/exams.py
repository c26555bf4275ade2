"""What every exam must keep as a whole, whichever tasks it holds.

No task's prompt answers another task; a label that is asked for often is not always the same; a
composed exam is what was requested of it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Final

from builder.release.exams import TOLERANCE, moved
from builder.splits.track import VARIED_FROM, Composition, Track
from grader.io.jsonio import canonical
from grader.release.release import Release
from grader.scoring.model import RawAnswer, Truth
from grader.scoring.score import score_answer
from grader.scoring.shape import Task

AXES: Final[Mapping[str, Callable[[Task], str]]] = {
    "family": lambda task: task.family,
    "rung": lambda task: str(task.rung),
    "variant": lambda task: task.spec.key,
    "view": lambda task: task.view,
}
"""The axes of a composition that a task row shows: these are counted again."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found in a split: its problems, and the figure that goes with none."""

    check: str
    problems: tuple[str, ...]
    figure: str


@dataclass(frozen=True, slots=True)
class HeldExam:
    """One exam of a split, as it stands in the files.

    ``compositions`` are those of its tracks that composed it, by track and axis; ``matched``: it
    repeats questions by design, in arms that are compared.
    """

    name: str
    tasks: Sequence[Task]
    compositions: Mapping[str, Composition]
    matched: bool


def exam_findings(
    opened: Release, tracks: Mapping[str, Track], split: str, manifest: Mapping[str, Any]
) -> list[Finding]:
    """The findings of all checks; ``manifest`` is that of the side which holds the truths."""
    exams = _exams(opened, split, manifest)
    wanted = {t.task_id: t for exam in exams for t in exam.tasks if t.shape.suffix != ".csv"}
    truths = opened.truths(split, list(wanted.values())) if wanted else {}
    return [
        _borrowed(
            split, tracks, [_with_prompts(opened, tracks, split, exam) for exam in exams], truths
        ),
        _varied(split, exams, truths),
        _as_requested(split, exams),
    ]


def _exams(opened: Release, split: str, manifest: Mapping[str, Any]) -> list[HeldExam]:
    listed = opened.exams(split)
    wanted = {name for members in listed.values() for name in members}
    tasks = {task.task_id: task for task in opened.tasks(split, prompts=False, only=wanted)}
    bundles = opened.exam_bundles(split)
    told = manifest.get("splits", {}).get(split, {}).get("tracks", {})
    found = []
    for name, ids in listed.items():
        compositions = {
            track: {
                axis.removeprefix(f"{name}: "): levels
                for axis, levels in entry.get("composition", {}).items()
                if axis.startswith(f"{name}: ")
            }
            for track, entry in told.items()
        }
        compositions = {track: axes for track, axes in compositions.items() if axes}
        found.append(HeldExam(name, [tasks[i] for i in ids], compositions, name in bundles))
    return found


def _with_prompts(
    opened: Release, tracks: Mapping[str, Track], split: str, exam: HeldExam
) -> HeldExam:
    """The exam as far as prompts may answer other tasks: those that do not ask alone about their
    instance, prompts included."""
    asked = Counter(task.instance_id for task in exam.tasks)
    together = [
        task
        for task in exam.tasks
        if tracks[task.track].lends is not None and asked[task.instance_id] > 1
    ]
    return replace(exam, tasks=opened.with_prompts(split, together) if together else ())


def _borrowed(
    split: str,
    tracks: Mapping[str, Track],
    exams: Sequence[HeldExam],
    truths: Mapping[str, Truth],
) -> Finding:
    """Answers that prompts print, handed in for the other tasks about the same instance."""
    lent, problems = 0, list[str]()
    for exam in exams:
        for shown, asked, text in _printed(tracks, exam):
            lent += 1
            truth, raw = truths[asked.task_id], RawAnswer(asked.answer_file, text.encode("utf-8"))
            if score_answer(asked, truth, raw).points >= 1:
                problems.append(
                    f"exam {exam.name}: the prompt of {shown.task_id} ({shown.spec.key}) answers "
                    f"{asked.task_id} ({asked.spec.key})"
                )
    figure = f"{len(exams)} exams, {lent} printed answers handed in for other tasks"
    return Finding(f"{split}: no prompt answers another task", tuple(problems), figure)


def _printed(tracks: Mapping[str, Track], exam: HeldExam) -> Iterator[tuple[Task, Task, str]]:
    """The task whose prompt prints an answer, the task that it may answer, and the answer."""
    members: dict[tuple[str, str], list[Task]] = defaultdict(list)
    for task in exam.tasks:
        members[task.track, task.instance_id].append(task)
    for (track, _), siblings in sorted(members.items()):
        lends = tracks[track].lends
        if lends is not None:
            for shown, asked in permutations(siblings, 2):
                yield from ((shown, asked, text) for text in lends(shown, asked))


def _varied(split: str, exams: Sequence[HeldExam], truths: Mapping[str, Truth]) -> Finding:
    """Constant labels: a problem of an exam that its track composed. Who takes all tasks of a
    split gets what there is, and is only told."""
    problems, told, checked = list[str](), list[str](), 0
    for exam in exams:
        if exam.matched:
            continue
        for (track, key), tasks in sorted(_labelled(exam).items()):
            checked += 1
            answers = {_answer(truths[task.task_id]) for task in tasks}
            if len(answers) == 1:
                line = f"exam {exam.name}: {len(tasks)} tasks of {track} {key} have one answer"
                (problems if track in exam.compositions else told).append(line)
    figure = f"{checked} variants in exams that ask {VARIED_FROM} instances or more"
    if told:
        figure += f"; of exams that were not composed: {'; '.join(told)}"
    return Finding(f"{split}: no label is always the same", tuple(problems), figure)


def _labelled(exam: HeldExam) -> dict[tuple[str, str], list[Task]]:
    """The tasks of every variant that asks enough instances for a label."""
    found: dict[tuple[str, str], list[Task]] = defaultdict(list)
    for task in exam.tasks:
        if task.shape.pool == "pass":
            found[task.track, task.spec.key].append(task)
    return {
        variant: tasks
        for variant, tasks in found.items()
        if len({task.instance_id for task in tasks}) >= VARIED_FROM
    }


def _answer(truth: Truth) -> str:
    return canonical([truth.should_abstain, truth.value, dict(truth.target)])


def _as_requested(split: str, exams: Sequence[HeldExam]) -> Finding:
    """Composed exams, counted again, beside what was requested."""
    problems, most, counted = list[str](), 0.0, 0
    for exam in exams:
        for track, axes in exam.compositions.items():
            tasks = [task for task in exam.tasks if task.track == track]
            for axis, levels in axes.items():
                if exam.matched or axis not in AXES:
                    continue
                counted += 1
                there = Counter(AXES[axis](task) for task in tasks)
                requested = {level: row["requested"] for level, row in levels.items()}
                share = moved(requested, there)
                most = max(most, share)
                if share > TOLERANCE:
                    problems.append(
                        f"exam {exam.name}: {share:.0%} of the tasks of {track} are of another "
                        f"{axis} than requested; weigh down in its file what these scenes cannot "
                        "be asked, or add scenes"
                    )
    figure = (
        f"{counted} axes; at most {most:.1%} of an exam's tasks are elsewhere than requested, "
        f"{TOLERANCE:.0%} may be, rounding to whole tasks apart"
    )
    return Finding(f"{split}: exams as requested", tuple(problems), figure)

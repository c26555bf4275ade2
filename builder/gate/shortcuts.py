"""What the rules of a lazy expert earn in each exam: the table of shortcuts in ``GATE.md``.

The gate knows no rule: whoever runs it hands them over (:class:`Shortcuts`), since solvers may
import the builder and not the reverse. Points are the grader's. The scale is that of skill, so that
there is a table only where an exam states floors; what a rule does not speak of counts as answered
by the floor's policy. Nothing is refused here: limits are about many tasks a variant, which an exam
does not have.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from grader.exam import choose_exam
from grader.floors import Floors
from grader.io.release import Release
from grader.model import RawAnswer, Truth, Unit
from grader.report.skill import measure, value_of
from grader.score import score_answer
from grader.shape import Task

TOGETHER: Final = "all together"
"""The name of the combination: of every variant the rule that was chosen for it."""

ENOUGH: Final = 300
"""Tasks of a track and exam that are answered, or a few more: the table is to be read, and limits
nothing."""

Answered = Callable[[Release, Path | None, str, Collection[str]], Iterable[tuple[str, Task, str]]]
"""(release without its private side, where that is or None, split, ids of tasks) -> rule, task and
the text of its answer."""


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """Rules and what answers by them.

    ``rules`` maps the name of each to its track; ``chosen`` maps a track and a variant's key to the
    rule that did best there in a public split: the best combination, for exams of another build.
    ``answers`` is found at module level, so that a worker can be handed it.
    """

    rules: Mapping[str, str]
    chosen: Mapping[tuple[str, str], str]
    answers: Answered


@dataclass(frozen=True, slots=True)
class ShortcutRow:
    """What a rule earns in one exam. ``own`` is its skill on the tasks that it speaks of, ``whole``
    what it adds to the skill in the exam, both with the ends of their 95% intervals; ``most`` its
    largest skill in one variant."""

    split: str
    private: bool
    exam: str
    track: str
    rule: str
    tasks: int
    own: tuple[float, float, float]
    whole: tuple[float, float, float]
    most: tuple[float, str]


def shortcut_rows(opened: Release, split: str, shortcuts: Shortcuts) -> Iterator[ShortcutRow]:
    """A row for each exam of a split that states floors, and each rule that speaks of some task."""
    shown = replace(opened, private=None)
    side = None if opened.private is None else opened.private.path
    hidden = not opened.has_public_truth(split)
    exams: dict[str, tuple[dict[str, list[Task]], Floors]] = {}
    truths: dict[str, Truth] = {}
    for exam in opened.exams(split):
        chosen = choose_exam(opened, split, exam, reveal=True, whole=False)
        floors = Floors.of(opened.public.manifest, exam, chosen.tasks)
        if floors.entries:
            asked = {name: _first_instances(chosen.tasks, name) for name in floors.entries}
            exams[exam] = asked, floors
            truths |= {task.task_id: chosen.truths[task.task_id]
                       for tasks in asked.values() for task in tasks}  # fmt: skip
    points: dict[str, dict[str, float]] = {}
    # Exams share scenes: what is asked about them is answered once.
    answers = shortcuts.answers(shown, side, split, truths.keys()) if truths else ()
    for rule, task, text in answers:
        worth = _points(task, truths[task.task_id], text)
        points.setdefault(rule, {})[task.task_id] = worth
    for exam, (of_exam, floors) in exams.items():
        for track, tasks in of_exam.items():
            mine = _spoken(tasks, points, shortcuts)
            for rule, found in mine.items():
                yield _row((split, hidden, exam, track, rule), tasks, found, truths, floors)


def _first_instances(tasks: Iterable[Task], track: str) -> list[Task]:
    """Those of an exam's tasks of a track that are answered: of whole instances, those whose ids
    come first. Ids are random, and scenes, which stand in their order, are nearly all there is to
    read."""
    members: dict[str, list[Task]] = {}
    for task in (task for task in tasks if task.track == track):
        members.setdefault(task.instance_id, []).append(task)
    found: list[Task] = []
    for name in sorted(members):
        if len(found) < ENOUGH:
            found += members[name]
    return found


def _spoken(
    tasks: Sequence[Task], points: Mapping[str, Mapping[str, float]], shortcuts: Shortcuts
) -> dict[str, dict[str, float]]:
    """By rule the points of those of an exam's ``tasks``, of one track, that it speaks of; and of
    the combination, if any does."""
    mine = {}
    for name in shortcuts.rules:
        known = points.get(name, {})
        found = {task.task_id: known[task.task_id] for task in tasks if task.task_id in known}
        if found:
            mine[name] = found
    if mine:
        mine[TOGETHER] = _together(tasks, mine, shortcuts.chosen)
    return mine


def _points(task: Task, truth: Truth, text: str) -> float:
    return score_answer(task, truth, RawAnswer(task.answer_file, text.encode("utf-8"))).points


def _together(
    tasks: Sequence[Task],
    points: Mapping[str, Mapping[str, float]],
    chosen: Mapping[tuple[str, str], str],
) -> dict[str, float]:
    """The points of every task by the rule that was chosen for its variant, if one was."""
    found = {}
    for task in tasks:
        rule = chosen.get((task.track, task.spec.key))
        if rule is not None and task.task_id in points.get(rule, {}):
            found[task.task_id] = points[rule][task.task_id]
    return found


def _row(
    where: tuple[str, bool, str, str, str],
    tasks: Sequence[Task],
    points: Mapping[str, float],
    truths: Mapping[str, Truth],
    floors: Floors,
) -> ShortcutRow:
    units: dict[str, Unit] = {}
    for task in tasks:
        floor = floors.of_task(task)
        assert floor is not None
        worth = points.get(task.task_id, floor)
        units[task.task_id] = Unit(task.instance_id, worth, floor)
    spoken = [task for task in tasks if task.task_id in points]
    by_variant: dict[str, list[Unit]] = {}
    for task in spoken:
        by_variant.setdefault(task.spec.key, []).append(units[task.task_id])
    most = max(((value_of(of) or 0.0, key) for key, of in by_variant.items()), default=(0.0, ""))
    own = _skill([units[task.task_id] for task in spoken])
    return ShortcutRow(*where, len(spoken), own, _skill(list(units.values())), most)


def _skill(units: Sequence[Unit]) -> tuple[float, float, float]:
    """Skill and its 95% interval; 0 where there is no room above the floor."""
    found = measure(units, seed=0)
    if found is None:
        return 0.0, 0.0, 0.0
    ends = sorted(found.replicates) or [found.value]
    low, high = (ends[round(share * (len(ends) - 1))] for share in (0.025, 0.975))
    return found.value, low, high


def shortcut_table(rows: Iterable[ShortcutRow]) -> list[str]:
    """The table as lines of Markdown."""
    lines = [
        "## Shortcuts",
        "",
        "What rules of thumb earn, as skill: on the tasks that a rule speaks of; in the whole "
        "exam, all else answered by the policies of the floors; and on the variant where it earns "
        f"most. Of a track with more than {ENOUGH} tasks in an exam about so many are answered: of "
        "the instances whose ids, which are random, come first. In brackets 95% intervals. "
        f"'{TOGETHER}' takes for every variant the rule that "
        "earned most in a public split of the usual make.",
        "",
        "| split | exam | track | rule | tasks | on its own tasks | in the whole exam | at most |",
        "|---|---|---|---|--:|---|---|---|",
    ]
    for row in rows:
        skill, variant = row.most
        at_most = f"{skill:.0f}, {variant}" if variant else "none"
        lines.append(
            f"| {row.split} | {row.exam} | {row.track} | {row.rule} | {row.tasks} | "
            f"{_interval(row.own)} | {_interval(row.whole)} | {at_most} |"
        )
    return lines


def _interval(skill: tuple[float, float, float]) -> str:
    value, low, high = (f"{part + 0.0:.0f}".replace("-0", "0") if abs(part) < 0.5 else f"{part:.0f}"
                        for part in skill)  # fmt: skip
    return f"{value} ({low} to {high})"

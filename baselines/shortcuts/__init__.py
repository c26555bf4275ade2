"""Rules of a lazy expert: what each track's frontier exam must not reward.

A module a track; :data:`SHORTCUTS` names them all. A shortcut leaves unanswered what its rule does
not speak of. :func:`for_the_gate` hands them to the builder, which prints what they earn.
"""

import tomllib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from baselines.release import OpenedExam, open_tasks
from baselines.shortcuts import causalab, causalds, replayscm
from baselines.solving import Answers, Solver
from baselines.trivial import best_policies
from baselines.writing import text_of
from builder.gate.shortcuts import Shortcuts
from grader.io.release import Release
from grader.shape import Task

SHORTCUTS: Final[tuple[tuple[str, str, str, Solver], ...]] = (
    *causalds.SHORTCUTS,
    *replayscm.SHORTCUTS,
    *causalab.SHORTCUTS,
)
"""The track, the name, what the rule is, and what answers by it."""

TRACKS: Final = tuple(dict.fromkeys(track for track, *_ in SHORTCUTS))

_CHOSEN: Final = Path(__file__).with_name("chosen.toml")


def chosen() -> dict[tuple[str, str], str]:
    """By track and variant, the rule that earned most on ``dev`` (``chosen.toml``)."""
    table = tomllib.loads(_CHOSEN.read_text(encoding="utf-8"))
    return {(track, key): rule for track, row in table.items() for key, rule in row.items()}


def for_the_gate() -> Shortcuts:
    """The rules as the gate takes them."""
    return Shortcuts({name: track for track, name, *_ in SHORTCUTS}, chosen(), _answered)


def _answered(
    release: Release, private: Path | None, split: str, asked: Collection[str]
) -> Iterator[tuple[str, Task, str]]:
    opened = open_tasks(release, split, asked, private)
    for track in TRACKS:
        tasks = [task for task in opened.tasks if task.track == track]
        with threadpool_limits(1):
            if track == "causalds" and tasks:
                for rule, task, answer in causalds.every_rule(opened, tasks):
                    yield rule, task, text_of(answer)
                continue
            for of, rule, _, solve in SHORTCUTS:
                if of == track and tasks:
                    yield from ((rule, task, text_of(a)) for task, a in solve(opened, tasks))


def together(track: str) -> Solver:
    """Of every variant the rule that was chosen for it; all else by the policy of its floor."""
    rules = {name: solve for of, name, _, solve in SHORTCUTS if of == track}
    best = {key: rule for (of, key), rule in chosen().items() if of == track}

    def solve(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
        left = {task.task_id: task for task in tasks}
        for name in dict.fromkeys(best.values()):
            mine = [task for task in tasks if best.get(task.spec.key) == name]
            for task, answer in rules[name](exam, mine) if mine else ():
                del left[task.task_id]
                yield task, answer
        yield from best_policies(exam, list(left.values()))

    return solve

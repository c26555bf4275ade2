"""The reference systems: one table of their names, what they show, and what answers each track."""

import re
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from baselines import causalab, causalds, ccr, replayscm
from baselines.exam import (
    Answer,
    OpenedExam,
    Solver,
    TrackSystems,
    answer_constant,
    answer_randomly,
    copy_truth,
    from_prompts,
    open_exam,
    prepare_folder,
    write_answer,
)
from grader.errors import UsageError
from grader.io.names import did_you_mean
from grader.scoring.shape import Task

BY_TRACK: Final[Mapping[str, TrackSystems]] = {
    "causalds": causalds.SYSTEMS,
    "ccr": ccr.SYSTEMS,
    "replayscm": replayscm.SYSTEMS,
    "causalab": causalab.SYSTEMS,
}
"""The list of tracks: the reference systems of each."""


@dataclass(frozen=True, slots=True)
class System:
    """A reference system; ``note`` says what it shows.

    ``solvers`` are by track; tasks of other tracks go unanswered. ``sees_truth``: it may be given
    the private side, to copy it or to run laboratories on it.
    """

    name: str
    note: str
    solvers: Mapping[str, Solver] = field(default_factory=dict)
    sees_truth: bool = False


SYSTEMS: Final = (
    System(
        "gold",
        "the published truth itself; needs --private where the truth is private",
        dict.fromkeys(BY_TRACK, copy_truth),
        sees_truth=True,
    ),
    System("empty", "no answers, only run.json"),
    System(
        "constant",
        "by variant the best answer that is always the same, as the floors name it",
        dict.fromkeys(BY_TRACK, answer_constant),
    ),
    System(
        "random",
        "a legal answer drawn at random, seeded by the task id; names from the story",
        dict.fromkeys(BY_TRACK, answer_randomly),
    ),
    System(
        "naive",
        "regresses on everything and reports; never abstains",
        {track: systems.naive for track, systems in BY_TRACK.items()},
    ),
    System(
        "informed",
        "reads the graph from the story, picks the identifying estimator, abstains; "
        "takes what measurements predict for the variable itself",
        {track: systems.informed for track, systems in BY_TRACK.items()},
    ),
    *(
        System(name, f"{track} only: {note}", {track: solver}, systems.sees_truth)
        for track, systems in BY_TRACK.items()
        for name, (note, solver) in systems.own.items()
    ),
)
"""Every system; :func:`find_system` puts a rate in the place of RATE."""

NAMES: Final = tuple(system.name for system in SYSTEMS)

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "all": tuple(name.replace("RATE", "5") for name in NAMES),
    "demo": ("informed", "naive", "random", "constant", "symbolic", "gold"),  # the slowest first
}
"""Names that stand for several systems: all, and a few, one of each kind."""


def named_systems(names: Sequence[str]) -> list[System]:
    """Return the systems of these names and ``GROUPS``, once; ``UsageError`` if unknown."""
    if not names:
        raise UsageError(f"NAME is missing; choose one of {', '.join(NAMES)} (see --list)")
    every = [one for name in names for one in GROUPS.get(name, (name,))]
    return [find_system(name) for name in dict.fromkeys(every)]


def find_system(name: str) -> System:
    """Return a system, of ``ccr.NOISE`` with its percentage as RATE, or raise ``UsageError``."""
    known = {system.name: system for system in SYSTEMS}
    family = known.pop(ccr.NOISE)
    rate = re.fullmatch(ccr.NOISE.replace("RATE", r"(\d{1,2}(?:\.\d+)?|100)"), name)
    if rate is not None:
        solver = from_prompts(ccr.noise(float(rate[1]) / 100))
        return System(name, family.note.replace("RATE", rate[1]), {"ccr": solver})
    if name in known:
        return known[name]
    raise UsageError(f"{name}: no such baseline{did_you_mean(name, GROUPS['all'])}")


def answer_tasks(system: System, exam: OpenedExam) -> Iterator[tuple[Task, Answer]]:
    """Yield the tasks that ``system`` answers, by track, or raise ``UsageError``."""
    # One thread: the tables are small, and sums then have one order on every machine.
    with threadpool_limits(1):
        for track, solve in system.solvers.items():
            if tasks := [task for task in exam.tasks if task.track == track]:
                yield from solve(exam, tasks)


# It stands here, as workers cannot import __main__.
def answer_exam(chosen: Namespace, name: str) -> str:
    """Write the answers of system ``name`` to the exam in the options; return a line."""
    start = time.perf_counter()
    system, folder = find_system(name), chosen.folders[name]
    exam = open_exam(chosen.release, chosen.split, chosen.exam, chosen.private)
    settings = {"release": exam.release.name, "split": exam.split, "exam": exam.name}
    prepare_folder(folder, name, settings, system.note)
    written = 0
    for task, answer in answer_tasks(system, exam):
        write_answer(folder, task, answer)
        written += 1
    seconds = time.perf_counter() - start
    return (
        f"{folder}: {written} answers to the {len(exam.tasks)} tasks of "
        f"{exam.name} ({exam.split}) by {name} in {seconds:.1f} s"
    )

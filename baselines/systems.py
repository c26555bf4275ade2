"""The reference systems: one table of their names, what they show, and what answers each track."""

import re
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import track as shown_progress
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from baselines import causalab, ccr, taking
from baselines.causalab import in_laboratory
from baselines.replayscm import majority, symbolic
from baselines.replayscm_structure import structure_and_formulas
from baselines.taking import (
    Answer,
    OpenedExam,
    ShownScene,
    Solver,
    SolveTask,
    from_prompts,
    from_scenes,
    open_exam,
    prepare,
    write_answer,
)
from grader.errors import UsageError
from grader.io.names import did_you_mean
from grader.scoring.shape import Task

TRACKS: Final = ("causalds", "ccr", "replayscm", "causalab")


@dataclass(frozen=True, slots=True)
class System:
    """A reference system. Tasks of a track that it has no solver for go unanswered.

    ``sees_truth``: it may be given the private side, to copy it or to run laboratories on it.
    """

    name: str
    note: str
    solvers: Mapping[str, Solver] = field(default_factory=dict)
    sees_truth: bool = False


# The two analysts are imported when they are asked for: what they compute with takes a second.
def _naive(scene: ShownScene) -> SolveTask:
    from baselines.causalds.naive import make_solver

    return make_solver(scene)


def _informed(scene: ShownScene, *, corrected: bool = False) -> SolveTask:
    from baselines.causalds.informed import make_solver

    return make_solver(scene, corrected=corrected)


ONE_TRACK: Final[tuple[tuple[str, str, str, Solver], ...]] = (
    ("causalds", "double-sampling", "informed, with estimates corrected by the calibration rows",
     from_scenes(partial(_informed, corrected=True))),
    ("ccr", "ccr-perfect", "reads every prompt by rules; valid and consistent",
     from_prompts(ccr.perfect)),
    ("ccr", "ccr-biased", "a shifted model; invalid but consistent", from_prompts(ccr.biased)),
    ("ccr", "ccr-global-wrong", "local pairs right, the global one wrong",
     taking.from_all_prompts(ccr.global_wrong)),
    ("causalab", "solver", "experiments until one model explains every reading",
     in_laboratory("solver", causalab.solver)),
    ("causalab", "observer", "regression on the prior records, no experiment",
     in_laboratory("observer", causalab.observer)),
    ("causalab", "greedy-stop", "commits to the first model that fits",
     in_laboratory("greedy-stop", causalab.greedy_stop)),
    ("replayscm", "symbolic", "exact search, smallest train-exact program",
     from_prompts(symbolic)),
    ("replayscm", "structure+dsl",
     "BDeu hill climbing for parents, an exact fitter for formulas",
     from_prompts(structure_and_formulas)),
    ("replayscm", "majority", "every mechanism its variable's most frequent value",
     from_prompts(majority)),
)  # fmt: skip
"""Systems that answer one track: the track, name, note, and what answers it."""

SYSTEMS: Final = (
    System(
        "gold",
        "the published truth itself; needs --private where the truth is private",
        dict.fromkeys(TRACKS, taking.gold),
        sees_truth=True,
    ),
    System("empty", "no answers, only run.json"),
    System(
        "constant",
        "by variant the best answer that is always the same, as the floors name it",
        dict.fromkeys(TRACKS, taking.constant),
    ),
    System(
        "random",
        "a legal answer drawn at random, seeded by the task id; names from the story",
        dict.fromkeys(TRACKS, taking.random),
    ),
    System(
        "naive",
        "regresses on everything and reports; never abstains",
        {
            "causalds": from_scenes(_naive),
            "ccr": from_prompts(ccr.naive),
            "replayscm": from_prompts(majority),
            "causalab": in_laboratory("naive", causalab.observer, otherwise=taking.nothing),
        },
    ),
    System(
        "informed",
        "reads the graph from the story, picks the identifying estimator, abstains; "
        "takes what measurements predict for the variable itself",
        {
            "causalds": from_scenes(_informed),
            "ccr": from_prompts(ccr.perfect),
            "replayscm": from_prompts(symbolic),
            "causalab": in_laboratory("informed", causalab.solver, otherwise=taking.nothing),
        },
    ),
    *(
        System(name, f"{track} only: {note}", {track: solver}, sees_truth=track == "causalab")
        for track, name, note, solver in ONE_TRACK
    ),
)
"""All but ``ccr-noise-RATE``, of which :func:`find_system` makes one for each rate."""

_NOISE: Final = re.compile(r"ccr-noise-(\d{1,2}(?:\.\d+)?|100)")
NOISE_NAME: Final = "ccr-noise-RATE"
NOISE_NOTE: Final = "ccr only: flips RATE percent of the right answers"

NAMES: Final = (*(system.name for system in SYSTEMS), NOISE_NAME)

SHOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "all": (*(system.name for system in SYSTEMS), "ccr-noise-5"),
    "demo": ("informed", "naive", "random", "constant", "symbolic", "gold"),  # the slowest first
}
"""Names of systems: all, and a few that tell of each kind."""


def named_systems(names: Sequence[str]) -> list[System]:
    """The systems called ``names``, each once; a name of ``SHOWN`` stands for several. Raises
    ``UsageError``."""
    if not names:
        raise UsageError(f"NAME is missing; choose one of {', '.join(NAMES)} (see --list)")
    every = [one for name in names for one in SHOWN.get(name, (name,))]
    return [find_system(name) for name in dict.fromkeys(every)]


def find_system(name: str) -> System:
    """The system called ``name``; raises ``UsageError``."""
    for system in SYSTEMS:
        if system.name == name:
            return system
    if match := _NOISE.fullmatch(name):
        solve = from_prompts(ccr.noise(float(match.group(1)) / 100))
        return System(name, NOISE_NOTE.replace("RATE", match.group(1)), {"ccr": solve})
    if name == NOISE_NAME:
        raise UsageError(f"{name}: write a percentage for RATE, such as ccr-noise-0.5")
    raise UsageError(f"{name}: no such baseline{did_you_mean(name, NAMES)}")


def answers(system: System, exam: OpenedExam) -> Iterator[tuple[Task, Answer]]:
    """The tasks of ``exam`` that ``system`` answers, track by track, with its answers.

    Raises ``UsageError`` where a laboratory cannot be run.
    """
    # One thread: the tables are small, and sums then have one order on every machine.
    with threadpool_limits(1):
        for track, solve in system.solvers.items():
            tasks = [task for task in exam.tasks if task.track == track]
            if tasks:
                yield from solve(exam, tasks)


def answer_in_its_folder(chosen: Namespace, out: Path, name: str) -> str:
    """As ``answer_exam``, in the folder of ``out`` that has the system's name."""
    return answer_exam(chosen, out / name, name)


def answer_exam(chosen: Namespace, folder: Path, name: str, *, shown: bool = False) -> str:
    """Writes the answers of the system called ``name``, and its progress to a terminal where that
    is to be ``shown``; returns a line about it. Raises ``UsageError``.

    ``chosen`` says which exam; what is absent is found as ``open_exam`` finds it.
    """
    start = time.perf_counter()
    system = find_system(name)
    exam = open_exam(chosen.release, chosen.split, chosen.exam, chosen.private)
    settings = {"release": exam.release.name, "split": exam.split, "exam": exam.name}
    prepare(folder, name, settings, system.note)
    written = 0
    console = Console(stderr=True)
    answered = shown_progress(
        answers(system, exam),
        name,
        len(exam.tasks),
        console=console,
        disable=not (shown and console.is_terminal),
    )
    for task, answer in answered:
        write_answer(folder, task, answer)
        written += 1
    seconds = time.perf_counter() - start
    return (
        f"{folder}: {written} answers to the {len(exam.tasks)} tasks of "
        f"{exam.name} ({exam.split}) by {name} in {seconds:.1f} s"
    )

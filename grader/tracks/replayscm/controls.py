"""Two controls: held-out worlds under other root distributions, and places in the prompt.

HeldoutExact-shifted stands beside HeldoutExact and never counts: a program that learned the
distribution of the training worlds, and not the mechanisms, does worse there. Mechanisms by the
place of their variable in the prompt show whether places are read as a cue.
"""

from collections.abc import Mapping
from typing import Any, Final

from grader.model import Truth
from grader.tracks.replayscm.boolean import Formula, equivalent
from grader.tracks.replayscm.problem import Problem, Program, pack
from grader.tracks.replayscm.replay import replay

PLACES: Final = 5
"""Places in a prompt are counted in fifths of its list of variables."""


def shifted(problem: Problem, truth: Truth, program: Program, fits: bool) -> dict[str, Any]:
    """Replay of the shifted worlds, where a record has some; ``fits``: the program is train-exact.

    A train-exact program that errs where the audit says that none can is an error in the truth,
    and is raised as our own.
    """
    stated = truth.target.get("shifted")
    if stated is None:
        return {}
    found = replay(program, pack(problem.names, stated["worlds"]))
    if fits and stated["determined"] and not found.exact:
        raise AssertionError(
            "a legal train-exact program fails a shifted world that the audit calls determined"
        )
    return {
        "shifted_exact": int(fits and found.exact),
        "shifted_world_exact": found.world_rate,
    }


def by_place(
    problem: Problem, gold: Mapping[str, Formula], mechanisms: Mapping[str, Formula]
) -> dict[str, int]:
    """By fifth of the list of variables: mechanisms of the hidden program, and how many of them the
    answer has as the same function."""
    counts = {f"{what}_place_{k}": 0 for k in range(PLACES) for what in ("asked", "right")}
    for place, name in enumerate(problem.names):
        if name in gold:
            fifth = PLACES * place // len(problem.names)
            counts[f"asked_place_{fifth}"] += 1
            right = name in mechanisms and equivalent(mechanisms[name], gold[name])
            counts[f"right_place_{fifth}"] += right
    return counts

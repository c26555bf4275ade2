"""Two controls: held-out worlds under other root distributions, and places in the prompt.

HeldoutExact-shifted stands beside HeldoutExact and never counts: a program that learned the
distribution of the training worlds, and not the mechanisms, does worse there. Mechanisms by the
place of their variable in the prompt show whether places are read as a cue.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from grader.model import Truth
from grader.tracks.replayscm.boolean import Formula, evaluate
from grader.tracks.replayscm.problem import Problem, Program, Worlds, pack
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
    worlds: Sequence[Worlds], gold: Iterable[str], mechanisms: Mapping[str, Formula]
) -> dict[str, int]:
    """By fifth of the list of variables: those with a hidden mechanism (``gold``), and how many of
    them have one in the answer that gives, on the cells as they stand in ``worlds``, every computed
    cell. So each mechanism is judged by itself, whatever the others do, and one that only differs
    where nothing is asked is right."""
    names, computed = worlds[0].names, set(gold)
    counts = {f"{what}_place_{k}": 0 for k in range(PLACES) for what in ("asked", "right")}
    for place, name in enumerate(names):
        if name in computed:
            fifth = PLACES * place // len(names)
            counts[f"asked_place_{fifth}"] += 1
            counts[f"right_place_{fifth}"] += name in mechanisms and all(
                not (evaluate(mechanisms[name], w.values, w.full) ^ w.values[name])
                & ~w.clamped[name]
                for w in worlds
            )
    return counts

"""Algorithm 1 on values that the system states itself (CCR §4.1, case 1).

A task that lists quantities of several pairs of a cut tree says what the system takes each of them
for. Compositions all of whose pairs are listed are compared with the truth and with the system's
own value of the whole, as those of simulated contexts are. So are the sums TE = NDE + NIE.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any, Final

from grader.scoring.model import CheckedAnswer, Score, Truth
from grader.tracks.ccr.algorithm import (
    Class,
    Errors,
    Name,
    PairName,
    additive_errors,
    algorithm_1,
    class_of,
    error_or_none,
    is_within_delta,
    paths,
)

FAMILIES: Final = frozenset({"direct", "inductive"})
"""Families whose quantities compose over a cut tree."""

COMPOSED: Final = ("pns", "ate")
"""Measures that are products along the paths (Theorem 5.1; the ATE of these models, too)."""


Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StatedContext:
    """Algorithm 1 on what one task of ``variant`` states of one measure (PNS, ATE), or of sums."""

    instance_id: str
    variant: str
    errors: Errors

    @property
    def quadrant(self) -> Class:
        """VC, VI, IC or II: of all pairs and compositions together."""
        externals = (composition.external for composition in self.errors.compositions)
        return class_of(
            all(map(is_within_delta, (*self.errors.eta.values(), *externals))),
            all(is_within_delta(composition.internal) for composition in self.errors.compositions),
        )

    def rows(self) -> list[Row]:
        """Return a row of ``ccr_composed`` for each composition, and its ``path`` besides.

        ``eta`` is the mean error of all pairs, the same in every row, None if one is not stated.
        """
        etas = [*self.errors.eta.values()]
        known = [eta for eta in etas if eta is not None]
        return [
            {
                "instance_id": self.instance_id,
                "variant": self.variant,
                "context_class": self.quadrant,
                "eta": math.fsum(known) / len(etas) if len(known) == len(etas) else None,
                "path": list(one.path),
                "epsilon": one.external,
                "gamma": one.internal,
                "epsilon_absolute": error_or_none(one.truth, one.value, absolute=True),
                "gamma_absolute": error_or_none(one.whole, one.value, absolute=True),
                "class": class_of(is_within_delta(one.external), is_within_delta(one.internal)),
            }
            for one in self.errors.compositions
        ]


def stated_contexts(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, CheckedAnswer]
) -> Iterator[StatedContext]:
    """Yield results for the tasks that list a composition with all its pairs, in the order of
    ``scores``.

    A task has one result for each measure of ``COMPOSED`` that it lists so, and one of the sums. An
    invalid or missing answer counts as stating nothing.
    """
    for score in scores:
        listed = truths[score.task_id].target.get("quantities")
        if listed is None or score.family not in FAMILIES:
            continue
        found = checked[score.task_id]
        given = found.answer["quantities"] if found.status == "scored" else {}
        for errors in stated_errors(listed, given):
            if errors.compositions:
                yield StatedContext(score.instance_id, f"{score.family}.{score.variant}", errors)


def stated_errors(listed: Mapping[str, Any], given: Mapping[str, float]) -> list[Errors]:
    """Return the errors of each measure of ``COMPOSED``, in its order, or of the sums if a TE is
    listed.

    Arguments as of :func:`_errors`. Raises ``ValueError`` where the pairs of the truth form a
    circle.
    """
    if "te" in {quantity["measure"] for quantity in listed.values()}:
        return [_sum_errors(listed, given)]
    return [_errors(measure, listed, given) for measure in COMPOSED]


def _errors(measure: str, listed: Mapping[str, Any], given: Mapping[str, float]) -> Errors:
    """Return the errors of one measure, with compositions of the widest pairs alone.

    ``listed`` are the quantities in the truth by name, ``given`` the values that the answer states.
    A pair is widest if no other pair with compositions encloses it.
    """
    exact: dict[PairName, float] = {}
    stated: dict[PairName, float | None] = {}
    for name, quantity in listed.items():
        if quantity["measure"] == measure and len(quantity["path"]) == 2:
            pair = (quantity["path"][0], quantity["path"][1])
            exact[pair], stated[pair] = float(Fraction(quantity["exact"])), given.get(name)
    causes: dict[str, set[str]] = {}
    for cause, effect in exact:
        causes.setdefault(effect, set()).add(cause)
    nodes = [*TopologicalSorter(causes).static_order()]
    place = {name: k for k, name in enumerate(nodes)}
    closed = [pair for pair in exact if any(_has_pairs(exact, p) for p in paths(nodes, pair)[1:])]
    wide = [
        (a, b)
        for a, b in closed
        if not any(
            place[c] <= place[a] and place[b] <= place[d] for c, d in closed if (c, d) != (a, b)
        )
    ]
    errors = algorithm_1(nodes, wide, exact, stated)
    kept = tuple(one for one in errors.compositions if _has_pairs(exact, one.path))
    return Errors(errors.eta, kept)


def _sum_errors(listed: Mapping[str, Any], given: Mapping[str, float]) -> Errors:
    """Return the errors of the listed TE, NDE and NIE, of which none is left out of a task."""
    names: dict[str, Name] = {
        name: (quantity["measure"], *quantity["path"])
        for name, quantity in listed.items()
        if quantity["measure"] in ("te", "nde", "nie")
    }
    exact = {key: float(Fraction(listed[name]["exact"])) for name, key in names.items()}
    return additive_errors(exact, {key: given.get(name) for name, key in names.items()})


def _has_pairs(exact: Mapping[PairName, float], path: Sequence[str]) -> bool:
    """Return whether ``exact`` has every pair of neighbours of a path."""
    return all(edge in exact for edge in pairwise(path))

"""Algorithm 1 on values that the system states itself (CCR §4.1, case 1).

A task that lists quantities of several pairs of a cut tree says what the system takes each of them
for. Compositions all of whose pairs are listed are compared with the truth and with the system's
own value of the whole, as those of simulated contexts are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any, Final

from grader.scoring.model import Checked, Score, Truth
from grader.tracks.ccr.algorithm import (
    DELTA,
    Class,
    Composition,
    Errors,
    PairName,
    algorithm_1,
    class_of,
    paths,
)

FAMILIES: Final = frozenset({"direct", "inductive"})
"""Families whose quantities compose over a cut tree."""

COMPOSED: Final = ("pns", "ate")
"""Measures that are products along the paths (Theorem 5.1; the ATE of these models, too)."""


@dataclass(frozen=True, slots=True)
class StatedContext:
    """What Algorithm 1 says of the values stated in one task."""

    instance_id: str
    variant: str
    errors: Errors

    @property
    def valid(self) -> bool:
        """Every pair and every composition is."""
        values = [*self.errors.eta.values(), *(c.external for c in self.errors.compositions)]
        return all(map(holds, values))

    @property
    def consistent(self) -> bool:
        """Every composition is."""
        return all(holds(composition.internal) for composition in self.errors.compositions)

    @property
    def quadrant(self) -> Class:
        """VC, VI, IC or II."""
        return class_of(self.valid, self.consistent)


def holds(error: float | None) -> bool:
    """Whether an error is within the threshold; what was not stated has none, and is not."""
    return error is not None and error <= DELTA + 1e-12


def quadrant_of(composition: Composition) -> Class:
    """VC, VI, IC or II."""
    return class_of(holds(composition.external), holds(composition.internal))


def stated_contexts(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, Checked]
) -> Iterator[StatedContext]:
    """The tasks that list at least one composition with all its pairs, in the order of scores."""
    for score in scores:
        listed = truths[score.task_id].target.get("quantities")
        if listed is None or score.family not in FAMILIES:
            continue
        found = checked[score.task_id]
        given = found.answer["quantities"] if found.status == "scored" else {}
        for measure in COMPOSED:
            errors = _errors(measure, listed, given)
            if errors.compositions:
                yield StatedContext(score.instance_id, f"{score.family}.{score.variant}", errors)


def _errors(measure: str, listed: Mapping[str, Any], given: Mapping[str, float]) -> Errors:
    """Algorithm 1 on one measure, with compositions of the widest pairs alone."""
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
    closed = [
        pair for pair in exact if any(_listed(path, exact) for path in paths(nodes, pair)[1:])
    ]
    wide = [
        (a, b)
        for a, b in closed
        if not any(
            place[c] <= place[a] and place[b] <= place[d] for c, d in closed if (c, d) != (a, b)
        )
    ]
    errors = algorithm_1(nodes, wide, exact, stated)
    kept = tuple(one for one in errors.compositions if _listed(one.path, exact))
    return Errors(errors.eta, kept)


def _listed(path: Sequence[str], exact: Mapping[PairName, float]) -> bool:
    return all(edge in exact for edge in pairwise(path))

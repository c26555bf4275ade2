"""Whether an episode's evidence can pin its coefficients down, when a property cannot be set.

A property that nobody can set varies between crystals only. If the records and the opening happen
to show it at nearly one value, its coefficient follows in exact arithmetic but drowns in the
rounding of the readings; such crystals are drawn again.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from builder.causalab.make.equations import BASES, Equations
from builder.causalab.plan.topology import FREQUENCY
from grader.laboratory.model import ROUNDING, Crystal

PRECISION: Final = 7e-4
"""Largest standard error of a coefficient, relative to it, under errors of one rounding unit."""

_RANK: Final = 1e-6


def is_precise(
    equations: Equations,
    settable: Sequence[str],
    records: Sequence[Mapping[str, float]],
    manipulator: Mapping[str, float],
) -> bool:
    """Whether setting every property to both ends of its range pins every coefficient down.

    Linear, mode ``shift``. Nodes whose coefficients are undetermined in exact arithmetic are left
    out.
    """
    shown = [equations.model.read(bases) for bases in records]
    session = list(_session(equations, settable, manipulator))
    for node, terms in equations.terms.items():
        parents = [term.parent for term in terms]
        if node in settable and set(parents) <= set(settable):
            continue  # experiments alone say enough
        rows = _rows(node, parents, shown, session)
        _, singular, directions = np.linalg.svd(rows, full_matrices=False)
        if terms and singular[-1] > _RANK * singular[0]:
            errors = ROUNDING * np.sqrt(((directions.T / singular) ** 2).sum(axis=1))
            sizes = np.array([abs(term.linear) for term in terms])
            if (errors[: len(terms)] / sizes).max() > PRECISION:
                return False
    return True


def _session(
    equations: Equations, settable: Sequence[str], manipulator: Mapping[str, float]
) -> Iterator[tuple[dict[str, float], frozenset[str]]]:
    """Readings with the properties set so far: every one to each end of its range."""
    crystal, done = Crystal(equations.model, manipulator, "shift"), set[str]()
    yield crystal.read(), frozenset()
    for level in BASES:
        for name in settable:
            crystal.set(name, float(level))
            done.add(name)
            yield crystal.read(), frozenset(done)


def _rows(
    node: str,
    parents: Sequence[str],
    shown: Sequence[Mapping[str, float]],
    session: Sequence[tuple[Mapping[str, float], frozenset[str]]],
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """One row a reading: the parents' values, and 1 where the base is unknown."""
    rows = [
        [*(reading[parent] for parent in parents), float(node not in done)]
        for reading, done in session
    ]
    if node == FREQUENCY:
        rows += [[*(reading[parent] for parent in parents), 1.0] for reading in shown]
    return np.array(rows)

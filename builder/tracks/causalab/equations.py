"""Structural equations of an episode, the crystals' bases, and whether evidence pins them down.

Reference (as in the public data): linear coefficients are 1, 2 or 3, frequency's base a
whole number from 15 to 25. Wide: real coefficients of both signs. Quadratic: every cause acts by a
parabola with its lowest point inside the range of values, whose constant is in frequency's base.

A property that nobody can set varies between crystals only. If the records and the opening happen
to show it at nearly one value, its coefficient follows in exact arithmetic but drowns in the
rounding of the readings; such crystals are drawn again.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from builder.graphs.graph import LatentDAG
from builder.tracks.causalab.plan import FREQUENCY
from builder.tracks.causalab.suites import Family, SuiteSetting
from grader.laboratory.model import ROUNDING, Crystal, Model, Term

CURVATURES: Final = (0.008, 0.012, 0.016)
AXIS: Final = (35.0, 65.0)
"""Where the parabolas of the quadratic family turn."""
WEIGHTS: Final = (0.5, 3.0)
"""Size of a coefficient in the wide setting."""
BASES: Final = (0, 100)
"""Range of a property's own base, in every crystal."""
TRACE_BASES: Final = (15.0, 45.0)
"""Range of bases in the two records that come with a golden trace."""


PRECISION: Final = 7e-4
"""Largest standard error of a coefficient, relative to it, under errors of one rounding unit."""


def sample_equations(
    graph: LatentDAG, family: Family, setting: SuiteSetting, rng: np.random.Generator
) -> Model:
    """Draw every edge's coefficients (by ``setting`` if linear), and frequency's base."""
    if family == "quadratic":
        return _quadratic(graph, rng)
    wide = setting == "wide"
    terms = {
        name: tuple(
            Term(parent, _weight(rng) if wide else float(rng.integers(1, 4)))
            for parent in graph.parents(name)
        )
        for name in graph.nodes
    }
    base = round(_sign(rng) * float(rng.uniform(10, 30)), 2) if wide else _whole_base(rng)
    return _model(graph, terms, base)


def _model(graph: LatentDAG, terms: Mapping[str, tuple[Term, ...]], base: float) -> Model:
    """Return the engine's model of these equations; frequency, listed last, is its target."""
    return Model.make(graph.nodes[:-1], graph.nodes[-1], terms, base)


def _quadratic(graph: LatentDAG, rng: np.random.Generator) -> Model:
    """Draw a parabola for every edge, and the base of frequency. That base includes the constants
    of the parabolas that act on frequency."""
    constant = _whole_base(rng)
    terms: dict[str, tuple[Term, ...]] = {}
    for name in graph.nodes:
        found = []
        for parent in graph.parents(name):
            curvature = CURVATURES[int(rng.integers(len(CURVATURES)))]
            axis = float(rng.uniform(*AXIS))
            found.append(Term(parent, round(-2 * curvature * axis, 6), curvature))
            if name == FREQUENCY:
                constant += curvature * axis * axis
        terms[name] = tuple(found)
    return _model(graph, terms, round(constant, 2))


def _whole_base(rng: np.random.Generator) -> float:
    """Draw a whole number from 15 to 25."""
    return float(rng.integers(15, 26))


def _weight(rng: np.random.Generator) -> float:
    """Draw ±U(``WEIGHTS``), to three decimals."""
    return _sign(rng) * round(float(rng.uniform(*WEIGHTS)), 3)


def _sign(rng: np.random.Generator) -> float:
    """Draw 1 or -1, each with probability 1/2."""
    return 1.0 if rng.random() < 0.5 else -1.0


def sample_bases(
    names: Sequence[str], setting: SuiteSetting, rng: np.random.Generator
) -> dict[str, float]:
    """Draw a crystal's bases, 0 to 100, by property: whole, or two decimals if wide."""
    low, high = BASES
    if setting == "wide":
        drawn = [round(float(value), 2) for value in rng.uniform(low, high, len(names))]
    else:
        drawn = [float(value) for value in rng.integers(low, high + 1, len(names))]
    return dict(zip(names, drawn, strict=True))


def sample_trace_bases(names: Sequence[str], rng: np.random.Generator) -> dict[str, float]:
    """Draw the bases of a record beside a golden trace: two decimals, from 15 to 45."""
    drawn = rng.uniform(*TRACE_BASES, len(names))
    return {n: round(float(v), 2) for n, v in zip(names, drawn, strict=True)}


def is_precise(
    model: Model,
    settable: Sequence[str],
    records: Sequence[Mapping[str, float]],
    manipulator: Mapping[str, float],
) -> bool:
    """Return whether setting every settable property to both ends of its range, together with the
    records, pins every coefficient down to ``PRECISION``. It assumes linear equations and mode
    ``shift``. Nodes whose coefficients are undetermined in exact arithmetic are left out."""
    shown = [model.read(bases) for bases in records]
    session = list(_session(model, settable, manipulator))
    for node, terms in model.equations.items():
        parents = [term.parent for term in terms]
        if node in settable and set(parents) <= set(settable):
            continue  # experiments alone say enough
        rows = _rows(node, parents, shown, session)
        _, singular, directions = np.linalg.svd(rows, full_matrices=False)
        if terms and singular[-1] > 1e-6 * singular[0]:
            errors = ROUNDING * np.sqrt(((directions.T / singular) ** 2).sum(axis=1))
            sizes = np.array([abs(term.linear) for term in terms])
            if (errors[: len(terms)] / sizes).max() > PRECISION:
                return False
    return True


def _session(
    model: Model, settable: Sequence[str], manipulator: Mapping[str, float]
) -> Iterator[tuple[dict[str, float], frozenset[str]]]:
    """Yield readings of the manipulator's crystal (frequency too) and the properties set so
    far: none, then each set to 0 in turn, then each to 100. What is set stays set."""
    crystal, done = Crystal(model, manipulator, "shift"), set[str]()
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
    """Return the regression matrix of ``node``, a row for each reading: its parents' values, then 1
    if the base is unknown, 0 if set. Records count for frequency alone."""
    rows = [
        [*(reading[parent] for parent in parents), float(node not in done)]
        for reading, done in session
    ]
    if node == FREQUENCY:
        rows += [[*(reading[parent] for parent in parents), 1.0] for reading in shown]
    return np.array(rows)

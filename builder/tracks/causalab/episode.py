"""One episode: everything random about it drawn once, as a value with two sides.

The public side is what the agent is told, the private side what the laboratory runs on; readings
come from the engine that grading replays, so building and replay cannot differ.

Reference (as in the public data): linear coefficients are 1, 2 or 3, frequency's base a
whole number from 15 to 25. Wide: real coefficients of both signs. Quadratic: every cause acts by a
parabola with its lowest point inside the range of values, whose constant is in frequency's base.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, NamedTuple

import numpy as np

from builder.graphs.graph import LatentDAG
from builder.release.attempts import Rejection
from builder.splits.seeds import stream
from builder.tracks.causalab.plan import DISPLAY, FREQUENCY, Family, Suite, SuiteSetting
from builder.tracks.causalab.plan import label as label_of
from grader.laboratory.model import ROUNDING, Crystal, Mode, Model, Term

CURVATURES: Final = (0.008, 0.012, 0.016)
AXIS: Final = (35.0, 65.0)
"""Where the parabolas of the quadratic family turn."""
WEIGHTS: Final = (0.5, 3.0)
"""Size of a coefficient in the wide setting."""
BASES: Final = (0, 100)
"""Range of a property's own base, in every crystal."""
PRECISION: Final = 7e-4
"""Largest standard error of a coefficient, relative to it, under errors of one rounding unit."""


def sample_equations(
    graph: LatentDAG, family: Family, setting: SuiteSetting, rng: np.random.Generator
) -> Model:
    """Draw every edge's coefficients (by ``setting`` if linear), and frequency's base."""
    wide, terms = setting == "wide", dict[str, list[Term]]()

    def sign() -> float:
        return 1.0 if rng.random() < 0.5 else -1.0

    constant = float(rng.integers(15, 26)) if family == "quadratic" else 0.0
    for name in graph.nodes:
        terms[name] = []
        for parent in graph.parents(name):
            if family == "quadratic":
                curvature = CURVATURES[int(rng.integers(len(CURVATURES)))]
                axis = float(rng.uniform(*AXIS))
                terms[name].append(Term(parent, round(-2 * curvature * axis, 6), curvature))
                if name == FREQUENCY:  # its base includes the constants of its parabolas
                    constant += curvature * axis * axis
            elif wide:
                terms[name].append(Term(parent, sign() * round(float(rng.uniform(*WEIGHTS)), 3)))
            else:
                terms[name].append(Term(parent, float(rng.integers(1, 4))))
    if family == "linear":
        constant = sign() * float(rng.uniform(10, 30)) if wide else float(rng.integers(15, 26))
    return Model.make(graph.nodes[:-1], graph.nodes[-1], terms, round(constant, 2))


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


def is_precise(
    model: Model,
    settable: Sequence[str],
    records: Sequence[Mapping[str, float]],
    manipulator: Mapping[str, float],
) -> bool:
    """Return whether setting every settable property to both ends of its range, together with the
    records, pins every coefficient down to ``PRECISION``: a property that nobody can set, shown at
    nearly one value, drowns in rounding. It assumes linear equations and mode ``shift``. Nodes
    whose coefficients are undetermined in exact arithmetic are left out."""
    shown = [model.read(bases) for bases in records]
    session = list(_session(model, settable, manipulator))
    for node, terms in model.equations.items():
        parents = [term.parent for term in terms]
        if not terms or (node in settable and set(parents) <= set(settable)):
            continue  # experiments alone say enough
        # A row has the parents, and 1 if the base is unknown.
        seen = list(session)
        if node == FREQUENCY:
            seen += [(reading, frozenset[str]()) for reading in shown]
        rows = [[*(reading[p] for p in parents), float(node not in done)] for reading, done in seen]
        _, singular, directions = np.linalg.svd(np.array(rows), full_matrices=False)
        if singular[-1] > 1e-6 * singular[0]:
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


TOLERANCE: Final = 5.0
"""Largest error of a right prediction."""
REACTOR_RANGES: Final[Mapping[SuiteSetting, tuple[float, float]]] = {
    "reference": (0.0, 10_000.0),
    "wide": (-10_000.0, 10_000.0),
}
"""What the reactor can be set to; targets lie inside."""
REACTOR_DRAWS: Final = 2_000
EVIDENCE_DRAWS: Final = 60
"""Tries at a reactor crystal, and at crystals that pin down what a fixed property does."""
TRACE_STEPS: Final = 6
"""Interventions in a golden trace, at least one on every property (reference: six)."""
TRACE_BASES: Final = (15.0, 45.0)
"""Range of bases in the two records that come with a golden trace."""


class EpisodeParts(NamedTuple):
    """The two sides of an episode, as ``docs/causalab.md`` describes them."""

    public: dict[str, Any]
    private: dict[str, Any]


def draw_episode(
    graph: LatentDAG, suite: Suite, setting: SuiteSetting, fixed: bool, mode: Mode, key: bytes
) -> EpisodeParts:
    """Return an episode of ``suite``, drawn from the instance's ``key`` alone. Matched suites share
    the streams of what they have in common. With ``fixed`` one property (two of six) cannot be
    controlled. Raises :class:`Rejection` if no reactor crystal has its frequency inside the
    reactor's range, or none pin down what a fixed property does."""
    names, crystals = graph.nodes[:-1], f"{setting}/{suite.crystals}"
    rng = stream(key, f"equations/{suite.family}/{setting}")
    model = sample_equations(graph, suite.family, setting, rng)
    records: list[dict[str, float]] = []
    chain: list[dict[str, object]] = []
    if suite.golden:
        records, chain = _trace(model, mode, stream(key, f"trace/{crystals}"))
    settable = names
    if fixed:
        barred = stream(key, f"controllable/{setting}").choice(
            len(names), 1 if len(names) < 6 else 2, replace=False
        )
        settable = tuple(name for place, name in enumerate(names) if place not in barred)
    shown, manipulator = _evidence(suite, setting, model, settable, key)
    records += shown
    reactor = _reactor(model, setting, stream(key, f"reactor/{crystals}"))
    disturbance = _disturbance(graph, suite, setting, key)
    seen = model.read(reactor)
    ends = {"low": float(BASES[0]), "high": float(BASES[1])}
    public = {
        "variables": [
            {"name": name, "display": DISPLAY[name], "controllable": name in settable, **ends}
            for name in names
        ],
        "target": {"name": FREQUENCY, "display": DISPLAY[FREQUENCY]},
        "family": suite.family,
        "mode": mode,
        "frequency_may_be_parent": suite.acts,
        "shifts": disturbance["values"] if disturbance and suite.disclosed else None,
        "records": [model.read(bases) for bases in records],
        "chain": chain,
        "opening": model.read(manipulator) if suite.budget else None,
        "reactor": {name: seen[name] for name in names},
        "reactor_range": list(REACTOR_RANGES[setting]),
        "budget": suite.budget,
        "tolerance": TOLERANCE,
    }
    private = {
        "suite": suite.name,
        "setting": setting,
        "regime": f"{suite.observations}o{suite.budget}i",
        "equations": {
            name: [asdict(term) for term in terms] for name, terms in model.equations.items()
        },
        "base": model.base,
        "records": records,
        "manipulator": manipulator,
        "reactor": reactor,
        "disturbance": disturbance,
        "frequency": seen[FREQUENCY],
    }
    return EpisodeParts(public, private)


def _evidence(
    suite: Suite, setting: SuiteSetting, model: Model, settable: Sequence[str], key: bytes
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Return bases of records and manipulator that pin down a fixed property's effect."""
    names, crystals = model.nodes[:-1], f"{setting}/{suite.crystals}"
    shown, kept = stream(key, f"records/{crystals}"), stream(key, f"manipulator/{crystals}")
    for _ in range(EVIDENCE_DRAWS):
        records = [sample_bases(names, setting, shown) for _ in range(suite.observations)]
        manipulator = sample_bases(names, setting, kept)
        if len(settable) == len(names) or is_precise(model, settable, records, manipulator):
            return records, manipulator
    raise Rejection("no crystals that pin down what a fixed property does")


def _reactor(model: Model, setting: SuiteSetting, rng: np.random.Generator) -> dict[str, float]:
    """Return a reactor crystal's bases, target in range. Raises Rejection where none is found."""
    low, high = REACTOR_RANGES[setting]
    for _ in range(REACTOR_DRAWS):
        bases = sample_bases(model.nodes[:-1], setting, rng)
        if low <= model.read(bases)[model.nodes[-1]] <= high:
            return bases
    raise Rejection("no reactor crystal within the reactor's range")


def _trace(
    model: Model, mode: Mode, rng: np.random.Generator
) -> tuple[list[dict[str, float]], list[dict[str, object]]]:
    """Return the bases of two records, and six settings of the first one's crystal with what it
    then shows: every property once in random order, then random ones again."""
    names, records = model.nodes[:-1], list[dict[str, float]]()
    for _ in range(2):
        drawn = rng.uniform(*TRACE_BASES, len(names))
        records.append({n: round(float(v), 2) for n, v in zip(names, drawn, strict=True)})
    crystal = Crystal(model, records[0], mode)
    order = [names[int(i)] for i in rng.permutation(len(names))]
    order += [names[int(i)] for i in rng.integers(len(names), size=TRACE_STEPS - len(names))]
    steps: list[dict[str, object]] = []
    for name in order:
        value = float(rng.integers(BASES[0], BASES[1] + 1))
        crystal.set(name, value)
        steps.append({"set": {"name": name, "value": value}, "reading": crystal.read()})
    return records, steps


def _disturbance(
    graph: LatentDAG, suite: Suite, setting: SuiteSetting, key: bytes
) -> dict[str, Any] | None:
    """Return the hidden disturbance, or None: nodes, values, and a value an intervention."""
    hidden = suite.hidden
    if hidden is None:
        return None
    # Whether it is disclosed changes nothing but what is told: matched episodes share the sequence.
    rng = stream(key, f"disturbance/{label_of(replace(suite, disclosed=False), setting)}")
    values = (-hidden.reach, 0.0, hidden.reach)
    sequence = [values[int(i)] for i in rng.integers(len(values), size=suite.budget)]
    # A cause of frequency comes first, then other properties: a larger count adds to a smaller one.
    own, causes = stream(key, "affected"), graph.parents(FREQUENCY)
    first = causes[int(own.integers(len(causes)))]
    others = [name for name in graph.nodes[:-1] if name != first]
    ranked = [first, *(others[int(i)] for i in own.permutation(len(others)))]
    nodes = [*([FREQUENCY] if hidden.frequency else []), *ranked][: hidden.count]
    return {"nodes": nodes, "values": list(values), "sequence": sequence}

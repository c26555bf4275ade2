"""One episode: everything random about it drawn once, as a value with two sides.

The public side is what the agent is told, the private side what the laboratory runs on; readings
come from the engine that grading replays, so building and replay cannot differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, NamedTuple

import numpy as np

from builder.graphs.graph import LatentDAG
from builder.release.attempts import Rejection
from builder.splits.seeds import stream
from builder.tracks.causalab.equations import (
    BASES,
    is_precise,
    sample_bases,
    sample_equations,
    sample_trace_bases,
)
from builder.tracks.causalab.plan import FREQUENCY, properties
from builder.tracks.causalab.suites import Suite, SuiteSetting
from builder.tracks.causalab.suites import label as label_of
from grader.laboratory.model import Crystal, Mode, Model

DISPLAY: Final[Mapping[str, str]] = {
    "density": "Density",
    "moisture": "Moisture",
    "ph": "pH",
    "temperature": "Temperature (°C)",
    "quantum_size": "Quantum Size",
    "radiation": "Radiation",
    "conductivity": "Conductivity",
    "pressure": "Pressure",
    FREQUENCY: "Resonance Frequency (Hz)",
}
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
    model = sample_equations(
        graph, suite.family, setting, stream(key, f"equations/{suite.family}/{setting}")
    )
    crystals = f"{setting}/{suite.crystals}"
    traced: list[Mapping[str, float]] = []
    trace: tuple[tuple[str, float], ...] = ()
    if suite.golden:
        source = stream(key, f"trace/{crystals}")
        traced = [sample_trace_bases(properties(graph), source) for _ in range(2)]
        trace = _trace(graph, source)
    controllable = _controllable(graph, fixed, stream(key, f"controllable/{setting}"))
    shown, manipulator = _evidence(graph, suite, setting, model, controllable, key)
    records = [*traced, *shown]
    reactor = _reactor(model, setting, stream(key, f"reactor/{crystals}"))
    disturbance = _disturbance(graph, suite, setting, key)
    names = properties(graph)
    seen = model.read(reactor)
    ends = {"low": float(BASES[0]), "high": float(BASES[1])}
    public = {
        "variables": [
            {"name": name, "display": DISPLAY[name], "controllable": name in controllable, **ends}
            for name in names
        ],
        "target": {"name": FREQUENCY, "display": DISPLAY[FREQUENCY]},
        "family": suite.family,
        "mode": mode,
        "frequency_may_be_parent": suite.acts,
        "shifts": disturbance["values"] if disturbance and suite.disclosed else None,
        "records": [model.read(bases) for bases in records],
        "chain": _replay_trace(Crystal(model, records[0], mode), trace) if trace else [],
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
        "records": [dict(bases) for bases in records],
        "manipulator": manipulator,
        "reactor": reactor,
        "disturbance": disturbance,
        "frequency": seen[FREQUENCY],
    }
    return EpisodeParts(public, private)


def _replay_trace(crystal: Crystal, trace: Sequence[tuple[str, float]]) -> list[dict[str, object]]:
    """Apply the settings of the trace to ``crystal``; return each with the reading after it."""
    steps: list[dict[str, object]] = []
    for name, value in trace:
        crystal.set(name, value)
        steps.append({"set": {"name": name, "value": value}, "reading": crystal.read()})
    return steps


def _evidence(
    graph: LatentDAG,
    suite: Suite,
    setting: SuiteSetting,
    model: Model,
    controllable: frozenset[str],
    key: bytes,
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Return the bases behind the records, and those of the manipulator's crystal. They are redrawn
    until they pin down a fixed property's effect. Raises ``Rejection`` after 60 draws."""
    crystals = f"{setting}/{suite.crystals}"
    shown, kept = stream(key, f"records/{crystals}"), stream(key, f"manipulator/{crystals}")
    names = properties(graph)
    settable = [name for name in names if name in controllable]
    for _ in range(EVIDENCE_DRAWS):
        records = [sample_bases(names, setting, shown) for _ in range(suite.observations)]
        manipulator = sample_bases(names, setting, kept)
        barred = len(settable) < len(names)
        if not barred or is_precise(model, settable, records, manipulator):
            return records, manipulator
    raise Rejection("no crystals that pin down what a fixed property does")


def _controllable(graph: LatentDAG, fixed: bool, rng: np.random.Generator) -> frozenset[str]:
    """Return the properties that can be set: all, or with ``fixed`` all but one (two of six)."""
    names = properties(graph)
    if not fixed:
        return frozenset(names)
    barred = rng.choice(len(names), 1 if len(names) < 6 else 2, replace=False)
    return frozenset(names) - {names[int(i)] for i in barred}


def _reactor(model: Model, setting: SuiteSetting, rng: np.random.Generator) -> dict[str, float]:
    """Return a reactor crystal's bases, target in range. Raises Rejection where none is found."""
    low, high = REACTOR_RANGES[setting]
    for _ in range(REACTOR_DRAWS):
        bases = sample_bases(model.nodes[:-1], setting, rng)
        if low <= model.read(bases)[model.nodes[-1]] <= high:
            return bases
    raise Rejection("no reactor crystal within the reactor's range")


def _trace(graph: LatentDAG, rng: np.random.Generator) -> tuple[tuple[str, float], ...]:
    """Return six (property, value): every property once in random order, then random ones again."""
    names = properties(graph)
    order = [names[int(i)] for i in rng.permutation(len(names))]
    order += [names[int(i)] for i in rng.integers(len(names), size=TRACE_STEPS - len(names))]
    return tuple((name, float(rng.integers(BASES[0], BASES[1] + 1))) for name in order)


def _disturbance(
    graph: LatentDAG, suite: Suite, setting: SuiteSetting, key: bytes
) -> dict[str, Any] | None:
    """Return the hidden disturbance, or None: ``nodes`` shifted, the three ``values``, and their
    ``sequence``, one for each intervention."""
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
    others = [name for name in properties(graph) if name != first]
    ranked = [first, *(others[int(i)] for i in own.permutation(len(others)))]
    nodes = [*([FREQUENCY] if hidden.frequency else []), *ranked][: hidden.count]
    return {"nodes": nodes, "values": list(values), "sequence": sequence}

"""Small episodes made by hand, for the tests of the laboratory and its grading."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from grader.laboratory.episode import Episode
from grader.laboratory.model import Crystal, Model, Term

DISPLAYS = {
    "density": "Density",
    "moisture": "Moisture",
    "ph": "pH",
    "temperatureC": "Temperature (°C)",
    "radiation": "Radiation",
    "pressure": "Pressure",
}
TARGET = "frequency"

Equations = Mapping[str, Sequence[tuple[str, float] | tuple[str, float, float]]]


def make_row(
    equations: Equations,
    *,
    base: float = 20.0,
    names: Sequence[str] | None = None,
    mode: str = "shift",
    family: str = "linear",
    records: int = 2,
    chain: Sequence[tuple[str, float]] = (),
    budget: int | None = None,
    uncontrollable: Sequence[str] = (),
    disturbance: Mapping[str, Any] | None = None,
    manipulator: Mapping[str, float] | None = None,
    opening: bool = True,
    frequency_may_be_parent: bool = False,
    seed: int = 1,
    task_id: str = "lab-0000000000000001",
) -> dict[str, Any]:
    """An episode over the nodes of ``equations``: child to (parent, linear[, quadratic])."""
    generator = random.Random(seed)
    mentioned = [*equations, *(term[0] for terms in equations.values() for term in terms)]
    names = list(names or dict.fromkeys(name for name in mentioned if name != TARGET))
    terms = {
        node: [
            {"parent": t[0], "linear": float(t[1]), "quadratic": float((*t, 0.0)[2])}
            for t in equations.get(node, ())
        ]
        for node in [*names, TARGET]
    }
    model = Model.make(
        names,
        TARGET,
        {
            n: [Term(t["parent"], t["linear"], t["quadratic"]) for t in ts]
            for n, ts in terms.items()
        },
        base,
    )

    def bases() -> dict[str, float]:
        return {name: float(generator.randint(0, 100)) for name in names}

    record_bases = [bases() for _ in range(records)]
    start = dict(manipulator) if manipulator else bases()
    reactor_bases = bases()
    reactor = model.read(reactor_bases)
    frequency = reactor.pop(TARGET)
    steps = []
    if chain:
        crystal = Crystal(model, record_bases[0], mode)
        for name, value in chain:
            crystal.set(name, value)
            steps.append({"set": {"name": name, "value": value}, "reading": crystal.read()})
    budget = 4 * len(names) if budget is None else budget
    if disturbance is not None and "sequence" not in disturbance:
        sequence = [generator.choice(disturbance["values"]) for _ in range(budget)]
        disturbance = {**disturbance, "sequence": sequence}
    return {
        "task_id": task_id,
        "public": {
            "variables": [
                {
                    "name": name,
                    "display": DISPLAYS.get(name, name),
                    "controllable": name not in uncontrollable,
                    "low": 0.0,
                    "high": 100.0,
                }
                for name in names
            ],
            "target": {"name": TARGET, "display": "Resonance Frequency (Hz)"},
            "family": family,
            "mode": mode,
            "frequency_may_be_parent": frequency_may_be_parent,
            "shifts": list(disturbance["values"]) if disturbance else [],
            "records": [model.read(record) for record in record_bases],
            "chain": steps,
            "opening": model.read(start) if opening else None,
            "reactor": reactor,
            "reactor_range": [-1e9, 1e9],
            "budget": budget,
            "tolerance": 5.0,
        },
        "private": {
            "suite": f"{len(names) + 1}nodes",
            "setting": "reference",
            "regime": f"{records}o{budget}i",
            "equations": terms,
            "base": base,
            "records": record_bases,
            "manipulator": start,
            "reactor": reactor_bases,
            "disturbance": dict(disturbance) if disturbance else None,
            "frequency": frequency,
        },
    }


CHAIN = {"moisture": [("density", 2.0)], TARGET: [("moisture", 3.0), ("density", 1.0)]}
"""density → moisture → frequency, and density → frequency."""


def chain_episode(**options: Any) -> Episode:
    return Episode.load(**make_row(CHAIN, **options))


def random_episode(seed: int, k: int = 5, **options: Any) -> Episode:
    """A random linear episode over ``k`` nodes with integer coefficients, the target a sink."""
    generator = random.Random(seed)
    names = list(DISPLAYS)[: k - 1]
    order = generator.sample(names, len(names))
    equations: dict[str, list[tuple[str, float]]] = {name: [] for name in names}
    for place, child in enumerate(order):
        for parent in order[:place]:
            if generator.random() < 0.5:
                equations[child].append((parent, float(generator.randint(1, 3))))
    parents = generator.sample(names, generator.randint(1, len(names)))
    equations[TARGET] = [(parent, float(generator.randint(1, 3))) for parent in parents]
    return Episode.load(**make_row(equations, names=names, seed=seed, **options))

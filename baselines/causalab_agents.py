"""Reference agents for the laboratory. They see what any agent sees: its JSON lines.

``solver`` experiments until one model explains everything, ``observer`` never experiments,
``random`` knows nothing, ``greedy-stop`` commits to the first model that fits.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

import numpy as np

from baselines.causalab_fit import Explanation, Notebook, explain
from grader.laboratory.hypothesis import write_hypothesis

Reply = Mapping[str, Any]


class Laboratory(Protocol):
    """A session as its JSON lines show it."""

    @property
    def public(self) -> Mapping[str, Any]:
        """What the first line says about the episode."""

    def ask(self, request: Mapping[str, Any]) -> Reply:
        """The reply to one request."""


PRECISE: Final = 8e-4
"""The solver experiments on until every coefficient's relative standard error is below this."""
CORRELATED: Final = 0.8
"""The observer joins two properties whose records correlate at least this much."""


def solver(laboratory: Laboratory) -> None:
    """Every property to both ends of its range until one sparse model is left and is precise.

    It also stops when a whole round settles no further node: more of the same will not. Linear: one setting a property, then more where something is in doubt. Quadratic: three
    settings a property, since a parabola needs three points.
    """
    public = laboratory.public
    notebook = Notebook(public)
    controllable = [entry for entry in public["variables"] if entry["controllable"]]
    left = int(public["budget"])
    rounds = 3 if notebook.quadratic else 1
    moved: dict[str, float] = {}
    turn = gained = known = 0
    while left and controllable:
        # What moved least at first has told least; it goes first in the next round.
        if turn == len(controllable):
            controllable.sort(key=lambda entry: moved[entry["name"]])
        entry = controllable[turn % len(controllable)]
        value = _level(notebook, entry, turn // len(controllable))
        before = notebook.last
        _experiment(laboratory, notebook, entry["name"], value)
        if before is not None and notebook.last is not None:
            name = entry["name"]
            moved.setdefault(name, abs(notebook.last[name] - before[name]))
        turn, left = turn + 1, left - 1
        if turn >= rounds * len(controllable) and not notebook.disturbed:
            found = explain(notebook)
            settled = found.settled(PRECISE)
            gained = turn if settled > known else gained
            known = max(known, settled)
            if settled == len(notebook.nodes) or turn - gained >= len(controllable):
                break
    _commit(laboratory, notebook, explain(notebook))


def _level(notebook: Notebook, entry: Mapping[str, Any], turn: int) -> float:
    """Far from where the property is at first, then the other end, then between."""
    low, high = float(entry["low"]), float(entry["high"])
    if turn == 0:
        assert notebook.last is not None
        middle = (low + high) / 2
        return low if notebook.last[entry["name"]] > middle else high
    if turn == 1:
        return high if notebook.setting(entry["name"]) == low else low
    steps = (0.5, 0.25, 0.75, 0.1, 0.9)
    return low + steps[(turn - 2) % len(steps)] * (high - low)


def observer(laboratory: Laboratory) -> None:
    """Frequency regressed on the properties of the records; correlated properties are joined."""
    public = laboratory.public
    notebook = Notebook(public)
    names, target, records = notebook.properties, notebook.target, public["records"]
    coefficients, base = np.zeros(len(names)), 0.0
    edges: list[tuple[str, str]] = []
    if records:
        values = np.array([[record[name] for name in names] for record in records])
        frequencies = np.array([record[target] for record in records])
        centred = values - values.mean(axis=0)
        coefficients = np.linalg.lstsq(centred, frequencies - frequencies.mean(), rcond=None)[0]
        base = float(frequencies.mean() - values.mean(axis=0) @ coefficients)
        edges = _correlated(names, centred)
    terms = {
        name: (float(c), 0.0) for name, c in zip(names, coefficients, strict=True) if abs(c) > 0.05
    }
    value = base + sum(float(c) * public["reactor"][n]
                       for n, c in zip(names, coefficients, strict=True))  # fmt: skip
    hypothesis = write_hypothesis(target, public["family"], edges, base, terms)
    _predict(laboratory, value, hypothesis)


def _correlated(names: list[str], centred: "np.ndarray[Any, Any]") -> list[tuple[str, str]]:
    """Pairs of strongly correlated properties, directed in the order of listing."""
    if len(centred) < 3:
        return []
    sizes = np.sqrt((centred**2).sum(axis=0))
    sizes[sizes == 0] = np.inf
    correlations = np.abs(centred.T @ centred) / np.outer(sizes, sizes)
    return [
        (names[i], names[j])
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if correlations[i, j] >= CORRELATED
    ]


def greedy_stop(laboratory: Laboratory) -> None:
    """One experiment at a time, and the first model that fits is taken for the truth."""
    public = laboratory.public
    notebook = Notebook(public)
    controllable = [entry for entry in public["variables"] if entry["controllable"]]
    left = int(public["budget"])
    turn = 0
    while left and controllable:
        entry = controllable[turn % len(controllable)]
        _experiment(laboratory, notebook, entry["name"], _level(notebook, entry, 0))
        turn, left = turn + 1, left - 1
        if all(found.feasible for found in explain(notebook).fits.values()):
            break
    _commit(laboratory, notebook, explain(notebook))


def random_agent(laboratory: Laboratory, rng: np.random.Generator) -> None:
    """A few random settings, a random graph and a random number within the reactor's range."""
    public = laboratory.public
    controllable = [entry for entry in public["variables"] if entry["controllable"]]
    for _ in range(int(rng.integers(public["budget"] + 1))):
        entry = controllable[int(rng.integers(len(controllable)))]
        value = round(float(rng.uniform(entry["low"], entry["high"])), 2)
        laboratory.ask({"op": "intervene", "name": entry["name"], "value": value})
    names, target = [entry["name"] for entry in public["variables"]], public["target"]["name"]
    order = [names[int(i)] for i in rng.permutation(len(names))] + [target]
    edges = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :] if rng.random() < 0.5]
    terms = {a: (float(rng.uniform(-3, 3)), 0.0) for a, b in edges if b == target}
    hypothesis = write_hypothesis(target, public["family"], edges, float(rng.uniform(0, 50)), terms)
    _predict(laboratory, float(rng.uniform(*public["reactor_range"])), hypothesis)


def _experiment(laboratory: Laboratory, notebook: Notebook, name: str, value: float) -> None:
    reply = laboratory.ask({"op": "intervene", "name": name, "value": value})
    notebook.add(name, value, reply["reading"])


def _commit(laboratory: Laboratory, notebook: Notebook, found: Explanation) -> None:
    """Predict by the fitted equation of frequency, and state the whole model."""
    public = laboratory.public
    equation = found.fits[notebook.target]
    base = equation.bases.get("frequency", 0.0)
    value = base
    for parent, (linear, quadratic) in equation.coefficients.items():
        shown = public["reactor"][parent]
        value += linear * shown + quadratic * shown * shown
    hypothesis = write_hypothesis(
        notebook.target, public["family"], found.edges, base, equation.coefficients
    )
    _predict(laboratory, value, hypothesis)


def _predict(laboratory: Laboratory, value: float, hypothesis: Mapping[str, Any]) -> None:
    low, high = laboratory.public["reactor_range"]
    laboratory.ask({"op": "predict", "value": min(max(value, low), high), "hypothesis": hypothesis})


AGENTS: Final[Mapping[str, Callable[[Laboratory], None]]] = {
    "solver": solver,
    "observer": observer,
    "greedy-stop": greedy_stop,
}
"""The agents that draw nothing at random, by baseline name."""

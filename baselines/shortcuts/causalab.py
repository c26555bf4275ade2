"""Shortcuts of the laboratory: a straight line through all that is seen, and a copied crystal."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from baselines.causalab.agents import Lines, predict
from baselines.causalab.host import in_laboratory
from baselines.solving import Solver
from grader.laboratory.hypothesis import write_hypothesis

Floats = NDArray[np.float64]

LEAST: Final = 0.25
"""A smaller coefficient is no edge."""


def least_squares(laboratory: Lines) -> None:
    """Properties in turn, to the far end of their range and then the other; every node regressed on
    all others; a coefficient above a threshold is an edge."""
    public = laboratory.public
    names, target = [entry["name"] for entry in public["variables"]], public["target"]["name"]
    nodes, free = [*names, target], [v for v in public["variables"] if v["controllable"]]
    readings = [] if public["opening"] is None else [[public["opening"][n] for n in nodes]]
    bases = [[np.nan] * len(names)] * len(readings)
    own = [np.nan] * len(names)
    for turn in range(public["budget"] if free else 0):
        entry = free[turn % len(free)]
        place, middle = names.index(entry["name"]), (entry["low"] + entry["high"]) / 2
        start = public["opening"][entry["name"]] if public["opening"] else middle
        up = (start <= middle) == (turn // len(free) % 2 == 0)
        own[place] = entry["high"] if up else entry["low"]
        reply = laboratory.ask({"op": "intervene", "name": entry["name"], "value": own[place]})
        readings.append([reply["reading"][node] for node in nodes])
        bases.append(list(own))
    records = [[record[node] for node in nodes] for record in public["records"]]
    seen, known = np.array(readings).reshape(-1, len(nodes)), np.array(bases)
    found = np.zeros((len(nodes), len(names)))
    for place in range(len(names)) if readings else ():
        unset = np.isnan(known[:, place])
        others = np.delete(seen[:, :-1], place, axis=1)
        left = seen[:, place] - np.where(unset, 0.0, known[:, place])
        fitted = _fit(np.column_stack([others, unset]), left)[:-1]
        found[place] = np.insert(fitted, place, 0.0)
    rows = np.array([*records, *readings]).reshape(-1, len(nodes))
    *slopes, base = _fit(np.column_stack([rows[:, :-1], np.ones(len(rows))]), rows[:, -1])
    found[-1] = slopes
    edges = _edges(found, nodes)
    terms = {a: (found[-1, names.index(a)], 0.0) for a, b in edges if b == target}
    value = base + sum(c * public["reactor"][n] for n, c in zip(names, slopes, strict=True))
    predict(laboratory, value, write_hypothesis(target, public["family"], edges, base, terms))


def _fit(rows: Floats, left: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(rows, left, rcond=None)[0])


def _edges(found: Floats, nodes: list[str]) -> list[tuple[str, str]]:
    """The coefficients (node, parent) that are large, largest first, without a circle."""
    edges: list[tuple[str, str]] = []
    for place in np.argsort(-np.abs(found), axis=None):
        node, parent = (int(i) for i in np.unravel_index(place, found.shape))
        if abs(found[node, parent]) > LEAST and nodes[parent] not in _after(edges, nodes[node]):
            edges.append((nodes[parent], nodes[node]))
    return edges


def _after(edges: list[tuple[str, str]], start: str) -> set[str]:
    """``start`` and what comes after it."""
    found = {start}
    for _ in edges:
        found |= {b for a, b in edges if a in found}
    return found


def mimic(laboratory: Lines) -> None:
    """Makes the manipulator show what the reactor shows, as far as the budget goes, and predicts
    the frequency that it then has; no edge."""
    public = laboratory.public
    target = public["target"]["name"]
    seen = public["opening"] or {**public["reactor"], target: 0.0}
    for _ in range(public["budget"]):
        off = {v["name"]: public["reactor"][v["name"]] - seen[v["name"]]
               for v in public["variables"] if v["controllable"]}  # fmt: skip
        if not off:
            break
        name = max(off, key=lambda one: abs(off[one]))
        entry = next(v for v in public["variables"] if v["name"] == name)
        value = min(max(public["reactor"][name], entry["low"]), entry["high"])
        seen = laboratory.ask({"op": "intervene", "name": name, "value": value})["reading"]
    empty = write_hypothesis(target, public["family"], [], None, {})
    predict(laboratory, seen[target], empty)


SHORTCUTS: Final[tuple[tuple[str, str, str, Solver], ...]] = (
    ("causalab", "least-squares", "sets everything in turn, fits straight lines, cuts at a quarter",
     in_laboratory("least-squares", lambda _: least_squares)),
    ("causalab", "mimic", "makes the manipulator look like the reactor and reads it",
     in_laboratory("mimic", lambda _: mimic)),
)  # fmt: skip

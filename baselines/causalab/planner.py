"""The planner as an agent: the policy by which noisy episodes are judged, in one session."""

import numpy as np

from baselines.causalab.agents import Lines, predict, solver
from builder.causalab.noisy.notebook import MIDDLE, Told
from builder.causalab.noisy.planner import Planner
from builder.causalab.noisy.posterior import SCALE, Belief, pairs_of
from grader.laboratory.equation import product_of
from grader.laboratory.hypothesis import write_hypothesis

Edge = tuple[str, str]


def planner(laboratory: Lines) -> None:
    """Sets what teaches most, and states what it then holds to be more probable than not.

    Where readings have no errors it is the solver.
    """
    public = laboratory.public
    if "noise" not in public:
        solver(laboratory)
        return
    told = Told.of(public)
    mind = Planner(told, 1)
    nodes = (*told.names, public["target"]["name"])
    for _ in range(told.budget):
        place, value = mind.choose()
        request = {"op": "intervene", "name": told.names[place[0]], "value": float(value[0])}
        reading = laboratory.ask(request)["reading"]
        mind.see(place, value, np.array([[reading[node]] for node in nodes]))
    belief = mind.belief
    edges = _edges(belief, nodes)
    causes = [parent for parent, node in edges if node == nodes[-1]]
    base, terms, products = _equation(told, belief, causes)
    stated = write_hypothesis(nodes[-1], public["family"], edges, base, terms, products)
    predict(laboratory, float(belief.predicted[0]), stated)


def _edges(belief: Belief, nodes: tuple[str, ...]) -> list[Edge]:
    """What is more probable than not; the least probable edge of a circle is left out."""
    likely = sorted(
        (-chance, node, parent)
        for (node, parent, _), chance in np.ndenumerate(belief.edges)
        if chance > 0.5
    )
    before: dict[int, set[int]] = {i: {i} for i in range(len(nodes))}
    found = []
    for _, node, parent in likely:
        if node not in before[parent]:
            found.append((nodes[parent], nodes[node]))
            for known in before.values():
                if node in known:
                    known |= before[parent]
    return found


def _equation(
    told: Told, belief: Belief, causes: list[str]
) -> tuple[float, dict[str, tuple[float, float]], dict[str, float]]:
    """Frequency's base, terms and products in the properties' own units."""
    count, names = len(told.names), told.names
    bends = [float(value) for value in belief.bends[:, 0]]
    base = bends[0]
    terms = dict.fromkeys(causes, (0.0, 0.0))
    for place, name in enumerate(names):
        if name in causes:
            slope, bend = bends[1 + place], bends[1 + count + place]
            square = bend / SCALE**2
            terms[name] = slope / SCALE - 2 * square * MIDDLE, square
            base += square * MIDDLE**2 - slope / SCALE * MIDDLE
    products = {}
    for bend, (i, j) in zip(bends[1 + 2 * count :], pairs_of(count), strict=True):
        first, second = names[i], names[j]
        if first in causes and second in causes:
            size = bend / SCALE**2
            products[product_of((first, second))] = size
            for name in (first, second):
                terms[name] = terms[name][0] - size * MIDDLE, terms[name][1]
            base += size * MIDDLE**2
    return base, terms, products

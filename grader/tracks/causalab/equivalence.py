"""How many graphs the interventions made leave open: the interventional equivalence class.

Shift and pin interventions keep a node's parents, so the class is the one for general
interventions (Yang, Katcoff & Uhler 2018): two graphs are equivalent when they have the same
skeleton and v-structures after every intervention is added as a node of its own that points at its
target. With observational data and single targets that says: same skeleton, same v-structures,
and the same orientation of every edge that touches a target (the criterion of Hauser & Bühlmann
2012, so hard interventions give the same class).
"""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from typing import Final

Edge = tuple[int, int]

MAX_NODES: Final = 5
"""Classes are enumerated up to here."""


def class_size(
    nodes: Sequence[str], edges: Collection[tuple[str, str]], targets: Collection[str]
) -> int | None:
    """The number of directed acyclic graphs equivalent to ``edges`` given single-node ``targets``.

    ``None`` beyond :data:`MAX_NODES` nodes.
    """
    if len(nodes) > MAX_NODES:
        return None
    place = {node: index for index, node in enumerate(nodes)}
    return _class_size(
        frozenset((place[parent], place[child]) for parent, child in edges),
        frozenset(place[target] for target in targets),
    )


@lru_cache(maxsize=4096)
def _class_size(edges: frozenset[Edge], targets: frozenset[int]) -> int:
    skeleton = frozenset(frozenset(edge) for edge in edges)
    colliders = _v_structures(edges, skeleton)
    fixed = {edge for edge in edges if not targets.isdisjoint(edge)}
    fixed |= {(a, c) for a, _, c in colliders} | {(b, c) for _, b, c in colliders}
    free = sorted(edges - fixed)
    count = 0
    for choice in range(1 << len(free)):
        turned = {(b, a) if choice >> k & 1 else (a, b) for k, (a, b) in enumerate(free)}
        graph = frozenset(fixed | turned)
        if _acyclic(graph) and _v_structures(graph, skeleton) == colliders:
            count += 1
    return count


def _v_structures(
    edges: frozenset[Edge], skeleton: frozenset[frozenset[int]]
) -> frozenset[tuple[int, int, int]]:
    """(a, b, c) with a < b for every a → c ← b whose ends are not adjacent."""
    parents: dict[int, list[int]] = {}
    for parent, child in edges:
        parents.setdefault(child, []).append(parent)
    return frozenset(
        (a, b, child)
        for child, found in parents.items()
        for a, b in combinations(sorted(found), 2)
        if frozenset((a, b)) not in skeleton
    )


def _acyclic(edges: Iterable[Edge]) -> bool:
    sorter = TopologicalSorter[int]()
    for parent, child in edges:
        sorter.add(child, parent)
    try:
        sorter.prepare()
    except CycleError:
        return False
    return True

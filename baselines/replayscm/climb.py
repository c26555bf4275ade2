"""Hill climbing with a tabu list over acyclic graphs, on scores computed beforehand.

pgmpy searches (Koller and Friedman 2009, section 18.4.3); its own scores know no interventions, so
the scores are ours.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pgmpy.base import DAG
from pgmpy.causal_discovery import ExpertKnowledge, HillClimbSearch
from pgmpy.structure_score import BaseStructureScore

from builder.causal.bits import members
from builder.replayscm.determinacy import Setting
from builder.replayscm.tables import sets_of

Floats = NDArray[np.float64]


class _Stored(BaseStructureScore):  # type: ignore[misc]
    """Local scores looked up in a table of shape (variables, candidate parent sets)."""

    def __init__(self, names: pd.DataFrame, scores: Floats) -> None:
        super().__init__(names)
        self._scores = scores
        self._index = {int(mask): k for k, mask in enumerate(sets_of(len(scores)).masks)}

    def _local_score(self, variable: int, parents: tuple[int, ...]) -> float:
        return float(self._scores[variable, self._index[sum(1 << p for p in parents)]])


def climb(
    setting: Setting, scores: Floats, tabu: int, moves: int, start: Mapping[int, int]
) -> dict[int, int]:
    """Child to its parents (as bits) in the graph where the search ends, after ``moves`` at most.

    It begins at ``start``, a graph of the same form (a child left out has no parents). None of the
    last ``tabu`` moves is undone, and only edges that the disclosure allows are
    considered. Variables are numbers, so that equal gains are told apart in the same order in every
    process.
    """
    n = len(scores)
    allowed = {
        (parent, child)
        for child in setting.allowed
        for parent in range(n)
        if setting.allowed[child] >> parent & 1
    }
    forbidden = {(a, b) for a in range(n) for b in range(n) if a != b} - allowed
    begin = DAG()
    begin.add_nodes_from(range(n))
    begin.add_edges_from((p, child) for child, mask in start.items() for p in members(mask))
    names = pd.DataFrame(np.zeros((2, n)), columns=range(n))
    search = HillClimbSearch(
        scoring_method=_Stored(names, scores),
        tabu_length=tabu,
        max_iter=moves,
        max_indegree=max(map(len, sets_of(n).members)),
        expert_knowledge=ExpertKnowledge(forbidden_edges=forbidden),
        return_type="dag",
        show_progress=False,
        start_dag=begin,
    )
    search.fit(names)
    graph = dict.fromkeys(setting.allowed, 0)
    for parent, child in search.causal_graph_.edges():
        graph[child] |= 1 << parent
    return graph

"""Hill climbing with a tabu list over acyclic graphs, on scores computed beforehand.

pgmpy searches (Koller and Friedman 2009, section 18.4.3); its own scores know no interventions, so
the scores are ours.
"""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pgmpy.causal_discovery import ExpertKnowledge, HillClimbSearch
from pgmpy.structure_score import BaseStructureScore

from builder.replayscm.make.determinacy import Setting
from builder.replayscm.make.tables import sets_of

TABU: Final = 3
"""The search undoes none of its last so many moves. A longer list forbids the deletions that undo
an early wrong edge in graphs as small as these, and ends at worse scores."""

Floats = NDArray[np.float64]


class _Stored(BaseStructureScore):  # type: ignore[misc]
    """Local scores looked up in a table of shape (variables, candidate parent sets)."""

    def __init__(self, names: pd.DataFrame, scores: Floats) -> None:
        super().__init__(names)
        self._scores = scores
        self._index = {int(mask): k for k, mask in enumerate(sets_of(len(scores)).masks)}

    def _local_score(self, variable: int, parents: tuple[int, ...]) -> float:
        return float(self._scores[variable, self._index[sum(1 << p for p in parents)]])


def climb(setting: Setting, scores: Floats) -> dict[int, int]:
    """Child to its parents (as bits) in the graph where the search ends.

    Only edges that the disclosure allows are considered. Variables are numbers, so that equal
    gains are told apart in the same order in every process.
    """
    n = len(scores)
    allowed = {
        (parent, child)
        for child in setting.endogenous
        for parent in range(n)
        if setting.allowed[child] >> parent & 1
    }
    forbidden = {(a, b) for a in range(n) for b in range(n) if a != b} - allowed
    names = pd.DataFrame(np.zeros((2, n)), columns=range(n))
    search = HillClimbSearch(
        scoring_method=_Stored(names, scores),
        tabu_length=TABU,
        max_indegree=max(len(members) for members in sets_of(n).members),
        expert_knowledge=ExpertKnowledge(forbidden_edges=forbidden),
        return_type="dag",
        show_progress=False,
    )
    search.fit(names)
    graph = dict.fromkeys(setting.endogenous, 0)
    for parent, child in search.causal_graph_.edges():
        graph[child] |= 1 << parent
    return graph

"""``structure+dsl``: a score-based graph search proposes parents, an exact fitter the formulas.

Hill climbing (:mod:`baselines.replayscm.climb`) on the BDeu score of Heckerman, Geiger and
Chickering (1995), with rows left out where the child was set by an intervention (Cooper and Yoo
1999). A learned parent set that contradicts the rows is replaced by the best-scoring one that
fits, in the best-scoring order: like the fallback stages of the paper's bnlearn+DSL row.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from baselines.replayscm.problem import Puzzle, read_puzzle
from baselines.replayscm.symbolic import as_answer, other_program
from builder.replayscm.make.determinacy import Setting, completable_pairs, root_settings
from builder.replayscm.make.search import Found, best_order, fit
from builder.replayscm.make.tables import Rows, patterns, sets_of
from grader.shape import Task

SAMPLE_SIZE: Final = 1.0
"""Equivalent sample size of the BDeu prior."""

Floats = NDArray[np.float64]


def structure_and_formulas(task: Task) -> dict[str, Any]:
    """The answer to one task; an Alternative-SCM task needs no structure to be proposed."""
    puzzle = read_puzzle(task)
    if puzzle.reference is not None:
        return other_program(puzzle)
    scores = bdeu(puzzle.rows)
    settings = [puzzle.setting] if puzzle.setting is not None else list(root_settings(puzzle.n))
    proposals = [found for setting in settings if (found := _propose(puzzle, setting, scores))]
    best = max(proposals, key=lambda proposal: proposal[1], default=(None, 0.0))
    return as_answer(task, best[0])


def bdeu(rows: Rows) -> Floats:
    """BDeu of every variable over every candidate parent set, shape (n, sets)."""
    n = rows.values.shape[1]
    sets = sets_of(n)
    pattern = patterns(rows)
    result = np.zeros((n, len(sets.masks)))
    width = 1 << max(len(members) for members in sets.members)
    offsets = np.arange(len(sets.masks)) * width
    cells = np.array([1 << len(members) for members in sets.members], dtype=np.float64)
    prior, half = SAMPLE_SIZE / cells, SAMPLE_SIZE / (2 * cells)
    for v in range(n):
        counts = []
        for value in (0, 1):
            chosen = ~rows.clamped[:, v] & (rows.values[:, v] == value)
            places = (pattern[chosen] + offsets).ravel()
            counts.append(
                np.bincount(places, minlength=width * len(offsets)).reshape(len(offsets), width)
            )
        # Patterns that never occur contribute nothing, those that a set does not have neither.
        terms = gammaln(prior)[:, None] - gammaln(prior[:, None] + counts[0] + counts[1])
        terms += sum(gammaln(half[:, None] + c) - gammaln(half)[:, None] for c in counts)
        result[v] = terms.sum(axis=1)
    return result


def _propose(puzzle: Puzzle, setting: Setting, scores: Floats) -> tuple[Found, float] | None:
    """Formulas fitted to a learned graph, and its score.

    Parents that cannot fit are replaced by the best-scoring acyclic choice of ones that do.
    """
    pairs = completable_pairs(puzzle.tables, setting)
    if any(not pairs[v].any() for v in setting.endogenous):
        return None
    from baselines.replayscm.climb import climb  # seconds of imports that other solvers do without

    graph = climb(setting, scores)
    sets = sets_of(puzzle.n)
    index = {int(mask): k for k, mask in enumerate(sets.masks)}
    learned = {v: index[graph[v]] for v in setting.endogenous}
    if not all(pairs[v, k] for v, k in learned.items()):
        fallback = best_order(setting, {
            v: [
                (int(sets.masks[k]), -float(scores[v, k]), int(k))
                for k in sorted(np.flatnonzero(pairs[v]), key=lambda k: -scores[v, k])
            ]
            for v in setting.endogenous
        })  # fmt: skip
        if fallback is None:
            return None
        learned = fallback
    choices = {v: fit(puzzle.tables, v, k) for v, k in learned.items()}
    roots = tuple(v for v in range(puzzle.n) if setting.roots >> v & 1)
    total = sum(choice.size for choice in choices.values())
    score = float(sum(scores[v, k] for v, k in learned.items()))
    return Found(roots, choices, total), score

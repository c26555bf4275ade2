"""Direct, inductive and deductive questions with their truths (CCR Definitions 3.4 and 3.5).

Quantities compose by products over a cut tree, and in linear contexts by sums: TE = NDE + NIE for
every mediator (Example 3.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from builder.splits.seeds import random_order
from builder.tracks.ccr.model import CutTree, Pair
from builder.tracks.ccr.plan import Verdict
from builder.tracks.ccr.quantities import MEDIATED
from builder.tracks.ccr.text import ListedQuantity
from grader.tracks.ccr.algorithm import paths


def direct_quantities(tree: CutTree, rng: np.random.Generator) -> list[ListedQuantity]:
    """Return the six quantities of a direct Boolean task, in random order: PNS of two local pairs
    and the global one, PN and PS of a random pair, ATE of another draw."""
    local = random_order(rng, tree.local_pairs)[:2]
    asked = [ListedQuantity("pns", pair) for pair in (*local, tree.global_pair)]
    one, other = (tree.pairs[k] for k in rng.integers(0, len(tree.pairs), 2))
    asked += [ListedQuantity(name, one) for name in ("pn", "ps")]
    return random_order(rng, [*asked, ListedQuantity("ate", other)])


_ROUNDING: Final = 0.01
"""Relative differences below are rounding of printed givens; a contradiction is 1/4 or more."""


Key = TypeVar("Key", Pair, ListedQuantity)


@dataclass(frozen=True, slots=True)
class Deduction(Generic[Key]):
    """A deductive question and its right answer. ``givens`` map pairs (of sums: quantities) to the
    values printed for them, which may be altered. ``value`` is None unless the verdict is it."""

    givens: Mapping[Key, Fraction]
    target: Key
    verdict: Verdict
    value: Fraction | None


def deduce(
    tree: CutTree,
    values: Mapping[Pair, Fraction],
    verdict: Verdict,
    rng: np.random.Generator,
    *,
    bounded: bool,
) -> Deduction[Pair]:
    """Return a question about a local value with the wanted verdict; of values that may exceed 1
    (not ``bounded``) ``inconsistent`` takes three components. As often, more than needed is given
    and agrees, so that the pattern of givens does not tell a contradiction."""
    if verdict == "value":
        if len(tree.components) > 2 and rng.random() < 0.5:
            return _redundant(tree, values, Fraction(1), rng)
        path = _path(tree, 2, rng)
        edges = list(pairwise(path))
        target = edges.pop(int(rng.integers(len(edges))))
        givens = _values_at(values, [tree.global_pair, *edges])
        return Deduction(givens, target, verdict, values[target])
    if verdict == "insufficient":
        path = _path(tree, min(3, len(tree.components)), rng)
        edges = list(pairwise(path))
        first, second = sorted(rng.permutation(len(edges))[:2].tolist())
        target = edges[first if rng.random() < 0.5 else second]
        kept = [edge for k, edge in enumerate(edges) if k not in (first, second)]
        return Deduction(_values_at(values, [tree.global_pair, *kept]), target, verdict, None)
    if bounded and (len(tree.components) < 3 or rng.random() < 0.5):
        found = _beyond_one(tree, values, rng)
        if found is not None:
            return found
    return _contradiction(tree, values, rng)


def compose(
    tree: CutTree, values: Mapping[Pair, Fraction], verdict: Verdict, rng: np.random.Generator
) -> Deduction[Pair]:
    """Return a question about the global value, local ones given (Definition 3.4), with the wanted
    verdict. Beside all adjacent pairs a composition agrees or contradicts, so that the pattern of
    givens tells neither. ``inconsistent`` takes three components."""
    edges, whole = list(pairwise(tree.nodes)), tree.global_pair
    if verdict == "insufficient":
        return Deduction(_values_at(values, _without_one(edges, rng)), whole, verdict, None)
    if verdict == "value" and (len(edges) < 3 or rng.random() < 0.5):
        overlap = len(edges) > 2 and rng.random() < 0.5
        pairs = _overlapping(tree, rng) if overlap else list(pairwise(_path(tree, 2, rng)))
        return Deduction(_values_at(values, pairs), whole, verdict, values[whole])
    k = int(rng.integers(len(edges) - 1))
    joined = (edges[k][0], edges[k + 1][1])
    if verdict == "value":
        return Deduction(_values_at(values, [*edges, joined]), whole, verdict, values[whole])
    factor = Fraction(int(rng.integers(45, 75)), 100)
    if rng.random() < 0.5 and values[joined] / factor < 1:
        factor = 1 / factor
    givens = {**_values_at(values, edges), joined: factor * values[joined]}
    return Deduction(givens, whole, verdict, None)


def _without_one(edges: Sequence[Pair], rng: np.random.Generator) -> list[Pair]:
    """Return adjacent pairs without one, half of the time with a join (a, c) of two left."""
    gone = int(rng.integers(len(edges)))
    kept = [edge for k, edge in enumerate(edges) if k != gone]
    joins = [(a[0], b[1]) for a, b in pairwise(kept) if a[1] == b[0]]
    if joins and rng.random() < 0.5:
        kept.append(joins[int(rng.integers(len(joins)))])
    return kept


def _overlapping(tree: CutTree, rng: np.random.Generator) -> list[Pair]:
    """Return a pair from the root and one to the leaf that overlap, and the pair they share."""
    low = int(rng.integers(1, len(tree.nodes) - 2))
    high = int(rng.integers(low + 1, len(tree.nodes) - 1))
    (root, first, last, leaf) = (tree.nodes[k] for k in (0, low, high, -1))
    return [(root, last), (first, leaf), (first, last)]


def _values_at(values: Mapping[Pair, Fraction], pairs: Sequence[Pair]) -> dict[Pair, Fraction]:
    return {pair: values[pair] for pair in pairs}


def _path(tree: CutTree, least: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Return a random path of the cut tree from root to leaf with at least ``least`` edges."""
    long_enough = [path for path in paths(tree.nodes, tree.global_pair) if len(path) > least]
    return long_enough[int(rng.integers(len(long_enough)))]


def _beyond_one(
    tree: CutTree, values: Mapping[Pair, Fraction], rng: np.random.Generator
) -> Deduction[Pair] | None:
    """Return a question whose missing local value would exceed 1, None if the global one would."""
    edges = list(pairwise(_path(tree, 2, rng)))
    target = edges.pop(int(rng.integers(len(edges))))
    rest = prod((values[edge] for edge in edges), start=Fraction(1))
    raised = rest * Fraction(int(rng.integers(130, 201)), 100)
    if raised >= 1:
        return None
    givens = {tree.global_pair: raised, **_values_at(values, edges)}
    return Deduction(givens, target, "inconsistent", None)


def _contradiction(
    tree: CutTree, values: Mapping[Pair, Fraction], rng: np.random.Generator
) -> Deduction[Pair]:
    """Return a question in which two neighbouring local values and their composition disagree, or
    of two components, whose values are below 1, one with a whole that is larger than its part."""
    if len(tree.components) > 2:
        return _redundant(tree, values, Fraction(int(rng.integers(45, 75)), 100), rng)
    low, other = sorted(tree.local_pairs, key=lambda pair: values[pair])
    givens = {tree.global_pair: Fraction(135, 100) * values[low], low: values[low]}
    return Deduction(givens, other, "inconsistent", None)


def _redundant(
    tree: CutTree, values: Mapping[Pair, Fraction], factor: Fraction, rng: np.random.Generator
) -> Deduction[Pair]:
    """Return a question with the whole, all adjacent pairs but one end, and a composition of two.
    That one is multiplied by ``factor``, which is a contradiction unless it is 1."""
    edges = list(pairwise(tree.nodes))
    target = edges.pop(0) if rng.random() < 0.5 else edges.pop()
    k = int(rng.integers(len(edges) - 1))
    first, second = edges[k], edges[k + 1]
    whole = (first[0], second[1])
    givens = {**_values_at(values, [tree.global_pair, *edges]), whole: factor * values[whole]}
    if factor != 1:
        return Deduction(givens, target, "inconsistent", None)
    return Deduction(givens, target, "value", values[target])


def deduce_sum(
    asked: Sequence[ListedQuantity],
    values: Mapping[ListedQuantity, Fraction],
    verdict: Verdict,
    rng: np.random.Generator,
    *,
    inductive: bool,
) -> Deduction[ListedQuantity]:
    """Return a question about the TE (``inductive``), or an NDE or NIE, with the wanted verdict.
    ``asked`` are the TE, then NDE and NIE by mediator. Where both mediators' parts are
    given, as often as not they agree on the TE, else those of one are altered by one factor."""
    whole, *parts = asked
    own, other = ([*parts[k : k + 2]] for k in rng.permutation(2) * 2)
    target, beside = (own[k] for k in rng.permutation(2))
    single, other_single, third = (int(rng.integers(n)) for n in (2, 2, 3))
    if inductive:
        target, enough, everything = whole, [own], [*own, *other]
        lacking = [[own[single], other[other_single]]]
    else:
        enough, everything = [[whole, beside], [*other, beside]], [whole, beside, *other]
        lacking = [[whole, other[single]], [beside, other[single]], [whole, *other]]
    if verdict == "insufficient":
        given = lacking[third % len(lacking)]
    elif verdict == "value" and rng.random() < 0.5:
        given = enough[single % len(enough)]
    else:
        given = everything
    factor = Fraction(int(rng.integers(45, 75)), 100)
    factor = 1 / factor if rng.random() < 0.5 else factor
    altered = other if verdict == "inconsistent" else []
    givens = {one: values[one] * (factor if one in altered else 1) for one in given}
    return Deduction(givens, target, verdict, values[target] if verdict == "value" else None)


def check_sum(
    givens: Mapping[ListedQuantity, Fraction], target: ListedQuantity
) -> tuple[Verdict, float | None]:
    """Return the verdict, and the value or None, by linear algebra: the second derivation of sums.
    The unknowns are the TE and each mediator's NDE, and an NIE is the TE less the NDE."""
    paths = sorted({one.path for one in (*givens, target) if one.measure in MEDIATED})

    def row(one: ListedQuantity) -> list[float]:
        """Return the coefficients of a quantity in the unknowns."""
        share = {"te": 0.0, "nde": 1.0, "nie": -1.0}[one.measure]
        return [float(one.measure != "nde"), *(share * (path == one.path) for path in paths)]

    sizes = np.array([float(value) for value in givens.values()])
    slack = _ROUNDING * float(np.abs(sizes).min())
    verdict, value, _ = _solve(np.array([*map(row, givens)]), sizes, np.array(row(target)), slack)
    return verdict, value


def _solve(
    matrix: NDArray[np.floating],
    sizes: NDArray[np.floating],
    asked: NDArray[np.floating],
    slack: float,
) -> tuple[Verdict, float | None, NDArray[np.floating]]:
    """Return whether the equations ``matrix @ unknowns = sizes`` agree up to ``slack`` and
    determine ``asked @ unknowns``, that value or None, and its combination of the equations."""
    solution, *_ = np.linalg.lstsq(matrix, sizes, rcond=None)
    combination, *_ = np.linalg.lstsq(matrix.T, asked, rcond=None)
    if np.abs(matrix @ solution - sizes).max() > slack:
        return "inconsistent", None, combination
    if np.abs(matrix.T @ combination - asked).max() > 1e-9:
        return "insufficient", None, combination
    return "value", float(asked @ solution), combination


def check_deduction(
    nodes: Sequence[str], givens: Mapping[Pair, Fraction], target: Pair, *, bounded: bool
) -> tuple[Verdict, float | None]:
    """Return the verdict, and the value or None, by linear algebra: the second derivation. Each
    given is one equation in the logarithms of the adjacent pairs' absolute values. Signs are
    equations modulo two, which a chain of nonzero values always solves once sizes agree."""
    place = {name: k for k, name in enumerate(nodes)}

    def row(pair: Pair) -> list[float]:
        """Return 1 for each adjacent pair that ``pair`` spans, 0 for the others."""
        return [float(place[pair[0]] <= k < place[pair[1]]) for k in range(len(nodes) - 1)]

    matrix = np.array([row(pair) for pair in givens])
    sizes = np.array([np.log(abs(float(value))) for value in givens.values()])
    verdict, logarithm, combination = _solve(matrix, sizes, np.array(row(target)), _ROUNDING)
    if logarithm is None:
        return verdict, None
    value = float(np.exp(logarithm))
    if bounded and value > 1 + _ROUNDING:
        return "inconsistent", None
    used = zip(givens.values(), combination, strict=True)
    negative = sum(value < 0 for value, c in used if round(c) % 2)
    return "value", -value if negative % 2 else value

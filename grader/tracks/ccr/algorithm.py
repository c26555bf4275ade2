"""From yes/no answers to the estimates of a pair, by the units' exact weights, and from these to
the external and internal errors of every quantity: Algorithm 1 of the paper, and its thresholds.

The PNS is the mean of ``y1 (1 - y0)`` on the same unit: the joint event, which a difference of
means equals only without monotonicity violations. ``PN = PNS / P(y1)`` and ``PS = PNS / P(not y0)``
hold without confounding (CCR Eq. B.7, B.8).
"""

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import accumulate, combinations, compress, pairwise
from typing import Any, Final, Literal

RUNGS: Final = ("factual", "do_true", "do_false")
"""The three answers to every case: association, and the two interventions."""

INVALID: Final = -1
"""An entry that is neither yes nor no."""

Answers = dict[str, list[int]]
"""Rung to one entry a unit: 1 yes, 0 no, ``INVALID``."""

MEASURES: Final = ("pns", "pn", "ps", "ate")
MAX_INVALID: Final = 0.1
"""The share of invalid answers (of answers, not of weight) beyond which there is no estimate."""

RESAMPLES: Final = 1000


def weights_of(target: Mapping[str, Any]) -> list[float]:
    """Return each unit's weight, in the order of cases; a stratum's is shared equally."""
    weights = target["weights"]
    if "numerators" in weights:
        denominator = weights["denominator"]
        return [numerator / denominator for numerator in weights["numerators"]]
    cells = cells_of(target)
    sizes = Counter(cells)
    share = {cell: float(Fraction(text) / sizes[cell]) for cell, text in weights["cells"].items()}
    return [share[cell] for cell in cells]


def cells_of(target: Mapping[str, Any]) -> list[str]:
    """Return the stratum of every unit: its right answers under do(true) and do(false)."""
    return [*map(str.__add__, target["answers"]["do_true"], target["answers"]["do_false"])]


def exact_of(target: Mapping[str, Any]) -> dict[str, float]:
    """Return the exact value of each measure that a pair's truth states, rounded to a float."""
    return {name: float(Fraction(text)) for name, text in target["exact"].items()}


def estimate(target: Mapping[str, Any], sets: Sequence[Answers | None]) -> dict[str, float]:
    """Return the figures of the answer sets of one pair, by their names in its score row.

    ``target`` is the pair's truth, and a set of ``None`` a replicate without a usable answer.
    ``accuracy_<rung>`` is the unweighted share of right answers. Invalid answers are neither yes
    nor no: they are wrong, and enter the estimates as the opposite of the right ones.
    ``estimate_<measure>`` are means over the ``replicates``, and ``monotonicity_violations`` is the
    weighted share of units with y1 = 0 and y0 = 1; they are absent beyond a share of
    ``MAX_INVALID`` invalid answers.
    """
    truth, weights = _truth_of(target), weights_of(target)
    units, count = len(weights), len(sets)
    total = 3 * units * count
    given = [_fill_invalid(truth, answers) for answers in sets]
    unread = {
        rung: sum(answers[rung].count(INVALID) if answers else units for answers in sets)
        for rung in RUNGS
    }
    invalid = sum(unread.values())
    figures: dict[str, float] = {}
    for rung in RUNGS:
        right = sum(sum(map(int.__eq__, answers[rung], truth[rung])) for answers in given)
        figures[f"accuracy_{rung}"] = right / (units * count)
    figures |= {"answers": total, "invalid_answers": invalid, "replicates": count}
    figures["unreadable_factual"] = unread["factual"]
    if invalid > MAX_INVALID * total:
        return figures
    found = [_measures(weights, answers) for answers in given]
    names = {name: f"estimate_{name}" for name in MEASURES}
    for name, figure in {**names, "violations": "monotonicity_violations"}.items():
        figures[figure] = math.fsum(measures[name] for measures in found) / count
    return figures


def _truth_of(target: Mapping[str, Any]) -> Answers:
    return {rung: [int(bit) for bit in target["answers"][rung]] for rung in RUNGS}


def _fill_invalid(truth: Answers, answers: Answers | None) -> Answers:
    """Return the answers, every invalid one (all, without a set) the opposite of the right one."""
    given = answers or {rung: [INVALID] * len(truth[rung]) for rung in RUNGS}
    return {
        rung: [1 - t if a == INVALID else a for a, t in zip(given[rung], truth[rung], strict=True)]
        for rung in RUNGS
    }


def _measures(weights: Sequence[float], answers: Answers) -> dict[str, float]:
    """Return the estimate of every measure from one answer set, and ``violations``: the weight of
    units with y1 = 0 and y0 = 1."""
    high, low = answers["do_true"], answers["do_false"]
    pns = math.fsum(compress(weights, map(int.__gt__, high, low)))
    above = math.fsum(compress(weights, high))
    below = math.fsum(compress(weights, low))
    whole = math.fsum(weights)
    return {
        "pns": pns,
        "pn": pns / above if above else 0.0,
        "ps": pns / (whole - below) if whole - below > 1e-12 else 0.0,
        "ate": above - below,
        "violations": math.fsum(compress(weights, map(int.__lt__, high, low))),
    }


def resample(target: Mapping[str, Any], sets: Sequence[Answers | None], seed: str) -> list[float]:
    """Return ``RESAMPLES`` PNS estimates, each taking one replicate a unit at random (CCR §6.1).

    Units of equal weight on which equally many replicates see the joint event are alike, so that
    one binomial draw stands for all of them; units on which all replicates agree are constant.
    """
    truth, weights = _truth_of(target), weights_of(target)
    filled = [_fill_invalid(truth, answers) for answers in sets]
    seen = [list(map(int.__gt__, f["do_true"], f["do_false"])) for f in filled]
    counts = [sum(column) for column in zip(*seen, strict=True)]
    replicates = len(filled)
    fixed = math.fsum(compress(weights, (count == replicates for count in counts)))
    groups = Counter(
        (weight, count)
        for weight, count in zip(weights, counts, strict=True)
        if 0 < count < replicates
    )
    generator = random.Random(f"{seed}/{target['cause']}/{target['effect']}")
    totals = [fixed] * RESAMPLES
    for (weight, count), size in sorted(groups.items()):
        masses = _binomial(size, count / replicates)
        drawn = generator.choices(range(size + 1), cum_weights=masses, k=RESAMPLES)
        totals = [total + weight * hits for total, hits in zip(totals, drawn, strict=True)]
    return totals


def _binomial(size: int, p: float) -> list[float]:
    """Return the cumulative masses of a binomial distribution, for 0 to ``size`` successes."""
    logs = [
        math.lgamma(size + 1)
        - math.lgamma(k + 1)
        - math.lgamma(size - k + 1)
        + k * math.log(p)
        + (size - k) * math.log1p(-p)
        for k in range(size + 1)
    ]
    return list(accumulate(math.exp(log) for log in logs))


DELTA: Final = 0.1
"""The largest error at which two values count as the same."""

VALID_SHARE: Final = 0.9
"""With replicates: the share of resampled estimates within ``DELTA`` that makes a quantity valid
or a composition consistent."""

NEAR_SHARE: Final = 0.75
"""From this share on it is at least nearly so."""


def relative_error(reference: float, estimate: float) -> float:
    """Return ``|reference - estimate| / |reference|`` (Eq. G.3, G.5); 0/0 is 0, else inf."""
    difference = abs(reference - estimate)
    if difference == 0:
        return 0.0
    return difference / abs(reference) if reference else math.inf


def error_or_none(
    reference: float | None, estimate: float | None, *, absolute: bool = False
) -> float | None:
    """Return the relative or ``absolute`` error (G.2 to G.5); None where a value is absent."""
    if reference is None or estimate is None:
        return None
    return abs(reference - estimate) if absolute else relative_error(reference, estimate)


def is_within_delta(error: float | None) -> bool:
    """Return whether a relative error is at most ``DELTA``; an absent one is not."""
    # 1e-12: a difference of exactly 10% must not be lost to the last bit of a division.
    return error is not None and error <= DELTA + 1e-12


def agrees(reference: float | None, estimate: float | None) -> bool:
    """Return whether ``estimate`` differs from ``reference`` by at most ``DELTA`` of it."""
    return is_within_delta(error_or_none(reference, estimate))


def is_near_valid(share: float) -> bool:
    """Return whether a share of estimates within ``DELTA`` is at least 75%, but not 90%."""
    return NEAR_SHARE <= share < VALID_SHARE


PairName = tuple[str, str]
Name = tuple[str, ...]
Class = Literal["VC", "VI", "IC", "II"]


@dataclass(frozen=True, slots=True)
class Composition:
    """One composed estimate, with its external and internal error.

    ``path`` has the nodes of an indirect path, or cause, mediator and effect of a sum. ``truth`` is
    the exact value of the whole, ``whole`` the system's own estimate of it. ``external`` is the
    relative error against the one, ``internal`` against the other. None where an estimate that is
    needed is not there.
    """

    path: tuple[str, ...]
    value: float | None
    truth: float
    whole: float | None
    external: float | None
    internal: float | None


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of Algorithm 1: ``eta`` of pairs, None if not estimated, and of compositions."""

    eta: Mapping[PairName, float | None] | Mapping[Name, float | None]
    compositions: tuple[Composition, ...]


def paths(nodes: Sequence[str], pair: PairName) -> list[tuple[str, ...]]:
    """Return all paths of a pair in cut tree ``nodes``, any nodes between skipped, direct first."""
    low, high = nodes.index(pair[0]), nodes.index(pair[1])
    return [
        (pair[0], *between, pair[1])
        for count in range(high - low)
        for between in combinations(nodes[low + 1 : high], count)
    ]


def product(values: Mapping[PairName, float | None], path: Sequence[str]) -> float | None:
    """Return the product of ``values`` along a path (CCR Theorem 5.1), None if one is absent."""
    steps = [values.get(edge) for edge in pairwise(path)]
    known = [value for value in steps if value is not None]
    return math.prod(known, start=1.0) if len(known) == len(steps) else None


def algorithm_1(
    nodes: Sequence[str],
    references: Sequence[PairName],
    exact: Mapping[PairName, float],
    estimates: Mapping[PairName, float | None],
) -> Errors:
    """Return the errors of all pairs in ``exact`` and of all indirect paths of ``references``.

    ``nodes`` is the cut tree from root to leaf, ``exact`` the truth by pair. The internal error's
    denominator is the estimate of the reference itself (CCR Eq. G.5).
    """
    eta = {pair: error_or_none(exact[pair], estimates.get(pair)) for pair in exact}
    found = []
    for reference in references:
        whole = estimates.get(reference)
        for path in paths(nodes, reference)[1:]:
            value = product(estimates, path)
            errors = error_or_none(exact[reference], value), error_or_none(whole, value)
            found.append(Composition(path, value, exact[reference], whole, *errors))
    return Errors(eta, tuple(found))


def additive_errors(exact: Mapping[Name, float], estimates: Mapping[Name, float | None]) -> Errors:
    """Return the errors of TE, NDE and NIE, and of TE = NDE + NIE by mediator (Example 3.2).

    A name is a measure and its path: ("te", cause, effect), ("nde", cause, mediator, effect).
    """
    eta = {name: error_or_none(exact[name], estimates.get(name)) for name in exact}
    found = []
    for _, *path in sorted(name for name in exact if name[0] == "nde"):
        direct, indirect = (estimates.get((measure, *path)) for measure in ("nde", "nie"))
        value = None if direct is None or indirect is None else direct + indirect
        name = ("te", path[0], path[-1])
        truth, whole = exact[name], estimates.get(name)
        errors = error_or_none(truth, value), error_or_none(whole, value)
        found.append(Composition(tuple(path), value, truth, whole, *errors))
    return Errors(eta, tuple(found))


def compose_pn_ps(
    estimates: Mapping[PairName, Mapping[str, float]], path: Sequence[str]
) -> tuple[float, float] | None:
    """Return (PN, PS) along a path (Eq. B.28, B.29), None where a pair has no estimates."""
    steps = [estimates.get(edge) for edge in pairwise(path)]
    known = [(values["pn"], values["ps"]) for values in steps if values]
    return reduce(_compose_two, known) if len(known) == len(steps) else None


def _compose_two(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """Return (PN, PS) of two steps (Eq. B.28, B.29); zeros where one of them is not positive."""
    (pn1, ps1), (pn2, ps2) = first, second
    if min(pn1, ps1, pn2, ps2) <= 0:
        return 0.0, 0.0
    pn = 1 / (pn1 * pn2) + (1 / ps1 - 1) * (1 / pn2 - 1)
    ps = 1 / (ps1 * ps2) + (1 / pn1 - 1) * (1 / ps2 - 1)
    return (1 / pn if pn > 0 else math.inf), (1 / ps if ps > 0 else math.inf)


def class_of(valid: bool, consistent: bool) -> Class:
    """Return the quadrant (CCR §4.2, Figs. 3, 5): V or I for valid, C or I for consistent."""
    if valid:
        return "VC" if consistent else "VI"
    return "IC" if consistent else "II"


def all_agree(values: Sequence[float | None]) -> bool:
    """Return whether every two agree, either way round; False if one is absent, True for none."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return not values
    return agrees(min(known), max(known)) and agrees(max(known), min(known))


def is_complete(
    nodes: Sequence[str],
    exact: Mapping[PairName, float],
    estimates: Mapping[PairName, float | None],
) -> bool:
    """Return whether every pair's estimate and compositions are valid and agree (Def. 4.5)."""
    for pair, truth in exact.items():
        values = [product(estimates, path) for path in paths(nodes, pair)]
        if not all(agrees(truth, value) for value in values) or not all_agree(values):
            return False
    return True

"""From yes/no answers to the estimates of one pair, by the units' exact weights.

The PNS is the mean of ``y1 (1 - y0)`` on the same unit: the joint event, which a difference of
means equals only without monotonicity violations. ``PN = PNS / P(y1)`` and ``PS = PNS / P(not y0)``
hold without confounding (CCR Eq. B.7, B.8).
"""

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, compress
from typing import Any, Final

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

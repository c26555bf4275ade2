"""Bounds on counterfactual quantities where only margins are known (Tian and Pearl 2000).

A *stratum* is described by what is seen, ``P(x, y)``, and by what two experiments show,
``P(y_x)`` and ``P(y_x')``; all are joint with the stratum, so that strata add up. Nothing else is
assumed: neither monotonicity nor the absence of confounding. Bounds come from the closed formulas;
that they are sharp is shown by an explicit model for either end (:func:`extreme`), whose cells are
the probabilities of ``(x, y_x, y_x')``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from builder.attempts import Rejected

REGIMES: Final = ("both", "strata", "observed")
"""What is known: observation and both experiments; the same in either stratum of a further
variable; observation alone."""

MEASURES: Final[Mapping[str, tuple[str, ...]]] = {
    "both": ("pns", "pn", "ps"),
    "strata": ("pns", "pn", "ps"),
    "observed": ("pns", "ate", "do"),
}
"""What is asked, by regime; ``do`` is ``P(y_x)``."""

SHARES: Final = 1000
"""Shares are told in thousandths, so that they are exact."""

LEAST_SHARE: Final = Fraction(1, 10)
"""The least probability of (cause, effect) and of neither: what PN and PS are divided by."""

TOLD_APART: Final = Fraction(3, 100)
"""By how much an end, at least, differs from what a part of the margins would give."""

WIDTH: Final = (Fraction(5, 100), Fraction(7, 10))
"""Least and greatest width of an interval, where experiments are known."""

Cells = Mapping[tuple[bool, bool, bool], Fraction]
"""The probability of (x, y_x, y_x') in one stratum, joint with the stratum."""

Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Margins:
    """One stratum. ``seen[x, y]`` are joint probabilities; ``done`` are ``P(y_x)`` and
    ``P(y_x')``, ``None`` where there was no experiment."""

    seen: Mapping[tuple[bool, bool], Fraction]
    done: tuple[Fraction, Fraction] | None

    @property
    def total(self) -> Fraction:
        """The probability of the stratum."""
        return sum(self.seen.values(), Fraction(0))

    @classmethod
    def of(cls, cells: Cells, experiments: bool) -> "Margins":
        """What a model's cells show."""
        seen = {(x, y): Fraction(0) for x in (True, False) for y in (True, False)}
        high = low = Fraction(0)
        for (x, y_true, y_false), mass in cells.items():
            seen[x, y_true if x else y_false] += mass
            high, low = high + mass * y_true, low + mass * y_false
        return cls(seen, (high, low) if experiments else None)


def margins_json(margins: Margins) -> dict[str, object]:
    """A lossless JSON form."""
    seen = [[x, y, str(share)] for (x, y), share in margins.seen.items()]
    return {"seen": seen, "done": [str(share) for share in margins.done or ()]}


def margins_from_json(record: Mapping[str, Any]) -> Margins:
    """The margins that :func:`margins_json` wrote."""
    done = [Fraction(share) for share in record["done"]]
    seen = {(x, y): Fraction(share) for x, y, share in record["seen"]}
    return Margins(seen, (done[0], done[1]) if done else None)


def pooled(strata: Sequence[Margins]) -> Margins:
    """The margins without regard to the strata."""
    seen = {key: sum((s.seen[key] for s in strata), Fraction(0)) for key in strata[0].seen}
    done = [s.done for s in strata if s.done is not None]
    both = (sum((d[0] for d in done), Fraction(0)), sum((d[1] for d in done), Fraction(0)))
    return Margins(seen, both if done else None)


def bounds(measure: str, strata: Sequence[Margins]) -> Interval:
    """The sharp bounds by the closed formulas, stratum by stratum."""
    ends = [_numerators(measure, margins) for margins in strata]
    low, high = (sum((end[k] for end in ends), Fraction(0)) for k in (0, 1))
    divisor = {"pn": (True, True), "ps": (False, False)}.get(measure)
    if divisor is None:
        return low, high
    share = sum((margins.seen[divisor] for margins in strata), Fraction(0))
    return low / share, high / share


def _numerators(measure: str, margins: Margins) -> Interval:
    """One stratum's part of the bounds, not yet divided for PN and PS."""
    seen, zero = margins.seen, Fraction(0)
    both, only_x = seen[True, True], seen[True, False]
    only_y, neither = seen[False, True], seen[False, False]
    y = both + only_y
    if margins.done is None:
        match measure:
            case "pns":
                return zero, both + neither
            case "ate":
                return -(only_x + only_y), both + neither
            case "do":
                return both, both + only_y + neither
            case other:
                raise ValueError(f"{other} is not bounded by observation alone")
    high, low = margins.done
    match measure:
        case "pns":
            return (
                max(zero, high - low, y - low, high - y),
                min(high, margins.total - low, both + neither, high - low + only_x + only_y),
            )
        case "pn":
            return max(zero, y - low), min(both, margins.total - low - neither)
        case "ps":
            return max(zero, high - y), min(neither, high - both)
        case other:
            raise ValueError(f"{other} is known where experiments are")


def extreme(margins: Margins, *, largest: bool) -> Cells:
    """A model with these margins in which as many units as can be, or as few, respond to the cause:
    in each arm the cell (y_x, not y_x') takes its Fréchet bound.

    It attains that end of every measure.
    """
    cells: dict[tuple[bool, bool, bool], Fraction] = {}
    for x in (True, False):
        total = margins.seen[x, True] + margins.seen[x, False]
        fixed = margins.seen[x, True]
        if margins.done is None:
            other = total if largest != x else Fraction(0)
        else:
            other = margins.done[1 if x else 0] - margins.seen[not x, True]
        when_true, when_false = (fixed, other) if x else (other, fixed)
        least = max(Fraction(0), when_true - when_false)
        responds = min(when_true, total - when_false) if largest else least
        cells[x, True, False] = responds
        cells[x, True, True] = when_true - responds
        cells[x, False, False] = total - when_false - responds
        cells[x, False, True] = when_false - (when_true - responds)
    return cells


def measured(measure: str, strata: Sequence[Cells]) -> Fraction:
    """A measure of an explicit model, by its definition."""

    def mass(fits: str) -> Fraction:
        """Of the cells that fit a pattern of 1, 0 and * (any), as (x, y_x, y_x')."""
        return sum(
            (
                p
                for cells in strata
                for cell, p in cells.items()
                if all(f in ("*", "01"[value]) for f, value in zip(fits, cell, strict=True))
            ),
            Fraction(0),
        )

    match measure:
        case "pns":
            return mass("*10")
        case "pn":
            return mass("110") / mass("11*")
        case "ps":
            return mass("010") / mass("0*0")
        case "ate":
            return mass("*1*") - mass("**1")
        case "do":
            return mass("*1*")
        case other:
            raise ValueError(f"no such measure: {other}")


def draw_margins(regime: str, rng: np.random.Generator) -> tuple[Margins, ...]:
    """The margins of a random model, told in thousandths; raises ``Rejected`` where bounds are
    trivial or a part of the margins gives them."""
    strata = 2 if regime == "strata" else 1
    cuts = np.sort(rng.permutation(SHARES - 1)[: 8 * strata - 1]) + 1
    sizes = np.diff(np.concatenate([[0], cuts, [SHARES]])).tolist()
    levels = (True, False)
    keys = [(x, high, low) for x in levels for high in levels for low in levels]
    shares = [Fraction(size, SHARES) for size in sizes]
    found = tuple(
        Margins.of(dict(zip(keys, shares[8 * k : 8 * k + 8], strict=True)), regime != "observed")
        for k in range(strata)
    )
    whole = pooled(found)
    if min(whole.seen[True, True], whole.seen[False, False]) < LEAST_SHARE:
        raise Rejected("a cell that is too small to divide by")
    if regime != "observed" and not all(_telling(name, found) for name in MEASURES[regime]):
        raise Rejected("bounds that are trivial, or given by a part of the margins")
    return found


def _telling(measure: str, strata: Sequence[Margins]) -> bool:
    """Whether the bounds are no triviality and take all margins."""
    interval = bounds(measure, strata)
    if not WIDTH[0] <= interval[1] - interval[0] <= WIDTH[1]:
        return False
    parts = [] if len(strata) == 1 else [bounds(measure, [pooled(strata)])]
    if measure == "pns":
        high, low = pooled(strata).done or (Fraction(0), Fraction(0))
        parts.append((max(Fraction(0), high - low), min(high, 1 - low)))
    else:
        parts.append((Fraction(0), Fraction(1)))
    return all(
        max(abs(a - b) for a, b in zip(interval, part, strict=True)) >= TOLD_APART for part in parts
    )

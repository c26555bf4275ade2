"""Algorithm 1 of the paper, and its thresholds: external and internal errors of every quantity."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final, Literal

DELTA: Final = 0.1
"""The largest error at which two values count as the same."""

VALID_SHARE: Final = 0.9
"""With replicates: the share of resampled estimates within ``DELTA`` that makes a quantity valid
or a composition consistent."""

NEAR_SHARE: Final = 0.75
"""From this share on it is at least nearly so."""


def rae(reference: float, estimate: float) -> float:
    """``|reference - estimate| / |reference|`` (CCR Eq. G.3, G.5).

    Of a reference of zero: zero if the estimate is zero, too, else infinite.
    """
    difference = abs(reference - estimate)
    if difference == 0:
        return 0.0
    return difference / abs(reference) if reference else math.inf


def within(reference: float, estimate: float) -> bool:
    """Whether ``estimate`` agrees with ``reference`` up to ``DELTA``."""
    # 1e-12: a difference of exactly 10% must not be lost to the last bit of a division.
    return rae(reference, estimate) <= DELTA + 1e-12


PairName = tuple[str, str]
Class = Literal["VC", "VI", "IC", "II"]


@dataclass(frozen=True, slots=True)
class Composition:
    """One indirect path: its composed estimate, its external and internal error.

    ``None`` where an estimate on the path, or that of the reference pair, is not there.
    """

    path: tuple[str, ...]
    value: float | None
    external: float | None
    internal: float | None


@dataclass(frozen=True, slots=True)
class Errors:
    """What Algorithm 1 returns: eta by pair, epsilon and gamma by composition."""

    eta: Mapping[PairName, float | None]
    compositions: tuple[Composition, ...]


def paths(nodes: Sequence[str], pair: PairName) -> list[tuple[str, ...]]:
    """Every path of the cut tree between a pair, the direct one first."""
    low, high = nodes.index(pair[0]), nodes.index(pair[1])
    return [
        (pair[0], *between, pair[1])
        for count in range(high - low)
        for between in combinations(nodes[low + 1 : high], count)
    ]


def product(values: Mapping[PairName, float | None], path: Sequence[str]) -> float | None:
    """The composed estimate along a path (CCR Theorem 5.1)."""
    result = 1.0
    for edge in pairwise(path):
        value = values.get(edge)
        if value is None:
            return None
        result *= value
    return result


def algorithm_1(
    nodes: Sequence[str],
    references: Sequence[PairName],
    exact: Mapping[PairName, float],
    estimates: Mapping[PairName, float | None],
) -> Errors:
    """Errors of all pairs in ``exact`` and of all indirect paths of the ``references``.

    The internal error's denominator is the estimate of the reference itself (CCR Eq. G.5); with
    an estimate of zero a composition agrees only if it is zero, too.
    """
    eta = {
        pair: None if (value := estimates.get(pair)) is None else rae(exact[pair], value)
        for pair in exact
    }
    found = []
    for reference in references:
        whole = estimates.get(reference)
        for path in paths(nodes, reference)[1:]:
            value = product(estimates, path)
            external = None if value is None else rae(exact[reference], value)
            internal = None if value is None or whole is None else rae(whole, value)
            found.append(Composition(path, value, external, internal))
    return Errors(eta, tuple(found))


def compose_pn_ps(
    estimates: Mapping[PairName, Mapping[str, float] | None], path: Sequence[str]
) -> tuple[float, float] | None:
    """(PN, PS) along a path by the rules of Appendix B (Eq. B.28, B.29)."""
    result: tuple[float, float] | None = None
    for edge in pairwise(path):
        values = estimates.get(edge)
        if values is None:
            return None
        step = (values["pn"], values["ps"])
        result = step if result is None else _join(result, step)
    return result


def _join(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    (pn1, ps1), (pn2, ps2) = first, second
    if min(pn1, ps1, pn2, ps2) <= 0:
        return 0.0, 0.0
    pn = 1 / (pn1 * pn2) + (1 / ps1 - 1) * (1 / pn2 - 1)
    ps = 1 / (ps1 * ps2) + (1 / pn1 - 1) * (1 / ps2 - 1)
    return (1 / pn if pn > 0 else math.inf), (1 / ps if ps > 0 else math.inf)


def class_of(valid: bool, consistent: bool) -> Class:
    """The quadrant (CCR §4.2, Figs. 3 and 5)."""
    if valid:
        return "VC" if consistent else "VI"
    return "IC" if consistent else "II"


def agree(values: Sequence[float | None]) -> bool:
    """Whether every two of these agree up to the threshold, whichever is the reference."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return False
    return not known or (within(min(known), max(known)) and within(max(known), min(known)))


def complete(
    nodes: Sequence[str],
    exact: Mapping[PairName, float],
    estimates: Mapping[PairName, float | None],
) -> bool:
    """Definition 4.5: every quantity is valid, and all that are equivalent agree.

    Equivalent are a pair's own estimate and all its compositions, of every pair.
    """
    for pair, truth in exact.items():
        values = [product(estimates, path) for path in paths(nodes, pair)]
        if not all(value is not None and within(truth, value) for value in values):
            return False
        if not agree(values):
            return False
    return True

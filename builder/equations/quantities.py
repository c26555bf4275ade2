"""Effects of a treatment in a world, each with its numerical error (Pearl 2001; paper 3.4).

For the contrast x0 -> x1, with M all nodes inside directed paths from X to Y, latent ones included,

    ATE = E[Y(x1) - Y(x0)]                     ETT = E[Y(x1) - Y(x0) | X = x1]
    NDE = E[Y(x1, M(x0)) - Y(x0, M(x0))]       NIE = E[Y(x0, M(x1)) - Y(x0, M(x0))]

Zeros that follow from the graph are exactly zero, closed forms are used where they exist, and what
is left is integrated by randomised quasi-Monte Carlo with common noise across the worlds; the
outcome contributes its conditional mean given its parents. Nothing is rounded here.

One scrambled Sobol sequence (Matoušek's linear matrix scramble, as in SciPy) is shifted by
``RANDOMISATIONS`` independent uniform digital shifts: unbiased estimates whose spread is the
standard error (L'Ecuyer & Lemieux 2002, section 4; Owen 1998).

Labels that a sample of the shown size can settle stand at the end. A sign, a presence or a winner
is asked only where the population value is zero by construction or clear of its boundary by a
margin that prompts promise, with four combined standard errors of all the numbers that it compares.
Each function returns the label, or None where the value lies too close to a boundary to be asked.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import scipy  # whose parts are imported when asked for: who only plans waits for none

from builder.equations.equation import Array
from builder.equations.world import World
from builder.graphs.graph import closure
from builder.graphs.identification import Effect, is_structural_zero

Source = Literal["structural_zero", "closed_form", "rqmc", "density_weighted_rqmc"]

EFFECT_BOUND: Final = 0.002
"""An effect tau is known to a standard error of EFFECT_BOUND * (1 + |tau|)."""

_WEIGHT_CV: Final = 0.05
"""Largest relative standard error of the denominator of a self-normalised estimate."""

_TERMS: Final[Mapping[Effect, tuple[tuple[int, int, float], ...]]] = {
    "ate": ((1, 1, 1.0), (0, 0, -1.0)),
    "ett": ((1, 1, 1.0), (0, 0, -1.0)),
    "nde": ((1, 0, 1.0), (0, 0, -1.0)),
    "nie": ((0, 1, 1.0), (0, 0, -1.0)),
}
"""By effect: which of the two levels Y sees, which one the mediators see, and the sign."""


NoiseSample = dict[str, Array]

RANDOMISATIONS: Final = 32
FIRST_POINTS: Final = 128
LAST_POINTS: Final = 1 << 15
"""Points per randomisation: at first, and where doubling stops (a million draws in all)."""
_BITS: Final = 30


class BoundNotMet(Exception):
    """The standard error of a quantity stayed above its bound at the largest number of draws."""


def units(world: World, drawn: Sequence[str], rng: np.random.Generator) -> Iterator[NoiseSample]:
    """Yield noise of ``drawn`` nodes without end, ``FIRST_POINTS`` of each randomisation a time."""
    # SciPy spawns from the generator it is given, which one made from a bare key cannot do.
    own = np.random.default_rng(int(rng.integers(1 << 62)))
    sobol = scipy.stats.qmc.Sobol(len(drawn), scramble=True, bits=_BITS, rng=own)
    laws = [world.node(name).noise for name in drawn]
    shifts = rng.integers(1 << _BITS, size=(len(drawn), RANDOMISATIONS, 1), dtype=np.uint32)
    while True:
        digits = (sobol.random(FIRST_POINTS).T * 2.0**_BITS).astype(np.uint32)
        # Half a cell is added because a uniform of exactly 0 has no finite normal quantile.
        uniforms = ((digits[:, None, :] ^ shifts).astype(np.float64) + 0.5) * 2.0**-_BITS
        yield {
            name: u if law is None else law.from_uniform(u)
            for name, law, u in zip(drawn, laws, uniforms.reshape(len(drawn), -1), strict=True)
        }


def refined_means(
    world: World,
    drawn: Sequence[str],
    integrand: Callable[[NoiseSample], Sequence[Array]],
    rng: np.random.Generator,
) -> Iterator[tuple[Array, int]]:
    """Yield the means of ``integrand``'s k statistics (each (n,) or scalar) by randomisation,
    (R, k), and the draws behind them, after each doubling up to ``LAST_POINTS`` points a
    randomisation. If nothing is drawn they are exact, and yielded once, with the number 0."""
    if not drawn:
        yield np.repeat(_stack_columns(integrand({})).T, RANDOMISATIONS, axis=0), 0
        return
    sums, points = np.zeros(()), 0
    for noise in units(world, drawn, rng):
        columns = _stack_columns(integrand(noise))
        sums = sums + columns.reshape(len(columns), RANDOMISATIONS, -1).sum(axis=2).T
        points += FIRST_POINTS
        if points & (points - 1) == 0:
            yield sums / points, points * RANDOMISATIONS
        if points == LAST_POINTS:
            return


def jackknife(means: Array, statistic: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Return ``statistic`` (from (..., k) to (..., m)) of the pooled means, (m,), and its jackknife
    standard error from means by randomisation, (R, k)."""
    count = len(means)
    pooled = means.mean(axis=0)
    without = statistic(pooled + (pooled - means) / (count - 1))
    off = without - without.mean(axis=0)
    return statistic(pooled), np.sqrt((off * off).sum(axis=0) * (count - 1) / count)


def _stack_columns(columns: Sequence[Array]) -> Array:
    return np.stack([np.atleast_1d(column) for column in np.broadcast_arrays(*columns)])


@dataclass(frozen=True, slots=True)
class Quantity:
    """A population value, its standard error, the number of draws behind it and its source."""

    value: float
    se: float
    draws: int
    source: Source


STRUCTURAL_ZERO: Final = Quantity(0.0, 0.0, 0, "structural_zero")


def effect(
    name: Effect, world: World, x: str, y: str, x0: float, x1: float, rng: np.random.Generator
) -> Quantity:
    """Return the effect ``name`` of X on Y as X goes from ``x0`` to ``x1``. Raises
    :class:`BoundNotMet` for a standard error beyond its bound at the largest sample.

    Conditioning on X = x1 (ETT) is exact: given all noise but X's own, X = x1 has probability
    P(X = x1 | parents) (binary X) or density f((x1 - mean) / scale) / scale (continuous X). The
    effect is the mean of the unit effects weighted by it over the mean weight, self-normalised
    over all randomisations together. Its bias is at most its standard error times the coefficient
    of variation of the mean weight (Cauchy-Schwarz); draws are doubled until that is below 0.05.
    """
    if is_structural_zero(world.graph, x, y, name):
        return STRUCTURAL_ZERO
    slope = _constant_slope(name, world, x, y)
    if slope is not None:
        return Quantity((x1 - x0) * slope, 0.0, 0, "closed_form")
    graph, causes, levels = world.graph, world.graph.ancestors(x) - {x}, (x0, x1)
    # X and what acts on Y past it.
    needed = {x, *graph.names(closure(graph.mask(y), graph.parent_masks, ~graph.mask(x)))}
    # Without noise that X and Y(x) share, the treated are like everyone.
    weighted = name == "ett" and bool(causes & needed)
    by_density = weighted and world.node(x).kind == "continuous"
    only = (needed | causes if weighted else needed) - {y}

    def integrand(noise: NoiseSample) -> list[Array]:
        """Return each unit's effect times its weight, and the weight (1 if not ``weighted``)."""
        places = {behind for _, behind, _ in _TERMS[name]}
        runs = {place: world.run(noise, {x: levels[place]}, only) for place in places}
        change = np.asarray(0.0)
        for seen, behind, sign in _TERMS[name]:
            parents = {**runs[behind], x: np.full_like(runs[behind][x], levels[seen])}
            change = change + sign * world.conditional_mean(y, parents)
        # The parents of X are alike in both worlds.
        weight = world.conditional_density(x, x1, runs[0]) if weighted else np.ones(1)
        return [weight * change, weight]

    def ratio_and_mass(means: Array) -> Array:
        """Return (change over weight, weight) from (weighted change, weight), by the last axis."""
        return np.stack([means[..., 0] / means[..., 1], means[..., 1]], axis=-1)

    drawn = [node for node in world.order if node in only and node != x]
    value, se, draws = 0.0, float("inf"), 0
    for means, draws in refined_means(world, drawn, integrand, rng):
        (value, mass), (se, mass_se) = jackknife(means, ratio_and_mass)
        if se <= EFFECT_BOUND * (1.0 + abs(value)) and mass_se <= _WEIGHT_CV * mass:
            source: Source = "density_weighted_rqmc" if by_density else "rqmc"
            return Quantity(float(value), float(se), draws, source if draws else "closed_form")
    raise BoundNotMet(f"{name} of {x} on {y}: standard error {se:.2g} after {draws} draws")


def _constant_slope(name: Effect, world: World, x: str, y: str) -> float | None:
    """Return the effect of a change of X by 1 where it is the same for every unit, else None. The
    total effect is the sum over directed paths of the products of their coefficients (Wright 1934)
    where every node after X on them, Y included, is affine in its parents. The direct effect is X's
    weight in Y's equation."""
    weights = world.node(y).coefficients
    if weights is None:
        return None
    direct = dict(zip(world.node(y).parents, weights, strict=True)).get(x, 0.0)
    if name == "nde":
        return direct
    slopes = {x: 1.0}
    for node in (world.node(one) for one in world.order):
        if node.name != x and any(parent in slopes for parent in node.parents):
            if node.name not in world.graph.ancestors(y):
                continue
            if node.coefficients is None:
                return None
            pairs = zip(node.parents, node.coefficients, strict=True)
            slopes[node.name] = sum(w * slopes[parent] for parent, w in pairs if parent in slopes)
    return slopes[y] - direct if name == "nie" else slopes[y]


def contrast(world: World, x: str, rng: np.random.Generator) -> tuple[float, float]:
    """Return the two compared treatment values, increasing: 0 and 1, or the population quartiles.
    Quartiles are rounded to the 3 significant digits of prompts, and every truth refers to these.
    Raises ValueError where they coincide (a spread tiny beside the mean)."""
    if world.node(x).kind == "binary":
        return 0.0, 1.0
    only = world.graph.ancestors(x)
    drawn = [node for node in world.order if node in only]
    batches = zip(range(64), units(world, drawn, rng), strict=False)
    values = np.concatenate([world.run(noise, only=only)[x] for _, noise in batches])
    low, high = (float(f"{quartile:.3g}") for quartile in np.quantile(values, (0.25, 0.75)))
    if low >= high:
        raise ValueError(f"{x}: its quartiles coincide at three significant digits")
    return low, high


SIGN_MARGIN: Final = 0.03
"""An association, or a change of one, is labelled only from this absolute value on."""

MEASURED_SIGN_MARGIN: Final = 0.10
"""The same where a variable that the question names is seen only through measurements."""

EFFECT_MARGIN: Final = 0.05
"""An effect is labelled only this many standard deviations of the outcome from the boundary."""

STANDARD_ERRORS: Final = 4.0
"""A promised margin is kept with so many combined standard errors to spare."""

TIE_BAND: Final = 0.05
"""Direct and indirect effects tie within this share of the larger one."""

_TIE_FLOOR: Final = 1e-6

Sign = Literal["+", "-", "0"]
Dominant = Literal["direct", "indirect", "tie"]


def association_margin(*, measured: bool) -> float:
    """Return an association's margin, ``measured`` if it names a measured variable."""
    return MEASURED_SIGN_MARGIN if measured else SIGN_MARGIN


def keeps(distance: float, margin: float, *errors: float) -> bool:
    """Return whether ``distance`` exceeds ``margin`` by ``STANDARD_ERRORS`` combined ``errors``."""
    return distance - margin >= STANDARD_ERRORS * math.hypot(*errors)


def clear_sign(quantity: Quantity, margin: float, margin_se: float = 0.0) -> Sign | None:
    """Return "0" for a structural zero, a sign that keeps ``margin``, else None. ``margin_se`` is
    the standard error of a margin that is itself an independent estimate."""
    if quantity == STRUCTURAL_ZERO:
        return "0"
    if not keeps(abs(quantity.value), margin, quantity.se, margin_se):
        return None
    return "+" if quantity.value > 0 else "-"


def clear_effect_sign(effect: Quantity, outcome_sd: Quantity) -> Sign | None:
    """Return ``clear_sign`` with a margin of ``EFFECT_MARGIN`` sds of the outcome."""
    return clear_sign(effect, EFFECT_MARGIN * outcome_sd.value, EFFECT_MARGIN * outcome_sd.se)


def clear_largest_change(changes: Mapping[str, Quantity], margin: float) -> str | None:
    """Return the variable whose absolute change leads by ``margin``; None without, or below two."""
    ranked = sorted(changes, key=lambda z: -abs(changes[z].value))
    if len(ranked) < 2:
        return None
    first, second = (changes[z] for z in ranked[:2])
    # All changes come from the same units: at worst their errors add up.
    lead, error = abs(first.value) - abs(second.value), first.se + second.se
    return ranked[0] if keeps(lead, margin, error) else None


def clear_dominance(direct: Quantity, indirect: Quantity, outcome_sd: Quantity) -> Dominant | None:
    """Return which natural effect is larger in absolute value, or "tie"; None where that is open.
    They tie where their absolute values differ by at most ``TIE_BAND`` times the larger one. Two
    structural zeros tie. It is open where the difference lies too close to the edge of that band:
    within ``EFFECT_MARGIN`` standard deviations of the outcome, with room for standard errors."""
    if direct == indirect == STRUCTURAL_ZERO:
        return "tie"
    larger, smaller = sorted((direct, indirect), key=lambda effect: -abs(effect.value))
    share = 1.0 - TIE_BAND
    beyond = share * abs(larger.value) - abs(smaller.value) - _TIE_FLOOR
    errors = (share * larger.se, smaller.se, EFFECT_MARGIN * outcome_sd.se)
    if not keeps(abs(beyond), EFFECT_MARGIN * outcome_sd.value, *errors):
        return None
    if beyond < 0:
        return "tie"
    return "direct" if larger is direct else "indirect"

"""Labels that a sample of the shown size can settle.

A sign, a presence or a winner is asked only where the population value is zero by construction or
clear of its boundary by a margin that a sample of this size can resolve. Prompts promise the
margin, so it holds with four combined standard errors of all the numbers that it compares. Each
function returns the label, or None where the value lies too close to a boundary to be asked.
"""

import math
from collections.abc import Mapping
from typing import Final, Literal

from builder.equations.quantities import Quantity

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


def is_structural_zero(quantity: Quantity) -> bool:
    """Return whether a value is zero by construction."""
    return quantity.source == "structural_zero"


def keeps(distance: float, margin: float, *errors: float) -> bool:
    """Return whether ``distance`` exceeds ``margin`` by at least ``STANDARD_ERRORS`` standard
    errors. ``errors`` add up in squares."""
    return distance - margin >= STANDARD_ERRORS * math.hypot(*errors)


def clear_sign(quantity: Quantity, margin: float, margin_se: float = 0.0) -> Sign | None:
    """Return "0" for a structural zero, a sign that keeps ``margin``, else None. ``margin_se`` is
    the standard error of a margin that is itself an independent estimate."""
    if is_structural_zero(quantity):
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
    if is_structural_zero(direct) and is_structural_zero(indirect):
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

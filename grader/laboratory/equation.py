"""The target's equation in a hypothesis: a sum of terms, read factor by factor, never evaluated."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from grader.io.jsonio import clip

Term = tuple[str, int]
"""A parent and its power."""
Factor = Callable[[str], tuple[str, Term]]

BASE: Final = ("", 0)
MAX_COEFFICIENT: Final = 1e12
_SIGNS: Final = re.compile(r"[\s+-]*+")
_FACTOR: Final = re.compile(
    r"\s*+(?:(?P<number>(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d{1,3})?)"
    r"|(?P<name>[^\W\d]\w*+)(?:\s*+(?:\^|\*\*)\s*+(?P<power>[\w.]++))?)\s*+"
)


class BadHypothesis(ValueError):
    """Raised for a hypothesis that does not follow the schema; the message says what to change."""


@dataclass(slots=True)
class Equation:
    """The target's equation as written: a base and a sum of terms.

    ``terms`` maps (parent, power) to its coefficient. ``constant`` says whether there is a base
    term at all, and ``base`` is its number. A number is None where the equation has a coefficient's
    name instead, and ``base`` also where there is no base term.
    """

    constant: bool
    base: float | None
    terms: dict[Term, float | None]

    def add(
        self, sign: float, number: float | None, symbol: Term | None, variable: Term | None
    ) -> None:
        """Add one product to the equation; raises :class:`BadHypothesis` where it does not fit.

        ``number`` is its number without ``sign``, None without one. ``symbol`` is the term whose
        coefficient it names, ``("", 0)`` for the base, None without one. ``variable`` is the term
        itself, None for the base.
        """
        if symbol is not None and (number is not None or sign < 0):
            raise BadHypothesis(
                "freq_equation: a coefficient's name already stands for sign and number; "
                "write it with + and alone"
            )
        if variable is None:
            if symbol not in (None, BASE):
                raise BadHypothesis("freq_equation: a coefficient without its variable")
            if self.constant:
                raise BadHypothesis("freq_equation: two constants; add them up")
            self.constant = True
            self.base = None if symbol is not None else sign * (number or 0.0)
            return
        if symbol is not None and symbol != variable:
            raise BadHypothesis("freq_equation: a coefficient before another variable than its own")
        if variable in self.terms:
            raise BadHypothesis(f"freq_equation: {variable[0]} has two terms of one power")
        self.terms[variable] = (
            None if symbol is not None else sign * (1.0 if number is None else number)
        )


def read_equation(text: str, factor: Factor) -> Equation:
    """Return the equation on a right side, or raise :class:`BadHypothesis`.

    ``factor`` gives the kind of a name (``variable``, ``symbol`` or ``base``) and its term.
    """
    equation = Equation(False, None, {})
    text = text.strip()
    place = 0
    while place < len(text):
        signs = _SIGNS.match(text, place)
        assert signs is not None
        if place and not signs[0]:
            raise BadHypothesis(
                f"freq_equation: {clip(text[place : place + 12])} is not expected there; "
                "write a sum of coefficient*name"
            )
        sign = -1.0 if signs[0].count("-") % 2 else 1.0
        place, number, symbol, variable = _read_product(text, signs.end(), factor)
        equation.add(sign, number, symbol, variable)
    return equation


def _read_product(
    text: str, place: int, factor: Factor
) -> tuple[int, float | None, Term | None, Term | None]:
    """Return (place after a product, number, symbol's term, variable's term), each or None."""
    number: float | None = None
    symbol: Term | None = None
    variable: Term | None = None
    while True:
        match = _FACTOR.match(text, place)
        if match is None:
            rest = text[place : place + 12].strip()
            if not rest or rest[0] in "+-*^=":
                raise BadHypothesis(
                    "freq_equation: it ends, or two operators meet, where a number or a name "
                    "should be"
                )
            raise BadHypothesis(
                f"freq_equation: {clip(rest)} cannot be read; write a sum of coefficient*name"
            )
        place = match.end()
        if match["number"]:
            if not (value := float(match["number"])) <= MAX_COEFFICIENT:
                raise BadHypothesis(f"freq_equation: {clip(match['number'])} is too large")
            number = value if number is None else number * value
        else:
            kind, term = factor(match["name"])
            if kind == "variable":
                if variable is not None:
                    raise BadHypothesis("freq_equation: a product of two variables")
                if match["power"] not in (None, "1", "2"):
                    raise BadHypothesis("freq_equation: a power other than 2")
                variable = term[0], int(match["power"] or 1)
            elif match["power"]:
                raise BadHypothesis("freq_equation: a power of a coefficient")
            elif symbol is not None:
                raise BadHypothesis("freq_equation: two coefficients in one term")
            else:
                symbol = term
        if not text.startswith("*", place):
            return place, number, symbol, variable
        place += 1

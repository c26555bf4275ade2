"""The target's equation in a hypothesis: a sum of terms, read token by token, never evaluated."""

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from grader.io.jsonio import clip

Token = tuple[str, str]
Term = tuple[str, int]
"""A parent and its power."""
Factor = Callable[[str], tuple[str, Term]]

BASE: Final = ("", 0)
MAX_COEFFICIENT: Final = 1e12
_SIGNS: Final = {("operator", "+"): 1.0, ("operator", "-"): -1.0}
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d{1,3})?)"
    r"|(?P<name>[^\W\d]\w*)|(?P<operator>\*\*|[-+*^=]))"
)


class BadHypothesis(ValueError):
    """A hypothesis that does not follow the schema; the message says what to change."""


@dataclass(slots=True)
class Equation:
    """A sum of terms, with the numbers that are written in it.

    A number is None where the equation has a coefficient's name instead. ``constant`` says whether
    there is a base term at all.
    """

    constant: bool
    base: float | None
    terms: dict[Term, float | None]

    def add(
        self, sign: float, number: float | None, symbol: Term | None, variable: Term | None
    ) -> None:
        """Add a product; ``symbol`` names its coefficient, which is ``("", 0)`` for the base."""
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


def read_equation(tokens: Iterable[Token], factor: Factor) -> Equation:
    """Return the equation that ``tokens`` spell; raises :class:`BadHypothesis`.

    ``factor`` gives the kind of a name (``variable``, ``symbol`` or ``base``) and its term.
    """
    equation = Equation(False, None, {})
    rest = deque(tokens)
    while rest:
        sign = 1.0
        while rest and rest[0] in _SIGNS:
            sign *= _SIGNS[rest.popleft()]
        equation.add(sign, *_product(rest, factor))
        if rest and rest[0] not in _SIGNS:
            raise BadHypothesis(
                f"freq_equation: {clip(rest[0][1])} is not expected there; "
                "write a sum of coefficient*name"
            )
    return equation


def _product(rest: deque[Token], factor: Factor) -> tuple[float | None, Term | None, Term | None]:
    """Take a product from ``rest``; return its number, its coefficient's name and its variable."""
    number: float | None = None
    symbol: Term | None = None
    variable: Term | None = None
    while True:
        kind, text = rest.popleft() if rest else ("end", "")
        if kind == "number":
            number = (1.0 if number is None else number) * _finite(text)
        elif kind == "name":
            what, term = factor(text)
            if what == "variable":
                if variable is not None:
                    raise BadHypothesis("freq_equation: a product of two variables")
                variable = term[0], _power(rest)
            elif symbol is not None:
                raise BadHypothesis("freq_equation: two coefficients in one term")
            else:
                symbol = term
        else:
            raise BadHypothesis(
                "freq_equation: it ends, or two operators meet, where a number or a name should be"
            )
        if not rest or rest[0] != ("operator", "*"):
            return number, symbol, variable
        rest.popleft()


def tokens_of(text: str) -> list[Token]:
    """Return ``text`` as (kind, text) tokens; raises :class:`BadHypothesis`."""
    tokens, position = [], 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise BadHypothesis(
                f"freq_equation: {clip(text[position : position + 12])} cannot be read; "
                "write a sum of coefficient*name"
            )
        kind = str(match.lastgroup)
        tokens.append((kind, match.group(kind)))
        position = match.end()
    return tokens


def _power(rest: deque[Token]) -> int:
    """Take the power of the variable before from ``rest``, 1 where none is written."""
    if len(rest) < 2 or rest[0] not in (("operator", "^"), ("operator", "**")):
        return 1
    rest.popleft()
    power = rest.popleft()
    if power not in (("number", "1"), ("number", "2")):
        raise BadHypothesis("freq_equation: a power other than 2")
    return int(power[1])


def _finite(text: str) -> float:
    value = float(text)
    if not abs(value) <= MAX_COEFFICIENT:
        raise BadHypothesis(f"freq_equation: {clip(text)} is too large")
    return value

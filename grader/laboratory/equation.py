"""The target's equation in a hypothesis: a sum of terms, read token by token, never evaluated."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

from grader.io.jsonio import clip

MAX_COEFFICIENT: Final = 1e12
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)"
    r"|(?P<name>[^\W\d]\w*)|(?P<operator>\*\*|[-+*^=]))"
)


class BadHypothesis(ValueError):
    """A hypothesis that does not follow the schema; the message says what to change."""


@dataclass(slots=True)
class Equation:
    """A sum of terms. Numbers written in the equation: ``None`` where it has a symbol instead.

    ``constant`` says whether it has a base term at all; ``terms`` are by (parent, power).
    """

    constant: bool
    base: float | None
    terms: dict[tuple[str, int], float | None]

    @classmethod
    def read(
        cls,
        tokens: list[tuple[str, str]],
        factor: Callable[[str], tuple[str, tuple[str, int]]],
    ) -> Self:
        """The equation that ``tokens`` spell; ``factor`` says what a name is.

        Raises :class:`BadHypothesis`.
        """
        equation = cls(False, None, {})
        position = 0
        while position < len(tokens):
            sign = 1.0
            while position < len(tokens) and tokens[position] in _SIGNS:
                sign *= _SIGNS[tokens[position]]
                position += 1
            position = equation._summand(tokens, position, sign, factor)
            if position < len(tokens) and tokens[position] not in _SIGNS:
                raise BadHypothesis(
                    f"freq_equation: {clip(tokens[position][1])} is not expected there; "
                    "write a sum of coefficient*name"
                )
        return equation

    def _summand(
        self,
        tokens: list[tuple[str, str]],
        position: int,
        sign: float,
        factor: Callable[[str], tuple[str, tuple[str, int]]],
    ) -> int:
        number: float | None = None
        symbol: tuple[str, int] | None = None
        variable: tuple[str, int] | None = None
        while True:
            kind, text = tokens[position] if position < len(tokens) else ("end", "")
            if kind == "number":
                number = (1.0 if number is None else number) * _finite(text)
            elif kind == "name":
                what, term = factor(text)
                if what == "variable":
                    power = _power(tokens, position + 1)
                    if variable is not None:
                        raise BadHypothesis("freq_equation: a product of two variables")
                    variable = (term[0], power or 1)
                    position += 2 if power else 0
                elif symbol is not None:
                    raise BadHypothesis("freq_equation: two coefficients in one term")
                else:
                    symbol = term
            else:
                raise BadHypothesis(
                    "freq_equation: it ends, or two operators meet, where a number or a name "
                    "should be"
                )
            position += 1
            if position < len(tokens) and tokens[position] == ("operator", "*"):
                position += 1
                continue
            break
        self._add(sign, number, symbol, variable)
        return position

    def _add(
        self,
        sign: float,
        number: float | None,
        symbol: tuple[str, int] | None,
        variable: tuple[str, int] | None,
    ) -> None:
        if symbol is not None and (number is not None or sign < 0):
            raise BadHypothesis(
                "freq_equation: a coefficient's name already stands for sign and number; "
                "write it with + and alone"
            )
        if variable is None:
            if symbol not in (None, ("", 0)):
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


_SIGNS: Final = {("operator", "+"): 1.0, ("operator", "-"): -1.0}


def tokens_of(text: str) -> list[tuple[str, str]]:
    """``text`` as (kind, text) tokens; raises :class:`BadHypothesis`."""
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


def _power(tokens: list[tuple[str, str]], position: int) -> int:
    """The power written at ``position``: 0 if none, else 1 or 2."""
    if position + 1 >= len(tokens) or tokens[position] not in (
        ("operator", "^"),
        ("operator", "**"),
    ):
        return 0
    if tokens[position + 1] not in (("number", "1"), ("number", "2")):
        raise BadHypothesis("freq_equation: a power other than 2")
    return int(tokens[position + 1][1])


def _finite(text: str) -> float:
    value = float(text)
    if not abs(value) <= MAX_COEFFICIENT:
        raise BadHypothesis(f"freq_equation: {clip(text)} is too large")
    return value

"""Expressions in the observed distribution as text, in the language of estimand formulas.

The language is the grader's: probabilities, ``sum{names}( … )``, ``*``, ``/`` and brackets.
"""

from collections.abc import Callable, Sequence

from builder.causal.proof.expression import Expression, Fixed, Probability, Product, Ratio, Sum


def notation(expression: Expression, name: Callable[[str], str] = str) -> str:
    """The expression as text, its variables under the names that `name` gives them.

    Raises ValueError for what has no text: a product of nothing, and a variable that is fixed.
    """

    def listed(variables: Sequence[str]) -> str:
        return ", ".join(map(name, variables))

    def text(e: Expression) -> str:
        match e:
            case Probability(targets, ()):
                return f"P({listed(targets)})"
            case Probability(targets, given):
                return f"P({listed(targets)} | {listed(given)})"
            case Sum(over, body):
                return f"sum{{{listed(over)}}}( {text(body)} )"
            case Product(factors) if factors:
                return " * ".join([text(factors[0]), *map(bracketed, factors[1:])])
            case Ratio(numerator, denominator):
                return f"{text(numerator)} / {bracketed(denominator)}"
            case Product() | Fixed():
                raise ValueError(f"no text for {e}")

    def bracketed(e: Expression) -> str:
        return f"({text(e)})" if isinstance(e, Product | Ratio) else text(e)

    return text(expression)


def parts(expression: Expression) -> int:
    """The number of probabilities, sums, products and quotients in its text."""
    match expression:
        case Probability():
            return 1
        case Sum(_, body) | Fixed(_, _, body):
            return 1 + parts(body)
        case Product(factors):
            return sum(map(parts, factors)) + len(factors) - 1
        case Ratio(numerator, denominator):
            return 1 + parts(numerator) + parts(denominator)

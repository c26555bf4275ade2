"""Functionals as one line of text, for tests that hold them against the textbook."""

from collections.abc import Mapping

from expressions import (
    Expression,
    Fixed,
    Probability,
    Product,
    Ratio,
    Sum,
    free_variables,
)
from functionals import Estimand


def formula(found: Estimand) -> str:
    """The functional, for example Σ_{Z} P(Z) P(Y | X=x1, Z), term by term."""
    return "; ".join(_show(e, {}, frozenset(free_variables(e))) for _, e in found.terms) or "0"


def _show(e: Expression, names: Mapping[str, str], used: frozenset[str]) -> str:
    """Write `e`; `names` gives the printed form of variables, `used` the symbols in scope."""
    match e:
        case Probability(targets, given):
            left = ", ".join(names.get(v, v) for v in targets)
            right = ", ".join(names.get(v, v) for v in given)
            return f"P({left} | {right})" if given else f"P({left})"
        case Product(factors):
            return " ".join(_show_factor(f, names, used) for f in factors) or "1"
        case Sum(over, body):
            bound = {}
            for variable in over:
                symbol = variable
                while symbol in used:
                    symbol += "′"
                bound[variable] = symbol
                used = used | {symbol}
            text = _show(body, {**names, **bound}, used)
            return f"Σ_{{{', '.join(bound[v] for v in over)}}} {text}"
        case Ratio(numerator, denominator):
            return f"[{_show(numerator, names, used)}] / [{_show(denominator, names, used)}]"
        case Fixed(variable, level, body):
            symbol = f"{variable}={level}"
            return _show(body, {**names, variable: symbol}, used | {variable})


def _show_factor(e: Expression, names: Mapping[str, str], used: frozenset[str]) -> str:
    text = _show(e, names, used)
    inner = e.body if isinstance(e, Fixed) else e
    return f"({text})" if isinstance(inner, Sum | Ratio) else text

"""Formulas and the models they are evaluated on, a second time.

Nothing of the grader's reader and nothing of what published the models is used. Formulas are read
by recursive descent and evaluated on arrays with an axis for every variable. Joint tables and
interventional distributions are whole numbers, found by eliminating one variable after another.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from builder.causal.proof.expression import (
    Expression,
    Probability,
    Product,
    Ratio,
    Sum,
    evaluate,
    free_variables,
)
from builder.causalds.check.hidden import Hidden

FORMULA_TOLERANCE: Final = 1e-6
"""The published tolerance, stated a second time."""
_EXACT: Final = 1e-11
"""Relative: what twelve digits leave open."""
_LATENT: Final = 4
_PARTS: Final = 1000
_LEAST: Final = 100
_TOKEN: Final = re.compile(r"\s*(P\(([^()|]*)(?:\|([^()|]*))?\)|sum\{([^{}]*)\}\s*\(|[()*/]|$)")

Array = NDArray[np.float64]


def close(told: ArrayLike, found: ArrayLike, tolerance: float | None = None) -> bool:
    """Whether numbers agree: relatively to twelve digits, or absolutely within a tolerance."""
    a, b = np.asarray(told, np.float64), np.asarray(found, np.float64)
    if a.shape != b.shape:
        return False
    allowed = _EXACT * np.abs(b) if tolerance is None else tolerance
    return bool((np.abs(a - b) <= allowed).all())


# --- formulas -----------------------------------------------------------------------------------


def guessed_formulas(inputs: Mapping[str, Any]) -> dict[str, str]:
    """Formulas that know the names in a question and nothing of its graph."""
    x, y = inputs["treatment"], inputs["outcome"]
    others = ", ".join(sorted(set(inputs["observed"]) - {x, y}))
    given = f", {others}" if others else ""
    adjusted = f"sum{{{others}}}( P({y} | {x}{given}) * P({others}) )"
    return {
        "P(y)": f"P({y})",
        "P(y | x)": f"P({y} | {x})",
        "P(x, y)": f"P({x}, {y})",
        "P(y | x) adjusted for all": adjusted if others else f"P({y} | {x})",
    }


def formula_values(
    text: str, variables: Sequence[str], tables: ArrayLike, x: str, y: str
) -> list[list[list[float]]] | None:
    """A formula's value by model, ``x`` and ``y``; ``tables`` are the joint distributions, bit i of
    a cell the value of variable i. None for a text that is no formula of ``x`` and ``y``."""
    try:
        formula = _read(text)
    except ValueError:
        return None
    if not free_variables(formula) <= {x, y}:
        return None
    axes = {name: axis for axis, name in enumerate(variables)}
    found = []
    for table in np.asarray(tables, np.float64):
        joint = table.reshape((2,) * len(variables), order="F")
        value = evaluate(formula, joint, axes, {})
        order = [axes[x], axes[y], *(axes[name] for name in variables if name not in (x, y))]
        ends = np.transpose(value, order).reshape(value.shape[axes[x]], value.shape[axes[y]], -1)
        found.append(np.broadcast_to(ends[:, :, 0], (2, 2)).tolist())
    return found


def _read(text: str) -> Expression:
    tokens = list(_tokens(text))
    found = _terms(tokens)
    if tokens:
        raise ValueError("more text")
    return found


def _tokens(text: str) -> Iterator["re.Match[str]"]:
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None or not match[1]:
            raise ValueError(f"no formula at {position}")
        yield match
        position = match.end()


def _terms(tokens: "list[re.Match[str]]") -> Expression:
    found = _factor(tokens)
    while tokens and tokens[0][1] in "*/":
        sign, right = tokens.pop(0)[1], _factor(tokens)
        found = Product((found, right)) if sign == "*" else Ratio(found, right)
    return found


def _factor(tokens: "list[re.Match[str]]") -> Expression:
    if not tokens:
        raise ValueError("too short")
    match = tokens.pop(0)
    if match[2] is not None:
        return Probability(_names(match[2]), () if match[3] is None else _names(match[3]))
    if match[4] is None and match[1] != "(":
        raise ValueError("no factor")
    body = _terms(tokens)
    if not tokens or tokens.pop(0)[1] != ")":
        raise ValueError("an open bracket")
    return body if match[4] is None else Sum(_names(match[4]), body)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


# --- models -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Again:
    """What models say: joint tables (bit i of a cell is variable i), and P(y | do(x)) by model, x
    and y."""

    joints: list[list[float]] = field(default_factory=list)
    effects: list[list[list[float]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Factor:
    """Whole numbers by the levels of some nodes."""

    nodes: tuple[str, ...]
    cells: Mapping[tuple[int, ...], int]


def models_again(hidden: Hidden, measured: Sequence[str]) -> Again:
    """What the models in a world row say of its ``measured`` nodes, in their order, worked out
    exactly. Raises ``ValueError`` for a model that is not as it should be."""
    nodes = sorted(hidden.graph.nodes)
    levels = {node: _LATENT if node in hidden.latent else 2 for node in nodes}
    found = Again()
    for model in hidden.record["models"]:
        factors = {node: _checked(node, hidden, levels, model[node]) for node in nodes}
        whole = _PARTS ** len(nodes)
        joint = _product(_eliminated(factors.values(), hidden.latent), measured, levels)
        # The first variable is the lowest bit, so that it changes fastest.
        cells = product((0, 1), repeat=len(measured))
        found.joints.append([joint[cell[::-1]] / whole for cell in cells])
        kept = [factor for node, factor in factors.items() if node != hidden.x]
        others = set(nodes) - {hidden.x, hidden.y}
        done = _product(_eliminated(kept, others), [hidden.x, hidden.y], levels)
        found.effects.append([[_PARTS * done[i, j] / whole for j in (0, 1)] for i in (0, 1)])
    return found


def _checked(
    node: str, hidden: Hidden, levels: Mapping[str, int], table: Mapping[str, Any]
) -> _Factor:
    """A table of conditional probabilities: every row a distribution without small parts."""
    parents, cells, own = table["parents"], table["thousandths"], levels[node]
    keys = list(product(*(range(levels[one]) for one in (*parents, node))))
    rows = [cells[start : start + own] for start in range(0, len(cells), own)]
    if set(parents) != set(hidden.graph.predecessors(node)) or len(cells) != len(keys):
        raise ValueError(f"the model of {node} is no table over its causes")
    if any(sum(row) != _PARTS or min(row) < _LEAST for row in rows):
        raise ValueError(f"the model of {node} has probabilities outside 0.1 to 0.9")
    return _Factor((*parents, node), dict(zip(keys, cells, strict=True)))


def _eliminated(factors: Iterable[_Factor], nodes: Collection[str]) -> list[_Factor]:
    """The factors after each of ``nodes`` is summed out of the product of those that hold it, the
    one in the fewest first."""
    left, waiting = list(factors), set(nodes)
    while waiting:
        node = min(sorted(waiting), key=lambda n: len(_around(left, n)))
        waiting.discard(node)
        touched = [factor for factor in left if node in factor.nodes]
        left = [factor for factor in left if node not in factor.nodes]
        if not touched:
            continue
        around = sorted(_around(touched, node) - {node})
        sizes = {n: 1 + max(c[f.nodes.index(n)] for f in touched if n in f.nodes for c in f.cells)
                 for n in (*around, node)}  # fmt: skip
        joined = _product(touched, [*around, node], sizes)
        cells: dict[tuple[int, ...], int] = {}
        for key, value in joined.items():
            cells[key[:-1]] = cells.get(key[:-1], 0) + value
        left.append(_Factor(tuple(around), cells))
    return left


def _around(factors: Sequence[_Factor], node: str) -> set[str]:
    return {other for factor in factors if node in factor.nodes for other in factor.nodes}


def _product(
    factors: Sequence[_Factor], nodes: Sequence[str], levels: Mapping[str, int]
) -> dict[tuple[int, ...], int]:
    """The product of factors by the levels of ``nodes``, which hold all of theirs."""
    places = [[nodes.index(node) for node in factor.nodes] for factor in factors]
    found = {}
    for key in product(*(range(levels[node]) for node in nodes)):
        value = 1
        for factor, where in zip(factors, places, strict=True):
            value *= factor.cells[tuple(key[place] for place in where)]
        found[key] = value
    return found

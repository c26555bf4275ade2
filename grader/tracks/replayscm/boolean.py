"""The Boolean formula language of replayscm: parse, print, evaluate (ReplaySCM B.1, B.3).

``formula ::= NAME | (not f) | (and f f ...) | (or f f ...) | (xor f f ...) | (iff f f ...)``

``xor`` is parity; ``iff`` of several arguments says that all are equal. There are no constants,
though ``(xor X X)`` is one in effect. A set of rows is one integer, bit *i* for row *i*, so a
formula is evaluated over any number of rows with one operation a node.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import and_, or_, xor
from typing import Final, Literal

MAX_NODES: Final = 2_000
MAX_DEPTH: Final = 200
MAX_TABLE_VARIABLES: Final = 16

OPERATORS: Final = ("not", "and", "or", "xor", "iff")
_TOKEN: Final = re.compile(r"[ \t\r\n]+|[()]|[A-Za-z_][A-Za-z0-9_]*|.", re.DOTALL)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSOCIATIVE: Final = frozenset({"and", "or", "xor"})
_COMMUTATIVE: Final = _ASSOCIATIVE | {"iff"}


class FormulaError(ValueError):
    """Text that is no formula (``syntax``) or a larger one than is read (``limit``)."""

    def __init__(self, kind: Literal["syntax", "limit"], message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Formula:
    """A node of the tree: a variable has a ``name``, an operator has ``arguments``."""

    operator: str
    name: str = ""
    arguments: tuple["Formula", ...] = ()


def variable(name: str) -> Formula:
    """Return the formula that is one variable."""
    return Formula("", name)


def operation(operator: str, *arguments: Formula) -> Formula:
    """Return ``(operator arguments...)``; raises ``ValueError`` for a wrong operator or arity."""
    if operator not in OPERATORS or not _arity_fits(operator, len(arguments)):
        raise ValueError(f"({operator}) does not take {len(arguments)} arguments")
    return Formula(operator, "", arguments)


def parse(text: str) -> Formula:
    """Return the formula that ``text`` spells, or raise :class:`FormulaError`.

    Reads token by token with a stack of its own, so that neither size nor depth matters.
    """
    open_nodes: list[tuple[str, list[Formula]]] = []
    result: Formula | None = None
    expects_operator = False
    nodes = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token[0] in " \t\r\n":
            continue
        if result is not None:
            raise FormulaError("syntax", f"{_quote(token)} after the end of the formula")
        if expects_operator:
            if token not in OPERATORS:
                raise FormulaError(
                    "syntax", f"{_quote(token)} is no operator; use {', '.join(OPERATORS)}"
                )
            open_nodes.append((token, []))
            expects_operator = False
            continue
        if token == ")":
            result = _close(open_nodes)
            continue
        nodes += 1
        if nodes > MAX_NODES:
            raise FormulaError("limit", f"more than {MAX_NODES} nodes; write a shorter formula")
        if token == "(":
            if len(open_nodes) + 2 > MAX_DEPTH:
                raise FormulaError("limit", f"deeper than {MAX_DEPTH} levels; flatten it")
            expects_operator = True
        elif token in OPERATORS or not _NAME.fullmatch(token):
            hint = "operators stand after (" if token in OPERATORS else "names and ( are allowed"
            raise FormulaError("syntax", f"{_quote(token)} is out of place; {hint}")
        elif open_nodes:
            open_nodes[-1][1].append(variable(token))
        else:
            result = variable(token)
    if result is None:
        raise FormulaError("syntax", "the formula ends too early" if nodes else "empty formula")
    return result


def _close(open_nodes: list[tuple[str, list[Formula]]]) -> Formula | None:
    """End the innermost operator of ``open_nodes``; return the formula if it was the last."""
    if not open_nodes:
        raise FormulaError("syntax", "a ) without its (")
    operator, arguments = open_nodes.pop()
    if not _arity_fits(operator, len(arguments)):
        needed = "exactly one argument" if operator == "not" else "at least two arguments"
        raise FormulaError("syntax", f"({operator} ...) takes {needed}, not {len(arguments)}")
    node = Formula(operator, "", tuple(arguments))
    if not open_nodes:
        return node
    open_nodes[-1][1].append(node)
    return None


def _arity_fits(operator: str, count: int) -> bool:
    return count == 1 if operator == "not" else count >= 2


def _quote(token: str) -> str:
    return ascii(token if len(token) <= 30 else token[:29] + "…")


def to_text(formula: Formula) -> str:
    """Return the formula as text that :func:`parse` reads back."""
    if not formula.operator:
        return formula.name
    return f"({formula.operator} {' '.join(to_text(child) for child in formula.arguments)})"


def size(formula: Formula) -> int:
    """Return the number of nodes of the tree, operators and leaves (AST size of the paper)."""
    return 1 + sum(size(child) for child in formula.arguments)


def depth(formula: Formula) -> int:
    """Return the number of levels of the tree; a leaf has depth one."""
    return 1 + max((depth(child) for child in formula.arguments), default=0)


def variables(formula: Formula) -> frozenset[str]:
    """Return the names that the formula mentions, whether or not its value depends on them."""
    found: set[str] = set()
    waiting = [formula]
    while waiting:
        node = waiting.pop()
        if node.operator:
            waiting.extend(node.arguments)
        else:
            found.add(node.name)
    return frozenset(found)


def canonical(formula: Formula) -> Formula:
    """Return the same function in a tidy spelling: without double negations and nested ``and``,
    ``or`` and ``xor``, the arguments of commutative operators sorted by their text."""
    if not formula.operator:
        return formula
    children = [canonical(child) for child in formula.arguments]
    if formula.operator == "not" and children[0].operator == "not":
        return children[0].arguments[0]
    if formula.operator in _ASSOCIATIVE:
        children = [
            part
            for child in children
            for part in (child.arguments if child.operator == formula.operator else (child,))
        ]
    if formula.operator in _COMMUTATIVE:
        children.sort(key=to_text)
    return Formula(formula.operator, "", tuple(children))


def evaluate(formula: Formula, columns: Mapping[str, int], full: int) -> int:
    """Return the rows (bits of ``full``) where a formula holds; ``columns``: name -> rows of 1."""
    if not formula.operator:
        return columns[formula.name]
    values = [evaluate(child, columns, full) for child in formula.arguments]
    return _APPLY[formula.operator](values, full)


_APPLY: Final[Mapping[str, Callable[[list[int], int], int]]] = {
    "not": lambda values, full: full ^ values[0],
    "and": lambda values, full: reduce(and_, values),
    "or": lambda values, full: reduce(or_, values),
    "xor": lambda values, full: reduce(xor, values),
    "iff": lambda values, full: reduce(and_, values) | (full ^ reduce(or_, values)),
}


def truth_table(formula: Formula, names: Sequence[str]) -> int:
    """Return the function as a bit set over the 2^k assignments to ``names``, all its variables.

    Bit p is the value where name *i* has bit *i* of p. Raises ``ValueError`` for more than
    ``MAX_TABLE_VARIABLES`` names.
    """
    if len(names) > MAX_TABLE_VARIABLES:
        raise ValueError(f"a truth table over {len(names)} variables is too large")
    columns = {name: input_column(place, len(names)) for place, name in enumerate(names)}
    return evaluate(formula, columns, (1 << (1 << len(names))) - 1)


@cache
def input_column(place: int, count: int) -> int:
    """Return the assignments of ``count`` variables where ``place`` is 1, as a bit set."""
    return sum(1 << pattern for pattern in range(1 << count) if pattern >> place & 1)


def essential(formula: Formula) -> tuple[str, ...]:
    """Return the variables whose flip can change the value, sorted (functional parents, §3)."""
    names = sorted(variables(formula))
    table = truth_table(formula, names)
    return tuple(name for place, name in enumerate(names) if depends_on(table, place, len(names)))


def depends_on(table: int, place: int, count: int) -> bool:
    """Return whether a truth table of ``count`` variables depends on ``place``."""
    ones = input_column(place, count)
    return (table & ones) >> (1 << place) != table & ~ones


def equivalent(first: Formula, second: Formula) -> bool:
    """Return whether both formulas are the same function of the variables of either."""
    names = sorted(variables(first) | variables(second))
    return truth_table(first, names) == truth_table(second, names)

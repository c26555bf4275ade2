"""A second, plain implementation of formulas and replay: text and dictionaries, row by row.

It shares nothing with ``grader.tracks.replayscm.boolean`` and ``grader.tracks.replayscm``; the gate
compares both, and the benchmark times one against the other.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

Tree = str | list[Any]


def read(text: str) -> Tree:
    """A formula as nested lists, ``["and", "X1", ["not", "X2"]]``."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()
    stack: list[list[Any]] = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            inner = stack.pop()
            stack[-1].append(inner)
        else:
            stack[-1].append(token)
    (tree,) = stack[0]
    result: Tree = tree
    return result


def value(tree: Tree, row: Mapping[str, int]) -> int:
    """The value of a formula in one row."""
    if isinstance(tree, str):
        return row[tree]
    operator, values = tree[0], [value(child, row) for child in tree[1:]]
    if operator == "not":
        return 1 - values[0]
    if operator == "and":
        return min(values)
    if operator == "or":
        return max(values)
    if operator == "xor":
        return sum(values) % 2
    return int(len(set(values)) == 1)


def names_in(tree: Tree) -> set[str]:
    """The variables that a formula mentions."""
    if isinstance(tree, str):
        return {tree}
    return {name for child in tree[1:] for name in names_in(child)}


def replay_row(
    mechanisms: Mapping[str, Tree], observed: Mapping[str, int], clamped: Sequence[str]
) -> dict[str, int]:
    """One row replayed: clamped variables and roots keep their cells, the rest is computed."""
    row = {name: observed[name] for name in observed if name not in mechanisms or name in clamped}
    waiting = {name: names_in(tree) for name, tree in mechanisms.items() if name not in clamped}
    while waiting:
        for name, needed in list(waiting.items()):
            if needed <= row.keys():
                row[name] = value(mechanisms[name], row)
                del waiting[name]
    return row


def exact_worlds(
    mechanisms: Mapping[str, Tree], names: Sequence[str], worlds: Sequence[Mapping[str, Any]]
) -> list[bool]:
    """Whether each world is replayed exactly."""
    return [
        all(
            replay_row(mechanisms, observed, world["targets"]) == observed
            for observed in (
                dict(zip(names, map(int, cells), strict=True)) for cells in world["rows"]
            )
        )
        for world in worlds
    ]


OPERATORS: Final = ("not", "and", "or", "xor", "iff")

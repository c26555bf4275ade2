"""A second, plain implementation of formulas and replay: text and dictionaries, row by row.

It shares nothing with ``grader.tracks.replayscm.boolean`` and ``grader.tracks.replayscm``; the gate
compares both, and the benchmark times one against the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Program:
    """Mechanisms as trees, and what each mentions."""

    mechanisms: Mapping[str, Tree]
    needed: Mapping[str, set[str]]

    @staticmethod
    def read(texts: Mapping[str, str]) -> "Program":
        """A program from its formulas, by variable."""
        mechanisms = {name: read(text) for name, text in texts.items()}
        return Program(mechanisms, {name: names_in(tree) for name, tree in mechanisms.items()})


def replay_row(
    program: Program, observed: Mapping[str, int], clamped: Sequence[str]
) -> dict[str, int]:
    """One row replayed: clamped variables and roots keep their cells, the rest is computed."""
    computed = [name for name in program.mechanisms if name not in clamped]
    row = {name: cell for name, cell in observed.items() if name not in computed}
    while computed:
        for name in list(computed):
            if program.needed[name] <= row.keys():
                row[name] = value(program.mechanisms[name], row)
                computed.remove(name)
    return row


def exact_worlds(
    program: Program, names: Sequence[str], worlds: Sequence[Mapping[str, Any]]
) -> list[bool]:
    """Whether each world is replayed exactly."""
    return [
        all(
            replay_row(program, observed, world["targets"]) == observed
            for observed in (
                dict(zip(names, map(int, cells), strict=True)) for cells in world["rows"]
            )
        )
        for world in worlds
    ]


OPERATORS: Final = ("not", "and", "or", "xor", "iff")

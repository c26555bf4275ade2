"""The problem that a replayscm task states (variables, disclosure, worlds), and programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import accumulate, chain, pairwise
from typing import Any, Final

from grader.io.jsonio import clip
from grader.tracks.replayscm.boolean import Formula, parse, variables

MAX_PARENTS: Final = 4
"""K: a mechanism may mention at most this many distinct variables (stated in every prompt)."""

ROOTS: Final = 3
"""Every program has this many roots."""


@dataclass(frozen=True, slots=True)
class Worlds:
    """Several worlds as one table of bit sets: bit *i* of a column is row *i* of all worlds.

    ``values`` are the observed cells of each variable, ``clamped`` the rows where it is intervened
    on, ``masks`` the rows of each world; ``full`` has a bit for every row.
    """

    names: tuple[str, ...]
    values: Mapping[str, int]
    clamped: Mapping[str, int]
    masks: tuple[int, ...]
    full: int


def pack(names: Sequence[str], worlds: Sequence[Mapping[str, Any]]) -> Worlds:
    """Return worlds (``id``, ``mode``, ``targets``, rows as texts of bits) as one table; raises
    ``ValueError`` for a target that is no variable, or a row without a digit for each."""
    for world in worlds:
        if not {*world["targets"]} <= {*names} or {*map(len, world["rows"])} != {len(names)}:
            raise ValueError(f"world {clip(world['id'])}: a row or target fits no variable")
    rows = [row for world in worlds for row in world["rows"]]
    values = {
        name: int("".join(reversed(column)), 2)
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
    ends = accumulate((len(world["rows"]) for world in worlds), initial=0)
    masks = tuple((1 << end) - (1 << start) for start, end in pairwise(ends))
    clamped = dict.fromkeys(names, 0)
    for world, mask in zip(worlds, masks, strict=True):
        for target in world["targets"]:
            clamped[target] |= mask
    return Worlds(tuple(names), values, clamped, masks, (1 << len(rows)) - 1)


@dataclass(frozen=True, slots=True)
class Problem:
    """One task: ``roots``, ``order`` and ``blocks`` are ``None`` where they are not disclosed.

    ``names`` are all variables as the prompt lists them. ``order`` is a causal order of them, and
    ``blocks`` are groups of them, causes in the same block or in earlier ones. ``training`` are the
    worlds shown. ``reference`` holds the mechanisms to differ from, ``None`` without any.
    """

    names: tuple[str, ...]
    roots: tuple[str, ...] | None
    order: tuple[str, ...] | None
    blocks: tuple[tuple[str, ...], ...] | None
    max_parents: int
    training: Worlds
    reference: Mapping[str, Formula] | None

    def possible_parents(self, child: str) -> frozenset[str]:
        """Return the variables that ``child`` may mention under this disclosure."""
        if self.order is not None:
            return frozenset(self.order[: self.order.index(child)])
        others = frozenset(self.names) - {child}
        if self.blocks is None:
            return others
        place = next(k for k, block in enumerate(self.blocks) if child in block)
        return others & {name for block in self.blocks[: place + 1] for name in block}


def read_problem(inputs: Mapping[str, Any]) -> Problem:
    """Return the problem in a task's ``inputs_json``; raises ``ValueError`` where its members do
    not fit each other."""
    names = tuple(inputs["variables"])
    reference, roots = inputs.get("reference"), inputs["roots"] or ()
    listed = [names, inputs["order"], inputs["blocks"] and [*chain(*inputs["blocks"])]]
    if any(group is not None and sorted(group) != sorted({*names}) for group in listed):
        raise ValueError("variables, order or blocks do not name each variable once")
    if len({*roots}) != len(roots) or not {*roots} <= {*names}:
        raise ValueError("at /roots: not different variables")
    return Problem(
        names=names,
        roots=None if inputs["roots"] is None else tuple(inputs["roots"]),
        order=None if inputs["order"] is None else tuple(inputs["order"]),
        blocks=None if inputs["blocks"] is None else tuple(map(tuple, inputs["blocks"])),
        max_parents=int(inputs["max_parents"]),
        training=pack(names, inputs["worlds"]),
        reference=None if reference is None else parse_map(reference),
    )


def parse_map(mechanisms: Mapping[str, str]) -> dict[str, Formula]:
    """Return trusted mechanisms (gold, reference, counterexample) as formulas, by child."""
    return {child: parse(text) for child, text in sorted(mechanisms.items())}


@dataclass(frozen=True, slots=True)
class BooleanProgram:
    """An executable SCM: formulas of endogenous variables, and their ``order`` by cause."""

    roots: tuple[str, ...]
    mechanisms: Mapping[str, Formula]
    order: tuple[str, ...]


def make_program(roots: Sequence[str], mechanisms: Mapping[str, Formula]) -> BooleanProgram:
    """Return the program of these mechanisms in causal order, which is one in every process.

    Raises ``graphlib.CycleError`` where they refer to each other in a circle. Mentioning counts,
    not dependence: ``(or X (and Y (not Y)))`` refers to Y.
    """
    needs = {
        child: sorted(variables(formula) & mechanisms.keys())
        for child, formula in sorted(mechanisms.items())
    }
    return BooleanProgram(tuple(roots), mechanisms, tuple(TopologicalSorter(needs).static_order()))

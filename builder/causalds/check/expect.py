"""What an audit of one task looks at, and the comparisons that audits share.

``Case`` is one truth row; the functions yield its problems, or derive verdicts from the graph.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import networkx as nx

from builder.causalds.check import graph as audit_graph
from builder.causalds.check.numbers import Estimate, Population
from builder.causalds.check.quantities import compare, effect_bound
from builder.scm import EFFECT_MARGIN, MEASURED_SIGN_MARGIN, SIGN_MARGIN

Row = Mapping[str, Any]

_ROUNDING: Final = 1e-8


@dataclass(frozen=True)
class Hidden:
    """A world row taken apart; names map nodes to story names."""

    instance_id: str
    record: Mapping[str, Any]
    graph: audit_graph.Graph
    latent: frozenset[str]
    x: str
    y: str
    names: Mapping[str, str]
    levels: tuple[float, float]
    binary_treatment: bool
    population: Population

    def named(self, nodes: frozenset[str]) -> list[str]:
        """Sorted story names of some nodes."""
        return sorted(self.names[node] for node in nodes)

    def identifiable(self, effect: str) -> bool:
        """Whether the ATE, ETT, NDE or NIE is identifiable."""
        ends = self.graph, self.x, self.y, self.latent
        binary = self.binary_treatment
        return audit_graph.identifiable(*ends, effect.lower(), binary_treatment=binary)

    def observed(self) -> list[str]:
        """The observed nodes other than treatment and outcome, in table order."""
        return [node for node in self.record["columns"] if node not in (self.x, self.y)]


@dataclass(frozen=True)
class Case:
    """One truth row with its target, the labels of its scene, and what its question names."""

    hidden: Hidden
    row: Row
    target: Any
    labels: Row | None

    @property
    def detail(self) -> str:
        """The node or estimand that the question names."""
        return str(self.hidden.record["task_details"].get(self.row["task_id"], ""))

    def margin(self, *nodes: str) -> float:
        """The margin of an association's label in this task's view."""
        record = self.hidden.record
        measured = record["views"][record["task_views"][self.row["task_id"]]]["bundles"]
        hard = {self.hidden.x, self.hidden.y, *nodes} & set(measured)
        return MEASURED_SIGN_MARGIN if hard else SIGN_MARGIN

    def stored(self, kind: str, node: str | None = None) -> Any:
        """A quantity of the world: ``value``, ``se``, ``source``.

        Raises :class:`Unusable` where the world has none.
        """
        found = self.hidden.record["quantities"].get(kind)
        if node is not None and found is not None:
            found = found.get(node)
        if found is None:
            raise Unusable(f"the world has no {kind}{f' given {node}' if node else ''}")
        return found


Problems = Iterator[str]


class Unusable(Exception):
    """Why a truth cannot be derived again: a label too close to its boundary, a number missing."""


def label_of(stored: Row, margin: float, zero: str) -> str:
    """The label of a signed number; raises :class:`Unusable` inside its margin."""
    if stored["source"] == "structural_zero":
        return zero
    if abs(stored["value"]) < margin - _ROUNDING:
        raise Unusable(f"asked although the value is {stored['value']:.4f}")
    return "+" if stored["value"] > 0 else "-"


def effect_margin(case: Case) -> float:
    """The margin of an effect's sign."""
    return EFFECT_MARGIN * float(case.stored("outcome_sd")["value"])


def published(case: Case, stored: Row | None, abstain: bool | None = False) -> Problems:
    """The truth row's number against the world's; ``abstain`` None: looked at elsewhere."""
    told = [case.row[f"value{part}"] for part in ("", "_se", "_source")]
    expected = None if stored is None else [stored[part] for part in ("value", "se", "source")]
    if told != expected:
        yield f"published {told}, the world has {expected}"
    if abstain is not None:
        yield from abstention(case, abstain)


def estimated(
    case: Case,
    abstain: bool,
    estimate: Callable[[str, str, tuple[float, float]], Estimate],
) -> Problems:
    """An effect's number against a new estimate; zero where no path leads to the outcome."""
    hidden = case.hidden
    yield from abstention(case, abstain)
    if abstain:
        if case.row["value"] is not None:
            yield "a value beside an abstention"
        return
    zero = not nx.has_path(hidden.graph, hidden.x, hidden.y)
    found = None if zero else estimate(hidden.x, hidden.y, hidden.levels)
    yield from agrees(case.row, found, effect_bound)


def effect_sign(case: Case, name: str, identifiable: bool) -> Problems:
    """The label of an effect's sign."""
    expected = "unknown"
    if identifiable:
        expected = label_of(case.stored(name), effect_margin(case), "0")
    yield from accepts(case, [expected])
    yield from abstention(case, not identifiable)


def agrees(row: Row, found: Estimate | None, bound: Callable[[float], float]) -> Problems:
    """Published against found; ``found`` None means exactly zero by the graph."""
    stored = {"value": row["value"], "se": row["value_se"], "source": row["value_source"]}
    yield from compare(stored, found, bound)


def accepts(case: Case, expected: list[object]) -> Problems:
    """Whether the accepted answers are exactly these, types included."""
    told = case.target.get("accepted")
    if told != expected or [type(a) for a in told] != [type(b) for b in expected]:
        yield f"accepts {told}, derived {expected}"


def says(case: Case, identifiable: bool) -> Problems:
    """A yes-or-no target: whether the estimand is identifiable."""
    yield from accepts(case, [identifiable])
    yield from abstention(case, not identifiable)


def lists(case: Case, found: list[frozenset[str]]) -> Problems:
    """Sets of names, with the word for why there are none."""
    word = category(case.hidden)
    sets = sorted(case.hidden.named(one) for one in found)
    if case.target != {"category": word, "sets": sets}:
        yield f"{case.target}, derived {word} {sets}"
    yield from with_a_path(case)
    yield from abstention(case, word == "non_id")


def counted(case: Case, expected: list[object]) -> Problems:
    """A count of sets, or the word for why there are none."""
    unidentified = category(case.hidden) == "non_id"
    yield from accepts(case, ["non_id"] if unidentified else expected)
    yield from with_a_path(case)
    yield from abstention(case, unidentified)


def with_a_path(case: Case) -> Problems:
    """Adjustment is asked about only where there is an effect to adjust for."""
    if not nx.has_path(case.hidden.graph, case.hidden.x, case.hidden.y):
        yield "asked although no directed path leads from treatment to outcome"


def valid_sets(hidden: Hidden) -> list[frozenset[str]]:
    """Every valid adjustment set."""
    return audit_graph.valid_sets(hidden.graph, hidden.x, hidden.y, hidden.latent)


def category(hidden: Hidden) -> str:
    """``set``, or the word for why there is none."""
    if valid_sets(hidden):
        return "set"
    return "no_backdoor" if hidden.identifiable("ATE") else "non_id"


def unrelated(hidden: Hidden) -> bool:
    """Whether treatment and outcome have no common ancestor, each counted as its own."""
    x, y = ({v, *nx.ancestors(hidden.graph, v)} for v in (hidden.x, hidden.y))
    return not x & y


def no_abstention(case: Case) -> Problems:
    """Abstaining is never due."""
    yield from abstention(case, False)


def abstention(case: Case, expected: bool) -> Problems:
    """Whether abstaining is due as stated."""
    stated = case.row["should_abstain"]
    if stated is not expected:
        yield f"should_abstain is {stated}, derived {expected}"

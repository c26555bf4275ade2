"""Graphs as a model sees them, proposals of names for them, and rules for names.

The model sees a graph fragment by fragment, under ids without meaning: the roles of a motif ("M",
"U") would suggest names, so nodes are called v1, v2 … in a seeded order.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Final

import numpy as np
from pydantic import AfterValidator, Field, StrictBool

from builder.graphs.graph import LatentDAG
from builder.stories.knowledge import is_plural
from builder.stories.llm.client import Remark, Reply, line
from builder.stories.types import Kind, Variable
from builder.stories.verify import NO_UNIT, TECHNICAL


@dataclass(frozen=True, slots=True)
class Sketch:
    """A graph (or fragment) to be named, under public ids such as "v3", with the kind of each."""

    graph: LatentDAG
    kinds: Mapping[str, Kind]

    @property
    def non_edges(self) -> list[tuple[str, str]]:
        """Pairs, in node order, without a direct effect either way, latent nodes included."""
        joined = {frozenset(edge) for edge in self.graph.edges}
        pairs = combinations(self.graph.nodes, 2)
        return [pair for pair in pairs if frozenset(pair) not in joined]

    @property
    def independencies(self) -> list[str]:
        """Up to a dozen "a and b, given c" with a smallest observed d-separator of at most two."""
        found = []
        for a, b in (pair for pair in self.non_edges if not self.graph.latent.intersection(pair)):
            others = [v for v in self.graph.observed_nodes if v not in (a, b)]
            sets = (given for size in range(3) for given in combinations(others, size))
            given = next((s for s in sets if self.graph.d_separated(a, b, s)), None)
            if given is not None:
                found.append(f"{a} and {b}" + (f", given {' and '.join(given)}" if given else ""))
        return found[:12]

    def to_json(self) -> dict[str, object]:
        """Return the JSON that prompts show: variables, direct effects, pairs without one."""
        return {
            "variables": [
                {"id": node, "kind": self.kinds[node], "observed": node not in self.graph.latent}
                for node in self.graph.nodes
            ],
            "direct_effects": [f"{a} -> {b}" for a, b in self.graph.edges],
            "no_direct_effect": [f"{a}, {b}" for a, b in self.non_edges],
        }


@dataclass(frozen=True, slots=True)
class Stage:
    """A fragment to be named; ``anchors`` are those of its nodes that earlier stages named."""

    sketch: Sketch
    anchors: frozenset[str]


def aliases(rng: np.random.Generator, nodes: Sequence[str]) -> dict[str, str]:
    """Return node -> public id, "v1", "v2" … dealt in a random order."""
    order = rng.permutation(len(nodes)).tolist()
    return {nodes[place]: f"v{number}" for number, place in enumerate(order, 1)}


def sketch(graph: LatentDAG, kinds: Mapping[str, Kind], names: Mapping[str, str]) -> Sketch:
    """Return the graph under public ids (``names`` by node), nodes in their order."""
    by_id = sorted(graph.nodes, key=lambda node: int(names[node][1:]))
    renamed = LatentDAG(
        tuple(names[node] for node in by_id),
        tuple((names[a], names[b]) for a, b in graph.edges),
        frozenset(names[node] for node in graph.latent),
    )
    return Sketch(renamed, {names[node]: kinds[node] for node in by_id})


def stages(graph: LatentDAG, whole: Sketch, names: Mapping[str, str]) -> list[Stage]:
    """Return the stages of naming: the host motif, then each graft with its anchors, the nodes of
    earlier stages that it has an edge with. ``names`` maps nodes to the ids of ``whole``. A latent
    node beside grafted nodes alone belongs to the last stage among them."""
    number = {
        node: int(match[1]) if (match := re.match(r"AUX(\d+)_", node)) else 0
        for node in graph.nodes
    }
    for node in graph.latent:
        near = [number[other] for other in (*graph.parents(node), *graph.children(node))]
        if number[node] == 0 and near and 0 not in near:
            number[node] = max(near)
    found = []
    for stage in sorted(set(number.values())):
        own = {node for node in graph.nodes if number[node] == stage}
        shared = {
            node
            for edge in graph.edges
            for node, other in (edge, edge[::-1])
            if other in own and number[node] < stage
        }
        ids = {names[node] for node in own | shared}
        nodes = tuple(node for node in whole.graph.nodes if node in ids)
        edges = tuple((a, b) for a, b in whole.graph.edges if a in ids and b in ids)
        part = LatentDAG(nodes, edges, whole.graph.latent & ids)
        kinds = {node: whole.kinds[node] for node in nodes}
        found.append(Stage(Sketch(part, kinds), frozenset(names[node] for node in shared)))
    return found


LONGEST_NAME: Final = 40
_NAME: Final = re.compile(r"[A-Z][A-Za-z]*(?:[ -][A-Za-z]+){0,4}")
_UNIT: Final = re.compile(r"[^\W_][\w %/°²³'()-]{0,39}")
_STATE: Final = re.compile(r"[a-z][\w '-]{1,49}")


_State = Annotated[str, line(80), AfterValidator(lambda text: text.rstrip("."))]


class NamedVariable(Reply):
    """A variable as a model names it by public ``id``, unchecked; ``meaning``: for the auditor."""

    id: Annotated[str, line(10)]
    name: Annotated[str, line(120)]
    observed: StrictBool
    kind: Kind
    unit: Annotated[str, line(80)] | None = None
    states: tuple[_State, _State] | None = None
    meaning: Remark = ""

    @property
    def variable(self) -> Variable:
        """The variable as the story names it: a unit or states, whichever fits its kind."""
        unit, states = (None, self.states) if self.kind == "binary" else (self.unit, None)
        return Variable(self.name, self.kind, unit, states, False, is_plural(self.name))


class Proposal(Reply):
    """Names proposed by a model, unchecked; ``record`` and ``records`` are a row's noun."""

    domain: Annotated[str, line(80)]
    record: Annotated[str, line(80)]
    records: Annotated[str, line(80)]
    variables: tuple[NamedVariable, ...] = Field(max_length=60)

    @property
    def by_id(self) -> dict[str, NamedVariable]:
        """The variables by id."""
        return {one.id: one for one in self.variables}


@dataclass(frozen=True, slots=True)
class FixedNames:
    """Names to keep (``fixed``, members by id) or to avoid (``taken``, of other fragments)."""

    fixed: Mapping[str, Mapping[str, object]]
    taken: frozenset[str] = frozenset()


def rule_violations(proposal: Proposal, stage: Sketch, names: FixedNames) -> Iterator[str]:
    """Yield, a line each, where a proposal breaks rules that need no model."""
    by_id, counts = proposal.by_id, Counter(one.id for one in proposal.variables)
    yield from (f"{node} has no entry" for node in stage.graph.nodes if node not in by_id)
    yield from (f"{node} is no id of this system" for node in by_id if node not in stage.kinds)
    yield from (f"{node} has {count} entries" for node, count in counts.items() if count > 1)
    for node, members in names.fixed.items():
        if node in by_id and any(getattr(by_id[node], key) != members[key] for key in members):
            keys = ", ".join(members)
            yield f"{node} is settled as {members['name']!r} and must keep its {keys}"
    for node, one in by_id.items():
        for name in sorted(names.taken) if node not in names.fixed else ():
            if _clash(one.name, name):
                yield f"{node}: {one.name!r} and {name!r}, which is taken, are too much alike"
        for other in by_id.values():
            if node < other.id and _clash(one.name, other.name):
                pair = f"{one.name!r} and {other.name!r}"
                yield f"{node} and {other.id}: {pair} are the same or contained"
        if node in stage.kinds:
            for text in _variable_faults(one, stage.kinds[node], node not in stage.graph.latent):
                yield f"{node}: {text}"
    for key in ("record", "records"):
        text = getattr(proposal, key)
        if not re.fullmatch(r"[a-z][a-z '-]{1,39}", text) or TECHNICAL.search(text):
            yield f'"{key}" must be a plain noun in small letters, such as "visit"'


def _clash(one: str, other: str) -> bool:
    return one.lower() in other.lower() or other.lower() in one.lower()


def _variable_faults(named: NamedVariable, kind: str, observed: bool) -> Iterator[str]:
    """Yield each fault of a variable for a node of this kind, observed or not, as a line."""
    variable = named.variable
    if not _NAME.fullmatch(variable.name) or not 3 <= len(variable.name) <= LONGEST_NAME:
        limits = f"at most {LONGEST_NAME} letters, the first letter a capital"
        yield f"name {variable.name!r}: one to five plain words, {limits}"
    for text in (variable.name, variable.unit or "", *(variable.states or ())):
        if match := TECHNICAL.search(text):
            yield f"{text!r} uses the technical term {match[0]!r}"
    if variable.kind != kind:
        yield f"must be {kind}, not {variable.kind}"
    elif kind == "continuous" and not _UNIT.fullmatch(variable.unit or ""):
        yield "needs a plain unit of at most 40 characters"
    elif kind == "continuous" and NO_UNIT.match(variable.unit or ""):
        yield f'its unit {variable.unit!r} does not fit "recorded in ..."'
    elif kind == "binary":
        states = variable.states or ("", "")
        if states[0] == states[1] or not all(_STATE.fullmatch(state) for state in states):
            yield 'needs two different states such as "is shut" and "is open", without punctuation'
    if named.observed != observed:
        yield f'"observed" must be {str(observed).lower()}'

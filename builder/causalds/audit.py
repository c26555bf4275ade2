"""Second derivations: every published truth of a scene, worked out again another way.

The gate of a release calls :func:`audit_instance` on rows as they were written. Numbers are
re-estimated by :mod:`builder.causalds.audit_numbers`, graph labels re-derived by
:mod:`builder.causalds.audit_graph`; the story is read back, the data are held against the world.
"""

import hashlib
import json
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import networkx as nx
import numpy as np

from builder.causalds import audit_graph
from builder.causalds.ask.association import MEASURED_SIGN_MARGIN, SIGN_MARGIN
from builder.causalds.audit_numbers import Estimate, NotAuditable, Population
from builder.causalds.audit_rows import audit_scene
from builder.scm import CORRELATION_BOUND, EFFECT_BOUND
from builder.seeds import stream
from builder.words import Attestation, facts_from_json, verify

Row = Mapping[str, Any]

TOLERANCE: Final = 5.0
"""Published and re-estimated numbers may differ by this many combined standard errors."""

_ROUNDING: Final = 1e-8


@dataclass(frozen=True)
class _Hidden:
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
        return sorted(self.names[node] for node in nodes)


def audit_instance(
    world_row: Row, truth_rows: Sequence[Row], label_row: Row | None, scene_row: Row
) -> list[str]:
    """The problems of one instance, one line each; empty when every derivation agrees.

    Arguments are rows of ``causalds_worlds``, ``causalds_truth`` (all of the instance),
    ``causalds_labels`` (None where the scene has none) and ``causalds_scenes``. Every line starts
    with the id of the task or instance it is about.
    """
    try:
        hidden = _open(world_row["instance_id"], world_row["world_json"])
    except (KeyError, TypeError, ValueError) as error:
        return [f"{world_row.get('instance_id')}: world row cannot be read ({error!r})"]
    problems = [f"{hidden.instance_id}: {text}" for text in _audit_world(hidden, scene_row)]
    problems += [
        f"{hidden.instance_id}: {text}"
        for text in audit_scene(hidden.record, label_row, scene_row, hidden.population)
    ]
    views = hidden.record["task_views"]
    tasks = [task for task in hidden.record["tasks"] if views[task] == scene_row["view"]]
    missing = sorted(set(tasks) - {row["task_id"] for row in truth_rows})
    problems += [f"{task}: has no truth row" for task in missing]
    for row in truth_rows:
        problems += [f"{row['task_id']}: {text}" for text in _audit_task(hidden, row, label_row)]
    return problems


@lru_cache(maxsize=2)
def _open(instance_id: str, world_json: str) -> _Hidden:
    """The world row read, kept while the views of one scene are audited one after another."""
    record = json.loads(world_json)
    world = record["world"]
    nodes = [node["name"] for node in world["nodes"]]
    seed = hashlib.sha256(instance_id.encode()).digest()
    kinds = {node["name"]: node["kind"] for node in world["nodes"]}
    return _Hidden(
        instance_id=instance_id,
        record=record,
        graph=audit_graph.graph_of([(a, b) for a, b in world["edges"]], nodes),
        latent=frozenset(world["latent"]),
        x=record["treatment"],
        y=record["outcome"],
        names={node: record["variables"][node]["name"] for node in nodes},
        levels=(float(record["levels"][0]), float(record["levels"][1])),
        binary_treatment=kinds[record["treatment"]] == "binary",
        population=Population(world, stream(seed, "audit")),
    )


def _audit_world(hidden: _Hidden, scene_row: Row) -> list[str]:
    """The graph told by the story, and the treatment levels."""
    record = hidden.record
    edges = tuple((a, b) for a, b in record["world"]["edges"])
    facts = facts_from_json(record["variables"], edges, hidden.latent, record["hows"])
    attestations = [
        Attestation(tuple(item["what"]), item["sentence"]) for item in record["attestations"]
    ]
    problems = [f"story: {text}" for text in verify(scene_row["story"], attestations, facts)]
    if hidden.binary_treatment:
        if hidden.levels != (0.0, 1.0):
            problems.append(f"binary treatment compared at {hidden.levels}")
        return problems
    for level, share in zip(hidden.levels, (0.25, 0.75), strict=True):
        found = hidden.population.share_below(hidden.x, level)
        # One in the third digit moves the share by no more than about a hundredth.
        if abs(found.value - share) > TOLERANCE * found.se + 0.01:
            problems.append(f"level {level:g} is the {found.value:.3f} quantile, not {share}")
    return problems


def _audit_task(hidden: _Hidden, row: Row, label_row: Row | None) -> list[str]:
    key = hidden.record["tasks"].get(row["task_id"])
    if key not in _AUDITS:
        return [f"no second derivation for {key}"]
    try:
        problems = _AUDITS[key](hidden, row, json.loads(row["target_json"]), label_row)
    except NotAuditable as error:
        return [f"cannot be audited: {error}"]
    return [f"{key}: {text}" for text in problems]


# --- one audit per variant: (hidden, truth row, its target, label row) -> problems ---------------


def _prediction(hidden: _Hidden, row: Row, target: Any, label_row: Row | None) -> list[str]:
    if label_row is None:
        return ["the scene has no labels"]
    values = [float(value) for value in label_row["values"]]
    sd = statistics.pstdev(values)
    kind = hidden.record["variables"][hidden.y]["kind"]
    problems = [] if target["rows"] == len(values) else [f"{target['rows']} rows, {len(values)}"]
    if abs(sd - target["sd"]) > _ROUNDING * (1 + sd):
        problems.append(f"sd {target['sd']}, the labels have {sd}")
    if not target["kind"] == kind == label_row["kind"]:
        problems.append(f"kind {target['kind']}, the outcome is {kind}")
    return problems + _no_abstention(row)


def _sign(hidden: _Hidden, row: Row, target: Any, label_row: Row | None) -> list[str]:
    (label,) = target["accepted"]
    if _unrelated(hidden):
        expected = "unknown"
    else:
        found = hidden.population.correlation(hidden.x, hidden.y)
        measured = hidden.record["views"][hidden.record["task_views"][row["task_id"]]]["bundles"]
        margin = MEASURED_SIGN_MARGIN if {hidden.x, hidden.y} & set(measured) else SIGN_MARGIN
        if abs(found.value) < margin - TOLERANCE * found.se:
            return [f"asked although r is about {found.value:.4f}"]
        expected = "+" if found.value > 0 else "-"
    problems = [] if label == expected else [f"label {label!r}, derived {expected!r}"]
    return problems + _no_abstention(row)


def _correlation(hidden: _Hidden, row: Row, target: Any, label_row: Row | None) -> list[str]:
    found = None if _unrelated(hidden) else hidden.population.correlation(hidden.x, hidden.y)
    return _compare(row, found, lambda value: CORRELATION_BOUND) + _no_abstention(row)


def _edges(hidden: _Hidden, row: Row, target: Any, label_row: Row | None) -> list[str]:
    names = hidden.names
    edges = sorted([names[a], names[b]] for a, b in hidden.graph.edges)
    problems = [] if target["edges"] == edges else [f"edges {target['edges']}, world has {edges}"]
    if target["nodes"] != sorted(names.values()):
        problems.append(f"nodes {target['nodes']}, the world has {sorted(names.values())}")
    return problems + _no_abstention(row)


def _method(hidden: _Hidden, row: Row, target: Any, label_row: Row | None) -> list[str]:
    label = audit_graph.method_label(hidden.graph, hidden.x, hidden.y, hidden.latent)
    problems = [] if target["accepted"] == [label] else [f"{target['accepted']}, derived {label}"]
    return problems + _abstention(row, label == "none")


def _adjustment(hidden: _Hidden, row: Row, target: Any, label_row: Row | None) -> list[str]:
    graph, x, y, latent = hidden.graph, hidden.x, hidden.y, hidden.latent
    found = audit_graph.minimal(audit_graph.valid_sets(graph, x, y, latent))
    sets = sorted(hidden.named(one) for one in found)
    unidentified = not sets and audit_graph.has_hedge(graph, x, y, latent)
    category = "set" if sets else "non_id" if unidentified else "no_backdoor"
    problems = (
        []
        if target == {"category": category, "sets": sets}
        else [f"{target}, derived {category} {sets}"]
    )
    if not nx.has_path(graph, x, y):
        problems.append("asked although no directed path leads from treatment to outcome")
    return problems + _abstention(row, category == "non_id")


def _ate(hidden: _Hidden, row: Row, target: Any, label_row: Row | None) -> list[str]:
    graph, x, y, latent = hidden.graph, hidden.x, hidden.y, hidden.latent
    abstain = nx.has_path(graph, x, y) and audit_graph.has_hedge(graph, x, y, latent)
    return _effect(hidden, row, abstain, hidden.population.ate)


def _ett(hidden: _Hidden, row: Row, target: Any, label_row: Row | None) -> list[str]:
    identifiable = audit_graph.ett_identifiable(
        hidden.graph, hidden.x, hidden.y, hidden.latent, binary_treatment=hidden.binary_treatment
    )
    return _effect(hidden, row, not identifiable, hidden.population.ett)


_AUDITS: Final[Mapping[str, Callable[[_Hidden, Row, Any, Row | None], list[str]]]] = {
    "prediction.point_predictor": _prediction,
    "prediction.prediction_interval": _prediction,
    "association.sign_only": _sign,
    "association.effect_size_point": _correlation,
    "causal_sketch.edges_only": _edges,
    "identification.method_label": _method,
    "identification.all_minimal_adjustment_sets": _adjustment,
    "effect_estimate.ate_point": _ate,
    "effect_estimate.ate_uq_95": _ate,
    "counterfactual_effect.effect_point": _ett,
}


# --- shared pieces ---------------------------------------------------------------------------


def _unrelated(hidden: _Hidden) -> bool:
    """Whether treatment and outcome have no common ancestor, each counted as its own."""
    x, y = ({v, *nx.ancestors(hidden.graph, v)} for v in (hidden.x, hidden.y))
    return not x & y


def _effect(
    hidden: _Hidden,
    row: Row,
    abstain: bool,
    estimate: Callable[[str, str, tuple[float, float]], Estimate],
) -> list[str]:
    problems = _abstention(row, abstain)
    if abstain:
        return problems + ([] if row["value"] is None else ["a value beside an abstention"])
    zero = not nx.has_path(hidden.graph, hidden.x, hidden.y)
    found = None if zero else estimate(hidden.x, hidden.y, hidden.levels)
    return problems + _compare(row, found, lambda value: EFFECT_BOUND * (1 + abs(value)))


def _compare(row: Row, found: Estimate | None, bound: Callable[[float], float]) -> list[str]:
    """Published against found; ``found`` None means exactly zero by the graph."""
    value, se = row["value"], row["value_se"]
    if value is None or se is None:
        return ["no value is published"]
    if found is None:
        exact = value == 0.0 and se == 0.0 and row["value_source"] == "structural_zero"
        return [] if exact else [f"{value} ({row['value_source']}), zero by the graph"]
    problems = []
    if row["value_source"] == "structural_zero":
        problems.append("called a structural zero, but the graph does not make it one")
    if not se <= bound(value):
        problems.append(f"standard error {se:g} above its bound {bound(value):g}")
    allowed = TOLERANCE * math.hypot(se, found.se) + _ROUNDING * (1 + abs(value))
    if not np.isfinite(value) or abs(value - found.value) > allowed:
        problems.append(f"published {value:.6g}, found {found.value:.6g} ± {found.se:.2g}")
    return problems


def _no_abstention(row: Row) -> list[str]:
    return _abstention(row, False)


def _abstention(row: Row, expected: bool) -> list[str]:
    stated = row["should_abstain"]
    return [] if stated is expected else [f"should_abstain is {stated}, derived {expected}"]

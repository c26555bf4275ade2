"""Second derivations: every published truth of a scene, worked out again another way.

The gate of a release calls :func:`audit_instance` on rows as they were written. Numbers are
re-estimated by :mod:`builder.causalds.check.numbers`, graph labels re-derived by
:mod:`builder.causalds.check.graph`; the story is read back, the data are held against the world.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from builder.causalds.check import graph as audit_graph
from builder.causalds.check.expect import Case, Hidden
from builder.causalds.check.numbers import NotAuditable, Population
from builder.causalds.check.quantities import TOLERANCE, audit_quantities
from builder.causalds.check.rows import audit_scene
from builder.causalds.check.tasks import audit_task
from builder.seeds import stream
from builder.words import Attestation, facts_from_json, verify
from builder.words.attested import verify_attested
from builder.words.verbalise import LLM

Row = Mapping[str, Any]


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
def _open(instance_id: str, world_json: str) -> Hidden:
    """The world row read, kept while the views of one scene are audited one after another."""
    record = json.loads(world_json)
    world = record["world"]
    nodes = [node["name"] for node in world["nodes"]]
    seed = hashlib.sha256(instance_id.encode()).digest()
    kinds = {node["name"]: node["kind"] for node in world["nodes"]}
    return Hidden(
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


def _audit_world(hidden: Hidden, scene_row: Row) -> list[str]:
    """The graph told by the story, and the treatment levels."""
    record = hidden.record
    edges = tuple((a, b) for a, b in record["world"]["edges"])
    facts = facts_from_json(record["variables"], edges, hidden.latent, record["hows"])
    attestations = [
        Attestation(tuple(item["what"]), item["sentence"]) for item in record["attestations"]
    ]
    # A language model's story fits no frame: it is checked by the sentences given as evidence.
    check = verify_attested if record["plan"].get("words") == LLM else verify
    problems = [f"story: {text}" for text in check(scene_row["story"], attestations, facts)]
    problems += _numbers(hidden)
    if hidden.binary_treatment:
        if hidden.levels != (0.0, 1.0):
            problems.append(f"binary treatment compared at {hidden.levels}")
        return problems
    for level, share in zip(hidden.levels, (0.25, 0.75), strict=True):
        found = hidden.population.share_below(hidden.x, level)
        # Levels have three digits; rounding moves the share by no more than about 0.01.
        if abs(found.value - share) > TOLERANCE * found.se + 0.01:
            problems.append(f"level {level:g} is the {found.value:.3f} quantile, not {share}")
    return problems


def _numbers(hidden: Hidden) -> list[str]:
    """Every stored number; unknown equations are reported by ``audit_scene``, too."""
    try:
        found = audit_quantities(hidden.record, hidden.graph, hidden.latent, hidden.population)
        return [f"quantities: {text}" for text in found]
    except NotAuditable as error:
        return [f"cannot be audited: {error}"]


def _audit_task(hidden: Hidden, row: Row, label_row: Row | None) -> list[str]:
    key = str(hidden.record["tasks"].get(row["task_id"]))
    try:
        return list(audit_task(key, Case(hidden, row, json.loads(row["target_json"]), label_row)))
    except NotAuditable as error:
        return [f"cannot be audited: {error}"]

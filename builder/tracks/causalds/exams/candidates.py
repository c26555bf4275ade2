"""See scenes, built or planned, as the composition of exams needs them."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from builder.graphs.identification import is_identifiable
from builder.splits.track import Candidate, PossibleTask, Read
from builder.tracks.causalds.design.eligibility import ELIGIBILITY, hosted_variants
from builder.tracks.causalds.design.scene_plan import ScenePlan
from grader.tracks.causalds.shapes import CAUSALDS

_WORDS: Final = frozenset(word for variant in CAUSALDS for word in variant.shape.labels)
"""Labels that some answer may have."""


def label_class(target: Mapping[str, Any], value: float | None, should_abstain: bool) -> str:
    """Return the class of an answer from its truth: its target, its number, whether abstaining is
    right. A balanced exam takes every class of a variant equally often. Numbers are ``abstain``,
    ``zero`` or ``value``. ``eligibility`` says which classes a planned scene can have."""
    if "accepted_before" in target:
        same = target["accepted_before"] == target["accepted_after"]
        return "same" if same else "different"
    if "category" in target:
        return str(target["category"])
    if "accepted" in target:
        first = target["accepted"][0]
        known = isinstance(first, bool | int | None) or first in _WORDS
        return str(first) if known else "value"
    if should_abstain:
        return "abstain"
    return "zero" if value == 0 else "value"


def built_candidates(read: Read) -> list[Candidate]:
    """Return built scenes with their tasks. ``read(config, columns)`` yields rows of a table."""
    columns = ("task_id", "should_abstain", "value", "target_json")
    truths = {row["task_id"]: row for row in read("causalds_truth", columns)}
    rows = defaultdict(list)
    for row in read("causalds", ("task_id", "instance_id", "family", "variant", "view")):
        rows[row["instance_id"]].append(row)
    found = []
    for scene in read("causalds_worlds", ("instance_id", "world_json")):
        world, tasks = json.loads(scene["world_json"]), []
        for row in rows[scene["instance_id"]]:
            name, truth = row["task_id"], truths[row["task_id"]]
            abstains, key = truth["should_abstain"], f"{row['family']}.{row['variant']}"
            label = label_class(json.loads(truth["target_json"]), truth["value"], abstains)
            question = world["task_details"].get(name, "")
            tasks.append(PossibleTask(name, key, row["view"], label, question, abstains))
        plan = ScenePlan.from_json(json.dumps(world["plan"]))
        found.append(Candidate(scene["instance_id"], tuple(tasks), _traits(plan)))
    return found


def planned_candidates(
    plans: Iterable[tuple[str, ScenePlan]], questions: int = 1
) -> list[Candidate]:
    """Return planned scenes, given as (name, plan), with every task they may come to have: each
    hosted variant (or the planned one) in each view with each class, ``questions`` times."""
    found = []
    for name, plan in plans:
        tasks = (
            PossibleTask(f"{name}/{key}/{view.name}/{label}/{n}", key, view.name, label, str(n))
            for key in hosted_variants(plan)
            if plan.questions.variant in (None, key)
            for label in ELIGIBILITY[key].classes(plan)
            for view in plan.questions.views
            for n in range(questions)
        )
        found.append(Candidate(name, tuple(tasks), _traits(plan)))
    return found


def _traits(plan: ScenePlan) -> dict[str, str]:
    """Return what rules of exams look at; ``kind`` is the motif, and if the ATE is identifiable."""
    return {
        "structure": plan.structure.label,
        "kind": f"{plan.structure.motif} {is_identifiable(*plan.structure.query.effect, 'ate')}",
        "domain": plan.telling.domain or "",
        "bundle": plan.telling.bundle or "",
        "telling": plan.telling.arm or "",
    }

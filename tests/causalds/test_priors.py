"""Whether an effect agrees with its reasons: the label, its second derivation, its balance."""

import json
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from causalds_scenes import asked, public, rows, specs, world

from baselines.shortcuts.parrot import expected
from builder.causal.graph import LatentDAG
from builder.causalds.check.hidden import Hidden
from builder.causalds.check.prior import audit_reasons, prior_again
from builder.causalds.make.prior import (
    ESTIMANDS,
    PRIOR,
    expected_sign,
    prior_of,
    reasons_of,
)
from builder.causalds.plan.types import ScenePlan
from builder.words.knowledge import domains
from grader.shape import Task

AIRLINE = {
    "x": "Inbound delay",
    "m": "Duty margin",
    "c": "Catering truck wait",
    "b": "Boarding minutes",
    "s": "Stand switch",
    "w": "Walking distance",
    "y": "Standby crew call",
}


def _plan(edges: str, treatment: str = "x", outcome: str = "y", **changes: object) -> ScenePlan:
    """A plan told in the words of one domain; its graph is the caller's."""
    pairs = tuple((a, b) for a, b in (edge.split(">") for edge in edges.split()))
    nodes = tuple(dict.fromkeys(node for pair in pairs for node in pair))
    first = ScenePlan.from_json(specs()[0].config_json)
    names = tuple((node, AIRLINE[node]) for node in nodes)
    return replace(
        first, nodes=nodes, edges=pairs, latent=(), treatment=treatment, outcome=outcome,
        **{"domain": "airline_turnaround", "names": names, **changes},  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("plan", "estimand", "sign"),
    [
        (_plan("x>m", outcome="m"), "ATE", -1),
        (_plan("x>m m>y"), "ATE", 1),  # a late arrival eats the margin, a thin margin calls a crew
        (_plan("x>m m>y"), "NIE", 1),
        (_plan("x>m m>y"), "NDE", 0),  # there is no direct reason
        (_plan("x>m m>y", "m"), "NDE", -1),
        (_plan("x>m m>y", "m"), "NIE", 0),
        (_plan("x>s s>w", outcome="w"), "ATE", 0),  # the new bay may be near or far
        (_plan("x>c c>b", outcome="b"), "ETT", 1),
        (_plan("x>m m>y", domain=None, names=()), "ATE", 0),  # words that have no reasons
    ],
)  # fmt: skip
def test_a_chain_implies_the_product_of_its_reasons(
    plan: ScenePlan, estimand: str, sign: int
) -> None:
    """And a reason that implies nothing, or none at all, leaves nothing to expect."""
    assert expected_sign(plan, estimand) == sign
    assert prior_of(plan, estimand, 0.3) == {1: "agrees", -1: "conflicts", 0: "none"}[sign]
    assert prior_of(plan, estimand, -0.3) == {-1: "agrees", 1: "conflicts", 0: "none"}[sign]
    assert prior_of(plan, estimand, 0.0) == prior_of(plan, estimand, None) == "none"


def _hidden(plan: ScenePlan, effect: float) -> Hidden:
    """A world row as far as the second derivation of the label looks at it."""
    names = dict(plan.names)
    record: dict[str, Any] = {
        "world": {"edges": plan.edges},
        "plan": {"domain": plan.domain},
        "quantities": {name: {"value": effect} for name in ("ate", "ett", "nde", "nie")},
        "signs": [[*ends, sign] for ends, sign in reasons_of(plan).items()],
    }
    found = object.__new__(Hidden)
    for name, value in {
        "record": record, "names": names, "x": plan.treatment, "y": plan.outcome,
    }.items():  # fmt: skip
        object.__setattr__(found, name, value)
    return found


def test_signs_along_recursion_and_path_by_path_are_the_same() -> None:
    """For every pair of every domain: products by recursion from the
    outcome, and of every simple path that networkx finds."""
    seen: Counter[str] = Counter()
    first = ScenePlan.from_json(specs()[0].config_json)
    for number, domain in enumerate(domains()):
        names = tuple((f"V{i}", one.name) for i, one in enumerate(domain.concepts))
        node = {name: place for place, name in names}
        edges = tuple((node[a], node[b]) for a, b in domain.signs)
        graph = LatentDAG(tuple(place for place, _ in names), edges)
        pairs = [(x, y) for x in graph.nodes for y in sorted(graph.descendants(x) - {x})]
        for x, y in pairs[number % 7 :: 40]:
            between = (graph.descendants(x) | {x}) & (graph.ancestors(y) | {y})
            kept = tuple(edge for edge in edges if between.issuperset(edge))
            plan = replace(
                first, nodes=graph.nodes, edges=kept, latent=(), treatment=x, outcome=y,
                domain=domain.key, names=names,
            )  # fmt: skip
            hidden = _hidden(plan, 0.4)
            assert list(audit_reasons(hidden)) == []
            for family, estimands in ESTIMANDS.items():
                for one in estimands:
                    key = f"{family}.{'ate_point' if one == 'ATE' else 'effect_point'}"
                    again = prior_again(hidden, key, one if len(estimands) > 1 else "")
                    prior = prior_of(plan, one, 0.4)
                    assert again == {PRIOR: prior}, (domain.key, x, y, one)
                    seen[prior] += 1
    assert all(seen[prior] > 30 for prior in ("agrees", "conflicts", "none"))


def test_reasons_of_a_world_row_are_held_against_the_domain() -> None:
    """One that is turned, or left out, is found."""
    hidden = _hidden(_plan("x>m m>y"), 0.4)
    assert list(audit_reasons(hidden)) == []
    signs = hidden.record["signs"]
    signs[0][2] = "+"
    assert "other signs" in next(iter(audit_reasons(hidden)))
    del signs[0]
    assert "not those" in next(iter(audit_reasons(hidden)))


def test_truths_of_effects_and_of_nothing_else_have_the_label() -> None:
    """As numbers, intervals and signs; agreement is a sign that is the expected one."""
    seen: Counter[str] = Counter()
    for built in public():
        plan = ScenePlan.from_json(json.dumps(world(built)["plan"])) if rows(built, "") else None
        assert plan is not None
        for key, _, truth in asked(built):
            target = json.loads(truth["target_json"])
            family, _, name = key.partition(".")
            effects = family in ESTIMANDS and name not in (
                "ate_vs_assoc_sign_match",
                "direct_vs_indirect_dominance",
            )
            assert (PRIOR in target) is effects, key
            if not effects:
                continue
            seen[target[PRIOR]] += 1
            if truth["should_abstain"] or truth["value"] == 0 or target.get("accepted") == ["0"]:
                assert target[PRIOR] == "none"
            elif family == "effect_estimate" and truth["value"] is not None:
                same = truth["value"] * expected_sign(plan, "ATE")
                assert target[PRIOR] == ("agrees" if same > 0 else "conflicts" if same else "none")
    assert min(seen.values()) > 10


def test_the_parrot_expects_what_the_label_says() -> None:
    """From the public side alone, by the names in a story: its sign is the true one where the
    effect agrees with its reasons, and the other one where it conflicts."""
    seen: Counter[str] = Counter()
    for built in public():
        story = rows(built, "_scenes")[0]["story"]
        for key, row, truth in asked(built):
            target = json.loads(truth["target_json"])
            if PRIOR not in target or not key.endswith("sign_only"):
                continue
            task = cast("Task", SimpleNamespace(prompt=row["prompt"], inputs=_inputs(row)))
            sign = {1: "+", -1: "-", 0: None}[expected(task, story)]
            if target[PRIOR] != "none":
                assert (sign == target["accepted"][0]) is (target[PRIOR] == "agrees"), row[
                    "task_id"
                ]
                seen[target[PRIOR]] += 1
            elif not truth["should_abstain"] and target["accepted"] != ["0"]:
                assert sign is None
    assert min(seen["agrees"], seen["conflicts"]) > 3


def _inputs(row: Any) -> Any:
    return json.loads(row["inputs_json"])

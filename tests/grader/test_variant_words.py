"""What is said of every variant, in the documents and on the command line."""

import json
from pathlib import Path

import pytest
from grading import Runner
from small_release import TASKS, task_id

from grader.shape import Variant
from grader.tracks import VARIANTS

CAUSALDS = [spec for spec in VARIANTS if spec.track == "causalds"]
DOCS = Path(__file__).parent.parent.parent / "docs"


_FAMILIES = {
    "prediction": "point_predictor prediction_interval",
    "association": "sign_only effect_size_point sign_before_after delta_point delta_sign_only "
    "argmax_change",
    "collider_phenomenon": "induced_association_boolean induced_association_sign_only "
    "induced_association_strength_point",
    "causal_sketch": "edges_only skeleton_edges",
    "identification": "one_valid_adjustment_set method_label identifiable_boolean "
    "minimal_adjustment_set_size n_valid_adjustment_sets all_minimal_adjustment_sets",
    "effect_estimate": "ate_point ate_uq_95 ate_sign_only ate_vs_assoc_sign_match",
    "bias_diagnostic": "collider_bias_boolean forbidden_controls_list",
    "counterfactual_identification": "identifiable_boolean",
    "counterfactual_effect": "effect_point effect_uq_95 sign_only",
    "mediation_effect": "effect_point effect_uq_95 sign_only direct_vs_indirect_dominance",
}
"""Tables 8-10: the variants of each family."""
PAPER = tuple(f"{family}.{name}" for family, names in _FAMILIES.items() for name in names.split())
"""Others may be added, none of these may go."""


def test_the_papers_33_variants_are_there_in_its_pools() -> None:
    """A.9: 18 exact, 11 numeric (of them 4 intervals) and 4 graded by F1."""
    by_key = {spec.key: spec for spec in CAUSALDS}
    assert len(by_key) == len(CAUSALDS) and len(set(PAPER)) == 33
    pools = [by_key[name].shape.pool for name in PAPER]
    counts = {pool: pools.count(pool) for pool in pools}
    assert counts == {"pass": 18, "nrel_point": 7, "nrel_interval": 4, "f1": 4}


@pytest.mark.parametrize("spec", CAUSALDS, ids=lambda spec: spec.key)
def test_the_answer_format_lists_the_variant_with_its_shape(spec: Variant) -> None:
    """A test taker looks a variant up here, a builder its truth row there."""
    rows = (DOCS / "answer-format.md").read_text("utf-8").splitlines()
    (row,) = [line for line in rows if line.startswith(f"| `{spec.shape.name}` |")]
    assert f"`{spec.key}`" in row
    if spec.shape.suffix == ".json":
        assert f'"{spec.shape.field}"' in row
    assert ("abstains" in row) == spec.shape.abstainable
    formats = (DOCS / "release-format.md").read_text("utf-8").splitlines()
    (kinds,) = [
        line
        for line in formats
        if line.startswith("|")
        and f"`{spec.shape.kind}`" in line
        and line.index(f"`{spec.shape.kind}`") < line.index("|", 1)
    ]
    assert kinds.count("|") == 3


@pytest.mark.parametrize(
    "spec", [spec for spec in VARIANTS if spec.track != "causalds"], ids=lambda spec: spec.key
)
def test_a_variant_of_another_track_stands_in_the_answer_format(spec: Variant) -> None:
    """By its key, or with its whole family."""
    rows = (DOCS / "answer-format.md").read_text("utf-8").splitlines()
    (row,) = [line for line in rows if line.startswith(f"| `{spec.shape.name}` |")]
    assert f"`{spec.key}`" in row or f"`{spec.family}.*`" in row
    assert spec.track in row


@pytest.mark.parametrize("spec", CAUSALDS, ids=lambda spec: spec.key)
def test_explain_tells_rule_answer_and_reason(runner: Runner, gold: Path, spec: Variant) -> None:
    """All that one line each can say, whatever the variant."""
    (name, *_) = [name for name, task in TASKS.items() if task.key == spec.key]
    said = runner.run(
        "explain", task_id(name), "--release", runner.release, "--split", "dev",
        "--answers", gold,
    )  # fmt: skip
    assert said.code == 0
    assert spec.rule in said.out and spec.shape.pool in said.out
    assert "points     1.000 of 1" in said.out
    assert f"rung {spec.rung}, {spec.key}" in said.out
    assert ("\nabstain " in said.out) == spec.shape.abstainable
    if spec.shape.abstainable:
        form = json.dumps({spec.shape.field: spec.shape.abstention}, separators=(",", ":"))
        assert f"abstain    {form}" in said.out

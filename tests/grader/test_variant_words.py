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


def test_the_variants_are_the_papers_33_in_its_pools() -> None:
    """A.9: 18 exact, 11 numeric (of them 4 intervals) and 4 graded by F1."""
    pools = [spec.shape.pool for spec in CAUSALDS]
    counts = {pool: pools.count(pool) for pool in pools}
    assert counts == {"pass": 18, "nrel_point": 7, "nrel_interval": 4, "f1": 4}
    assert len({spec.key for spec in CAUSALDS}) == 33


@pytest.mark.parametrize("spec", CAUSALDS, ids=lambda spec: spec.key)
def test_the_answer_format_lists_the_variant_with_its_shape(spec: Variant) -> None:
    """A test taker looks a variant up here, a builder its truth row there."""
    rows = (DOCS / "answer-format.md").read_text("utf-8").splitlines()
    (row,) = [line for line in rows if line.startswith(f"| `{spec.shape.name}` |")]
    assert f"`{spec.key}`" in row
    if spec.shape.suffix == ".json":
        assert f'"{spec.shape.field}"' in row
    assert ("abstains" in row) == spec.shape.abstainable
    assert f"`{spec.shape.name}`" in (DOCS / "release-format.md").read_text("utf-8")


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

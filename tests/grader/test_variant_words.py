"""What is said of every variant, in the documents and on the command line."""

import json
from pathlib import Path

import pytest
from grading import Runner
from small_release import TASKS, task_id

from grader.scoring.shape import Variant
from grader.tracks import VARIANTS

CAUSALDS = [spec for spec in VARIANTS if spec.track == "causalds"]
DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.mark.parametrize("spec", VARIANTS, ids=lambda spec: spec.key)
def test_the_answer_format_describes_the_shape_of_the_variant(spec: Variant) -> None:
    """A test taker looks the shape of a task up here, a builder its truth row there."""
    rows = (DOCS / "answer-format.md").read_text("utf-8").splitlines()
    of_track = "" if spec.track == "causalds" else f" ({spec.track})"
    (row,) = [line for line in rows if line.startswith(f"| `{spec.shape.name}`{of_track} |")]
    if of_track:
        return
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


@pytest.mark.parametrize("spec", CAUSALDS, ids=lambda spec: spec.key)
def test_explain_tells_rule_answer_and_reason(runner: Runner, gold: Path, spec: Variant) -> None:
    """All that one line each can say, whatever the variant."""
    (name, *_) = [name for name, task in TASKS.items() if task.key == spec.key]
    said = runner.run("explain", task_id(name), *runner.dev, "--answers", gold)
    assert said.code == 0
    text = " ".join(said.out.split())
    assert spec.rule in text and spec.shape.pool in text
    assert "points     100.0 of 100" in said.out
    assert f"rung {spec.rung}, {spec.key}" in text
    assert ("\nabstain " in said.out) == spec.shape.abstainable
    if spec.shape.abstainable:
        form = json.dumps({spec.shape.field: spec.shape.abstention}, separators=(",", ":"))
        assert f"abstain    {form}" in said.out


def test_schema_knows_names_and_near_misses(runner: Runner) -> None:
    """A short name suffices where it is unique; a misspelt one is corrected."""
    assert "ate_uq_95" in runner.run("schema").out
    for name in ("ate_uq_95", *(spec.key for spec in VARIANTS)):
        assert json.loads(runner.run("schema", name).out)["title"]
    message = runner.fails("schema", "effect_estimate.ate_piont")
    assert "did you mean 'effect_estimate.ate_point'" in message

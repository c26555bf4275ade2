"""`schema`: what an answer must look like, by the name of a variant."""

import json

import pytest
from grading import Runner

from grader.commands.main import main
from grader.scoring.shape import Variant
from grader.tracks import VARIANTS


@pytest.mark.parametrize("spec", VARIANTS, ids=lambda spec: spec.key)
def test_schema_prints_the_schema_of_a_variant(
    spec: Variant, capsys: pytest.CaptureFixture[str]
) -> None:
    """By family.variant, whatever the shape."""
    assert main(["schema", spec.key]) == 0
    assert json.loads(capsys.readouterr().out)["title"]


def test_schema_knows_names_and_near_misses(runner: Runner) -> None:
    """A short name suffices where it is unique; a misspelt one is corrected."""
    assert "ate_uq_95" in runner.run("schema").out
    assert json.loads(runner.run("schema", "ate_uq_95").out)["title"]
    assert "did you mean 'effect_estimate.ate_point'" in runner.fails(
        "schema", "effect_estimate.ate_piont"
    )

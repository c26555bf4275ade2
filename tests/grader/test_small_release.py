"""The hand-made release is itself a release: it fits the manifest schema and verifies."""

import json
from pathlib import Path

import pytest
from small_release import TASKS

from grader.io.release import Release
from grader.io.schemas import first_problem
from grader.tracks import VARIANTS
from grader.verify import verify


@pytest.mark.parametrize("side", ["public", "private"])
def test_the_manifests_fit_their_schema(release: Path, side: str) -> None:
    """Otherwise every test here would be about a format that no builder writes."""
    manifest = json.loads((release / side / "manifest.json").read_text(encoding="utf-8"))
    assert first_problem("manifest", manifest) is None


def test_the_release_verifies(release: Path) -> None:
    """The commitments, written out again here, must be the ones that ``verify`` recomputes."""
    assert [check for check in verify(Release.open(release)) if not check.ok] == []


def test_every_variant_is_asked_in_every_form() -> None:
    """A variant, or its abstention, that no task asks would pass every test by absence."""
    for spec in (spec for spec in VARIANTS if spec.track == "causalds"):
        forms = {task.abstain for task in TASKS.values() if task.key == spec.key}
        assert forms == ({False, True} if spec.shape.abstainable else {False}), spec.key

"""A fingerprint covers the code behind a release."""

from pathlib import Path

import pytest

from builder.release.identity import code_files


@pytest.mark.parametrize(
    "name",
    [
        "builder/tracks/causalds/make/scene.py",
        "builder/gate/sql/ids.sql",
        "builder/stories/frames.toml",
        "dataset_card/public.md",
        "grader/scoring/shape.py",
        "schemas/manifest.json",
    ],
)
def test_code_and_what_it_reads_are_covered(root: Path, name: str) -> None:
    """A rule that is edited must not leave parts of an earlier build in a release."""
    assert root / name in code_files()


def test_compiled_and_hidden_files_are_not(root: Path) -> None:
    """They differ from run to run."""
    names = {part for file in code_files() for part in file.relative_to(root).parts}
    assert not any(name.startswith(".") or name == "__pycache__" for name in names)

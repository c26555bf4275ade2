"""A small real release in which every variant is asked, in clean and measured views."""

from pathlib import Path
from typing import Final

from ungated import build_ungated

SPLITS: Final = """
name = "small"
version = "0.1.0"
floor_tasks = 0

[splits.dev]
truth = "public"
seed = "baselines 1"

[splits.dev.causalds]
scenes = 36
composition = "full"
rows = { train = 1500, test = 100 }
treatment_binary = 0.75
outcome_binary = 0.4
views = ["clean", "proxy"]

[splits.dev.exams.balanced]
causalds = { exam = "balanced.toml" }
"""
EXAM: Final = """
kind = "balanced"
tasks = 132
"""


def build(folder: Path) -> Path:
    """Builds the release under ``folder``, in this process and without a gate."""
    (folder / "balanced.toml").write_text(EXAM, encoding="utf-8")
    file = folder / "small.toml"
    file.write_text(SPLITS, encoding="utf-8")
    return build_ungated(file, folder / "release")

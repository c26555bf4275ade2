"""The split files of the repository with all they hold, made small enough to build in a test."""

import shutil
from pathlib import Path

SMALLER = {
    "mini.toml": {
        'version = "0.1.0"\n': 'version = "0.1.0"\nfloor_tasks = 3\n',
        # Those motifs that ten scenes need to be asked every variant.
        "scenes = 36": (
            "scenes = 10\nmotifs = { chain = 1, fork = 1, collider = 1, confounding = 2, "
            "mediation = 2, frontdoor = 1, iv = 1, double_nc = 1 }"
        ),
        "rows = { train = 2000, test = 500 }": "rows = { train = 800, test = 200 }",
        "simulation = 6\ndirect = 6\ndeductive = 8\nlinear = 6": (
            "simulation = 3\ndirect = 3\ndeductive = 4\nlinear = 3"
        ),
        "full = 9\nmatched = 6\nbase = 3": "full = 3\nmatched = 3\nbase = 2",
        "graphs = 2": "graphs = 1",
    },
    "exams/mini.toml": {"tasks = 100": "tasks = 66"},
    "private-example.toml": {
        'version = "0.1.0"\n': 'version = "0.1.0"\nfloor_tasks = 0\n',
        "scenes = 30": "scenes = 2",
        "scenes = 66": "scenes = 11",
        # A balanced exam tries many worlds for a rare answer, which no test needs here.
        '{ exam = "exams/private-example.toml" }': '{ tasks = "all" }',
    },
}


def write_splits(splits: Path, folder: Path) -> Path:
    """Copies the folder ``splits`` to ``folder`` and makes its files smaller."""
    shutil.copytree(splits, folder, ignore=shutil.ignore_patterns("*.lock.json"))
    for name, changes in SMALLER.items():
        file = folder / name
        text = file.read_text(encoding="utf-8")
        for old, new in changes.items():
            assert old in text, f"splits/{name} has no {old!r}"
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")
    return folder

"""``python -m benchmarks.speed``: whole-process times of the grader, stage shares of the builder.

Absolute times depend on the machine; read the ratios. Every figure is the median of several runs
that alternate with the runs of its reference, so that a drifting machine does both the same.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from grader.io.process import exit_with

REFERENCE: Final = [sys.executable, "-c", "import duckdb, jsonschema"]
ROUNDS: Final = 9
ROOT: Final = Path(__file__).resolve().parent.parent


def time_against_reference(command: list[str]) -> tuple[str, str, str]:
    """Return the median seconds of both commands by turns, and their ratio and range."""
    seconds: dict[str, list[float]] = {"ours": [], "reference": []}
    for _ in range(ROUNDS + 1):
        for name, words in (("reference", REFERENCE), ("ours", command)):
            start = time.perf_counter()
            subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - start)
    ours, theirs = (seconds[name][1:] for name in seconds)  # the first pair warms the file cache
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return (
        f"{statistics.median(ours):.3f}",
        f"{statistics.median(theirs):.3f}",
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f} – {max(ratios):.2f})",
    )


def main() -> int:
    """Build the mini release and answer it, then time the grader on it and print a table."""
    console = Console()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "build_dataset.py", "build", "splits/mini.toml", "--out"]
        console.rule("building splits/mini.toml: where the time goes")
        subprocess.run([*build, str(folder / "release")], cwd=ROOT, check=True)
        answers = folder / "informed"
        release = ["--release", str(folder / "release")]
        baseline = [sys.executable, "-m", "baselines", "informed", *release]
        subprocess.run([*baseline, "--out", str(answers)], cwd=ROOT, check=True)
        grade = [sys.executable, "-m", "grader", str(answers), *release, "--quiet"]
        title = "whole process, median of paired runs; reference: " + REFERENCE[-1]
        head = ("command", "seconds", "reference", "ratio (min – max)", "target")
        table = Table(*head, title=title)
        for label, command, target in (
            ("grade, 100 causalds tasks", [*grade, "--track", "causalds"], "≤ 3"),
            ("grade, all tracks of mini", grade, ""),
            ("validate, all tracks of mini", [*grade[:3], "validate", *grade[3:-1]], ""),
            ("schema of one variant", [*grade[:3], "schema", "ate_uq_95"], ""),
        ):
            table.add_row(label, *time_against_reference(command), target)
        console.print(table)
    return 0


if __name__ == "__main__":
    exit_with(main)

"""``python -m benchmarks``: whole-process times of the grader, stage shares of the builder.

Absolute times depend on the machine; read the ratios. Every figure is the median of several runs
that alternate with the runs of its reference, so that a drifting machine does both the same.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.timing import PAIRED, REFERENCE, ROOT, paired
from grader.io.pipe import exit_with


def main() -> int:
    """Build the mini release, then time grading it against the reference."""
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
        table = Table("command", *PAIRED, "target", title=title)
        for label, command, target in (
            ("grade, 100 causalds tasks", [*grade, "--track", "causalds"], "≤ 3"),
            ("grade, all tracks of mini", grade, ""),
            ("validate, all tracks of mini", [*grade[:3], "validate", *grade[3:-1]], ""),
            ("schema of one variant", [*grade[:3], "schema", "ate_uq_95"], ""),
        ):
            table.add_row(label, *paired(command), target)
        console.print(table)
    return 0


if __name__ == "__main__":
    exit_with(main)

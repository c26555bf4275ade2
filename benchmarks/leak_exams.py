"""``python -m benchmarks.leak_exams``: the leak test of the private exams, with enough scenes.

    python -m benchmarks.leak_exams

A private split asks each scene once, and so in an exam of a hundred tasks hardly two rows have all
their disclosures in common: the gate's leak test has next to nothing to permute there. This builds
the private split of ``splits/main.toml`` with every exam so many times as long and few rows of
data, under a secret of its own, and runs the same test on it. Then it plants a leak (each exam asks
first what cannot be answered) to show that one would be seen. Exit code 1 if a fact leaks, or if
the planted leak goes unseen.
"""

import argparse
import os
import re
import secrets
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.timing import MAIN
from builder.gate.leak.permutation import leak_test
from builder.gate.report import GateReport
from builder.release.build import build_release
from builder.release.config import load_config
from builder.release.roots import read_roots
from builder.release.show.progress import Reporter
from grader.errors import UsageError
from grader.io.pipe import exit_with

SPLIT: Final = """
name = "leak-exams"
version = "0.1.0"

[splits.test]
truth = "private"
secret_env = "{variable}"

[splits.test.causalds]
scenes = {scenes}
composition = "full"
rows = {{ train = 300, test = 100 }}
treatment_binary = {treatment_binary}
outcome_binary = {outcome_binary}
outcome_measured = {outcome_measured}
views = ["clean", "proxy", "proxy_hard"]
"""
EXAM: Final = """
[splits.test.exams.{name}]
causalds = {{ exam = "{name}.toml" }}
"""
VARIABLE: Final = "CAUSAL_EXAMS_LEAK_SECRET"


def write_config(folder: Path, times: int) -> Path:
    """The main release's private split, ``times`` as long, as a configuration in ``folder``."""
    split = tomllib.loads(MAIN.read_text(encoding="utf-8"))["splits"]["test"]
    text, scenes = "", 0
    for name, tracks in split["exams"].items():
        if "causalds" not in tracks:
            continue
        exam = (MAIN.parent / tracks["causalds"]["exam"]).read_text(encoding="utf-8")
        tasks = times * int(tomllib.loads(exam)["tasks"])
        longer = re.sub(r"(?m)^tasks = \d+$", f"tasks = {tasks}", exam)
        (folder / f"{name}.toml").write_text(longer, encoding="utf-8")
        text, scenes = text + EXAM.format(name=name), scenes + tasks
    shares = {
        key: split["causalds"][key]
        for key in ("treatment_binary", "outcome_binary", "outcome_measured")
    }
    file = folder / "leak-exams.toml"
    head = SPLIT.format(variable=VARIABLE, scenes=scenes, **shares)
    file.write_text(head + text, encoding="utf-8")
    return file


def build(folder: Path, times: int, secret: str) -> Path:
    """The release with the longer exams, under ``folder``; a function of ``times`` and secret."""
    config = load_config(write_config(folder, times))
    roots, _ = read_roots(config, {VARIABLE: secret})
    release = folder / "release"
    build_release(
        config,
        release,
        roots,
        lambda *_: GateReport(()),
        workers=os.cpu_count() or 1,
        reporter=Reporter(),
    )
    return release


def plant(release: Path) -> None:
    """Lets each exam ask first what cannot be answered; hashes are left as they were."""
    truths = pq.read_table(release / "private" / "causalds_truth").to_pylist()
    abstain = {row["task_id"]: row["should_abstain"] for row in truths}
    for file in (release / "public" / "causalds_exams").glob("*.parquet"):
        table = pq.read_table(file)
        rows = sorted(table.to_pylist(), key=lambda r: (r["exam"], not abstain[r["task_id"]]))
        places = {name: count() for name in {row["exam"] for row in rows}}
        moved = [{**row, "position": next(places[row["exam"]])} for row in rows]
        pq.write_table(pa.Table.from_pylist(moved, table.schema), file)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, test, print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leak_exams")
    parser.add_argument("--times", type=int, default=3, help="how much longer the exams are")
    parser.add_argument("--secret", help="the split's secret (default: one drawn now)")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        try:
            release = build(Path(folder), chosen.times, chosen.secret or secrets.token_hex(32))
        except UsageError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        report = leak_test(release, split="test")
        print(report.markdown())
        plant(release)
        planted = leak_test(release, split="test")
    seen = {row.fact: row.p for row in planted.leaks}
    print(f"planted, abstentions first in every exam: {seen or 'not seen'}")
    return 0 if report.ok and seen else 1


if __name__ == "__main__":
    exit_with(main)

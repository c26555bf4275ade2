"""``python -m benchmarks.grading``: the grader on synthetic exams, whole processes.

Two loads: an exam of 100 tasks of which 23 are prediction files of 4,000 rows, as a ratio to the
import of what the grader needs; and 100,000 JSON answers of all other variants in one
``answers.parquet``, in seconds and peak memory. The tasks are those of a few scenes built here.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.built import pairs_of, task_row
from benchmarks.timing import PAIRED, measured, paired
from builder.causalds.track import TRACK
from builder.settings import TomlTable
from grader.io.pipe import exit_with
from grader.model import Truth
from grader.shape import Task

ROWS: Final = 4000
SCENES: Final = 15
"""Enough for the predictions: each scene asks for two."""
PREDICTIONS: Final = 23
EXAM: Final = 100
MANY: Final = 100_000
Labels = Mapping[str, NDArray[np.float64]]
"""Values of the held-out rows by instance, each of shape (ROWS,)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Make both loads, grade them and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grading")
    parser.add_argument("--answers", type=int, default=MANY, help="answers in the large table")
    count = parser.parse_args(arguments).answers
    console = Console()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs, labels = _built()
        predictions = [pair for pair in pairs if pair[0].shape.suffix == ".csv"][:PREDICTIONS]
        others = [pair for pair in pairs if pair[0].shape.suffix == ".json"]
        exam = [*predictions, *others[: EXAM - len(predictions)]]
        answers = _write(folder / "exam", exam, labels, table=False)
        grade = [sys.executable, "-m", "grader", "--quiet", "--release"]
        table = Table("load", *PAIRED, "target", title="whole process, median of paired runs")
        load = f"{len(exam)} tasks, {len(predictions)} prediction files of {ROWS:,} rows"
        command = [*grade, str(folder / "exam"), str(answers)]
        table.add_row(load, *paired(command), "≤ 3")
        console.print(table)
        many = [others[k % len(others)] for k in range(count)]
        answers = _write(folder / "many", many, {}, table=True)
        seconds, processor, peak = measured([*grade, str(folder / "many"), str(answers)])
    console.print(
        f"{count:,} JSON answers in one answers.parquet: {seconds:.1f} s (target < 30), "
        f"{processor:.1f} s of them processor time, {peak / 1e9:.2f} GB at its peak (target < 1, "
        "of a million < 2)"
    )
    return 0


def _built() -> tuple[list[tuple[Task, Truth]], Labels]:
    """Tasks of some scenes in one view with their truths, and the labels of predictions."""
    table = {
        "scenes": SCENES, "composition": "full", "views": ["clean"],
        "rows": {"train": 300, "test": ROWS},
    }  # fmt: skip
    config = TRACK.parse(TomlTable(table, "grading."))
    scenes = [TRACK.build(spec) for spec in TRACK.plan(config, "dev", b"grading", False)]
    labels: list[Mapping[str, Any]] = [
        row for built in scenes for row in built.rows["causalds_labels"]
    ]
    pairs = [pair for built in scenes for pair in pairs_of(built, "causalds")]
    return pairs, {row["instance_id"]: row["values"] for row in labels}


def _write(
    release: Path, pairs: Sequence[tuple[Task, Truth]], labels: Labels, *, table: bool
) -> Path:
    """A release with public truth that asks ``pairs`` in turn, and right answers to it.

    A task that comes again gets an id of its own.
    """
    asked = []
    for k, (task, truth) in enumerate(pairs):
        name = f"cds-{k:016x}"
        again = replace(task, task_id=name, answer_file=name + task.shape.suffix)
        asked.append((again, replace(truth, task_id=name)))
    told = ("task_id", "instance_id", "should_abstain", "structure", "value", "value_se")
    shards = {
        "causalds": [task_row(task) for task, _ in asked],
        "causalds_exams": [
            {"exam": "all-of-it", "position": k, "task_id": task.task_id}
            for k, (task, _) in enumerate(asked)
        ],
        "causalds_truth": [
            {**{key: getattr(truth, key) for key in told}, "target_json": json.dumps(truth.target)}
            for _, truth in asked
        ],
        "causalds_labels": [
            {"instance_id": name, "values": values} for name, values in labels.items()
        ],
    }
    entries = {}
    for config, rows in shards.items():
        if not rows:
            continue
        file = release / "public" / config / "dev-00000-of-00001.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), file, compression="zstd")
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        entries[f"{config}/{file.name}"] = {"sha256": digest}
    manifest = {
        "release": "synthetic", "version": "1", "shards": entries,
        "splits": {"dev": {"truth": "public"}},
    }  # fmt: skip
    (release / "public" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    folder = release / "answers"
    folder.mkdir()
    answers = {task.task_id: _answer(task, truth, labels) for task, truth in asked}
    if table:
        columns = {"task_id": list(answers), "answer": list(answers.values())}
        pq.write_table(pa.table(columns), folder / "answers.parquet", compression="zstd")
    else:
        for task, _ in asked:
            (folder / task.answer_file).write_text(answers[task.task_id], encoding="utf-8")
    return folder


def _answer(task: Task, truth: Truth, labels: Labels) -> str:
    """A right answer; of a prediction, one with all the digits that software writes."""
    if task.shape.suffix == ".json":
        return task.shape.gold(task, truth)
    values = labels[task.instance_id]
    noise, width = np.random.default_rng(1).standard_normal((2, ROWS))
    columns = {"prediction": values + noise, "lower": values - 1.1 - abs(width)}
    return str(pd.DataFrame({**columns, "upper": values + 1.1}).to_csv(index=False))


if __name__ == "__main__":
    exit_with(main)

"""``python -m benchmarks.grading``: the grader on synthetic exams, whole processes.

Two loads: an exam of 100 tasks of which 23 are prediction files of 4,000 rows, as a ratio to the
import of what the grader needs; and 100,000 JSON answers of all other variants in one
``answers.parquet``, in seconds and peak memory. Releases and answers are made here, from nothing.
"""

import argparse
import hashlib
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from benchmarks.built import task_row
from benchmarks.timing import PAIRED, measured, paired
from grader.model import Truth
from grader.shape import Task, Variant
from grader.tracks import VARIANTS

NAMES: Final = ("Rain", "Soil warmth", "Crop yield", "Price", "Demand")
ROWS: Final = 4000
PREDICTIONS: Final = 23
EXAM: Final = 100
MANY: Final = 100_000
CSV: Final = tuple(v for v in VARIANTS if v.track == "causalds" and v.shape.suffix == ".csv")
JSON: Final = tuple(v for v in VARIANTS if v.track == "causalds" and v.shape.suffix == ".json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make both loads, grade them and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grading")
    parser.add_argument("--answers", type=int, default=MANY, help="answers in the large table")
    count = parser.parse_args(arguments).answers
    console = Console()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exam = [CSV[k % 2] if k < PREDICTIONS else JSON[k % len(JSON)] for k in range(EXAM)]
        answers = _write(folder / "exam", exam, table=False)
        grade = [sys.executable, "-m", "grader", "--quiet", "--release"]
        table = Table("load", *PAIRED, "target", title="whole process, median of paired runs")
        load = f"{EXAM} tasks, {PREDICTIONS} prediction files of {ROWS:,} rows"
        command = [*grade, str(folder / "exam"), str(answers)]
        table.add_row(load, *paired(command), "≤ 6")
        console.print(table)
        many = [JSON[k % len(JSON)] for k in range(count)]
        answers = _write(folder / "many", many, table=True)
        seconds, processor, peak = measured([*grade, str(folder / "many"), str(answers)])
    console.print(
        f"{count:,} JSON answers in one answers.parquet: {seconds:.1f} s (target < 30), "
        f"{processor:.1f} s of them processor time, {peak / 1e9:.2f} GB at its peak (target < 1)"
    )
    return 0


def _write(release: Path, variants: Sequence[Variant], *, table: bool) -> Path:
    """A release with public truth that asks ``variants``, and answers to it, right or nearly so."""
    rng = random.Random(1)
    asked = [_asked(k, spec, rng) for k, spec in enumerate(variants)]
    shards = {
        "causalds": [task_row(task) for task, _ in asked],
        "causalds_exams": [
            {"exam": "all of it", "position": k, "task_id": task.task_id}
            for k, (task, _) in enumerate(asked)
        ],
        "causalds_truth": [_truth_row(truth) for _, truth in asked],
        "causalds_labels": [
            {"instance_id": truth.instance_id, "values": truth.labels}
            for _, truth in asked
            if truth.labels
        ],
    }
    entries = {}
    for config, rows in shards.items():
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
    answers = {task.task_id: _answer(task, truth, rng) for task, truth in asked}
    if table:
        columns = {"task_id": list(answers), "answer": list(answers.values())}
        pq.write_table(pa.table(columns), folder / "answers.parquet", compression="zstd")
    else:
        for task, _ in asked:
            (folder / task.answer_file).write_text(answers[task.task_id], encoding="utf-8")
    return folder


def _asked(number: int, spec: Variant, rng: random.Random) -> tuple[Task, Truth]:
    """A task and a truth of the variant; one JSON task in four is not identifiable.

    A scene has as many JSON tasks as there are variants, and one prediction.
    """
    task_id = f"cds-{number:016x}"
    inputs = {
        "rows": ROWS, "alpha": 0.1 if spec.shape.suffix == ".csv" else 0.05, "available": NAMES[2:],
        "candidates": NAMES[2:],
    }  # fmt: skip
    scene = number if spec.shape.suffix == ".csv" else number // len(JSON)
    instance = f"scene-{spec.shape.suffix[1:]}-{scene:06}"
    task = Task(
        task_id, instance, spec, "clean", spec.shape.input_mode, "A question.", spec.shape.name,
        task_id + spec.shape.suffix, inputs,
    )  # fmt: skip
    due = spec.shape.abstainable and rng.random() < 0.25
    numeric = spec.shape.pool.startswith("nrel") and spec.shape.suffix == ".json"
    labels = None
    if spec.shape.suffix == ".csv":
        labels = tuple(round(rng.gauss(0, 1), 5) for _ in range(ROWS))
    value = rng.gauss(0, 1) if numeric and not due else None
    target = {} if numeric else _target(spec, due)
    return task, Truth(task_id, instance, due, "chain", value, None, target, labels)


def _target(spec: Variant, due: bool) -> dict[str, Any]:
    """What a truth row of the variant holds (``grader/tracks/causalds``)."""
    edges = [[NAMES[k], NAMES[k + 1]] for k in range(4)]
    category = spec.shape.abstention if due else "set"
    choice = spec.shape.labels[0] if spec.shape.labels else True
    own: dict[str, dict[str, Any]] = {
        "prediction_csv": {"kind": "continuous", "sd": 1.0, "rows": ROWS},
        "prediction_interval_csv": {"kind": "continuous", "sd": 1.0, "rows": ROWS},
        "signs_before_after": {"accepted_before": ["+"], "accepted_after": ["-"]},
        "conditioning_var": {"accepted": [NAMES[2]]},
        "edges": {"nodes": NAMES, "edges": edges},
        "skeleton_edges": {"nodes": NAMES, "edges": edges},
        "adjustment_set": {"category": category, "sets": [] if due else [NAMES[2:4]]},
        "adjustment_sets": {"category": category, "sets": [] if due else [NAMES[2:4]]},
        "forbidden": {"category": category, "names": [] if due else NAMES[3:]},
    }
    return own.get(spec.shape.name, {"accepted": [spec.shape.abstention if due else choice]})


def _answer(task: Task, truth: Truth, rng: random.Random) -> str:
    """A right answer; of a prediction, one with all the digits that software writes."""
    if task.shape.suffix == ".json":
        return task.shape.gold(task, truth)
    assert truth.labels is not None
    rows = (f"{y + rng.gauss(0, 1)!r},{y - 1.1 - rng.random()!r},{y + 1.1!r}" for y in truth.labels)
    return "\n".join(["prediction,lower,upper", *rows]) + "\n"


def _truth_row(truth: Truth) -> dict[str, Any]:
    names = ("task_id", "instance_id", "should_abstain", "structure", "value", "value_se")
    row = {name: getattr(truth, name) for name in names}
    return {**row, "target_json": json.dumps(truth.target)}


if __name__ == "__main__":
    sys.exit(main())

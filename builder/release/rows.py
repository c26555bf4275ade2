"""The tables that every track has alike and their rows, as they are written and as the grader reads
them (``docs/release-format.md``)."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa

from builder.splits.track import InstanceSpec, Row
from grader.io.jsonio import canonical_json
from grader.release.rows import TASK_COLUMNS, task_of, truth_of
from grader.scoring.model import Truth
from grader.scoring.shape import Task, Variant
from grader.scoring.track import Track

TEXT: Final = pa.string()


def table_schema(
    *fields: tuple[str, pa.DataType], nullable: frozenset[str] = frozenset()
) -> pa.Schema:
    """Return an explicit schema; only the fields named in ``nullable`` may be null."""
    return pa.schema([pa.field(name, kind, nullable=name in nullable) for name, kind in fields])


TASKS: Final = table_schema(
    *((name, pa.int8() if name == "rung" else TEXT) for name in TASK_COLUMNS)
)
"""One row per task: config ``<track>``."""

COMMITMENTS: Final = table_schema(("config", TEXT), ("row_id", TEXT), ("sha256", TEXT))
"""One row per private row: the hash that binds its publisher (:func:`..arrow.commitment`)."""

FLAT: Final = table_schema(
    ("task_id", TEXT),
    ("track", TEXT),
    ("family", TEXT),
    ("variant", TEXT),
    ("rung", pa.int8()),
    ("view", TEXT),
    ("prompt", TEXT),
    ("answer", TEXT),
    ("answer_schema", TEXT),
    ("answer_schema_json", TEXT),
    ("answer_file", TEXT),
    nullable=frozenset({"answer"}),
)
"""One row per task of any track: config ``tasks``."""

TRUTH: Final = table_schema(
    ("task_id", TEXT),
    ("instance_id", TEXT),
    ("should_abstain", pa.bool_()),
    ("structure", TEXT),
    ("value", pa.float64()),
    ("value_se", pa.float64()),
    ("value_draws", pa.int64()),
    ("value_source", TEXT),
    ("target_json", TEXT),
    nullable=frozenset({"value", "value_se", "value_draws", "value_source"}),
)
"""One row per task: config ``<track>_truth``."""


def worlds_schema(*texts: str) -> pa.Schema:
    """Return the schema of ``<track>_worlds``: one row per instance. ``world_key`` rebuilds the
    world, ``attempt`` is the number of the try that was accepted, ``world_json`` is the world.
    ``texts`` names the columns of text that a track has besides."""
    return table_schema(
        ("instance_id", TEXT),
        ("index", pa.int32()),
        ("attempt", pa.int16()),
        ("world_key", TEXT),
        ("structure", TEXT),
        *((name, TEXT) for name in texts),
        ("world_json", TEXT),
    )


def scenes_schema(number: pa.DataType) -> pa.Schema:
    """Return the schema of ``<track>_scenes``: rows by instance and view, tables of ``number``."""
    table = pa.list_(pa.struct([("name", TEXT), ("values", pa.list_(number))]))
    return table_schema(
        ("instance_id", TEXT),
        ("view", TEXT),
        ("story", TEXT),
        ("columns", pa.list_(pa.struct([("name", TEXT), ("kind", TEXT)]))),
        ("data", table),
        ("test_features", table),
        ("calibration", table),
    )


def labels_schema(number: pa.DataType) -> pa.Schema:
    """Return the schema of ``<track>_labels``: one row per instance, with its held-out outcomes."""
    return table_schema(
        ("instance_id", TEXT),
        ("outcome", TEXT),
        ("kind", TEXT),
        ("values", pa.list_(number)),
    )


class TrueValue(NamedTuple):
    """The right answer to a task that asks one number, its standard error, and how it was found.

    ``draws`` is the size of the sample behind it, 0 where it is exact. Error and draws are None
    where they are not known.
    """

    value: float
    se: float | None = 0.0
    draws: int | None = 0
    source: str = "exact"


def task_row(
    name: str,
    instance_id: str,
    variant: Variant,
    prompt: str,
    inputs: Mapping[str, object],
    *,
    view: str = "clean",
    input_mode: str | None = None,
) -> Row:
    """Return a row of ``<track>``: the task whose id is ``name``. ``inputs`` are the parameters of
    the question. ``input_mode`` defaults to the variant's own."""
    return {
        "task_id": name,
        "instance_id": instance_id,
        "track": variant.track,
        "rung": variant.rung,
        "family": variant.family,
        "variant": variant.name,
        "view": view,
        "input_mode": input_mode or variant.shape.input_mode,
        "prompt": prompt,
        "answer_schema": variant.shape.name,
        "answer_file": name + variant.shape.suffix,
        "inputs_json": canonical_json(dict(inputs)),
    }


def truth_row(
    name: str,
    instance_id: str,
    structure: str,
    target: Mapping[str, object],
    number: TrueValue | None = None,
    *,
    should_abstain: bool = False,
) -> Row:
    """Return a row of ``<track>_truth`` for the task whose id is ``name``. ``target`` holds all of
    the truth that is not one number. Without a ``number`` its columns are null."""
    return {
        "task_id": name,
        "instance_id": instance_id,
        "should_abstain": should_abstain,
        "structure": structure,
        "value": None if number is None else number.value,
        "value_se": None if number is None else number.se,
        "value_draws": None if number is None else number.draws,
        "value_source": None if number is None else number.source,
        "target_json": canonical_json(dict(target)),
    }


def world_row(
    spec: InstanceSpec,
    attempt: int,
    structure: str,
    world: Mapping[str, object],
    *,
    key: str | None = None,
    **texts: str,
) -> Row:
    """Return a row of ``<track>_worlds``, which suffices to rebuild and audit the instance.

    ``key`` (hexadecimal) is the instance's own by default; worlds that several instances share have
    another. ``texts`` are the columns that the track's schema has besides.
    """
    return {
        "instance_id": spec.instance_id,
        "index": spec.index,
        "attempt": attempt,
        "world_key": key or spec.key.hex(),
        "structure": structure,
        **texts,
        "world_json": canonical_json(dict(world)),
    }


def read_task(
    row: Mapping[str, Any],
    truths: Mapping[str, Mapping[str, Any]],
    labels: Mapping[str, Mapping[str, Any]],
    track: Track,
) -> tuple[Task, Truth]:
    """Return a task with its truth as the grader reads them.

    ``truths`` are truth rows by task, ``labels`` rows of labels by instance. Raises ``KeyError``,
    ``ValueError``, ``TypeError`` or ``UsageError`` for a row that the grader cannot read.
    """
    task = task_of(row, {track.name: track})
    values = None
    if task.shape.kind == "predictions":
        values = [*map(float, labels[task.instance_id]["values"])]
    return task, truth_of(truths[task.task_id], values)

"""The tables that every track has alike: tasks and truths, as the grader reads them."""

from typing import Final

import pyarrow as pa

TEXT: Final = pa.string()


def table_schema(
    *fields: tuple[str, pa.DataType], nullable: frozenset[str] = frozenset()
) -> pa.Schema:
    """Return an explicit schema; only the fields named in ``nullable`` may be null."""
    return pa.schema([pa.field(name, kind, nullable=name in nullable) for name, kind in fields])


TASKS: Final = table_schema(
    ("task_id", TEXT),
    ("instance_id", TEXT),
    ("track", TEXT),
    ("rung", pa.int8()),
    ("family", TEXT),
    ("variant", TEXT),
    ("view", TEXT),
    ("input_mode", TEXT),
    ("prompt", TEXT),
    ("answer_schema", TEXT),
    ("answer_file", TEXT),
    ("inputs_json", TEXT),
)
"""One row per task: config ``<track>`` (``docs/release-format.md``)."""

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
    """Return the schema of ``<track>_worlds``: one row per instance. ``texts`` names the columns of
    text that a track has besides.

    ``key`` rebuilds the instance, ``attempt`` is the number of the try that was accepted,
    ``world_json`` is the world.
    """
    return table_schema(
        ("instance_id", TEXT),
        ("index", pa.int32()),
        ("attempt", pa.int16()),
        ("key", TEXT),
        ("structure", TEXT),
        *((name, TEXT) for name in texts),
        ("world_json", TEXT),
    )


def scenes_schema(number: pa.DataType) -> pa.Schema:
    """Return the schema of ``<track>_scenes``: one row per instance and view. ``number`` is the
    type of the values in its tables."""
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
    """Return the schema of ``<track>_labels``: one row per instance, with its held-out outcomes as
    ``number``."""
    return table_schema(
        ("instance_id", TEXT),
        ("outcome", TEXT),
        ("kind", TEXT),
        ("values", pa.list_(number)),
    )

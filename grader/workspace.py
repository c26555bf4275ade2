"""Workspaces: the public side of a task as files a person or an agent can open."""

import shutil
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
from rich.console import Console
from rich.progress import track

from grader import parquet
from grader.jsonio import pretty
from grader.model import Task
from grader.release import Release
from grader.schemas import schema


def write_workspaces(release: Release, split: str, tasks: Sequence[Task], folder: Path) -> None:
    """One sub-folder of ``folder`` per task, named by its id.

    Each holds ``prompt.md`` and ``answer.schema.json``; where the track ships scenes,
    ``story.md``; data tasks also
    ``data.parquet`` and ``columns.json``, and ``calibration.parquet`` where variables are measured;
    predictions also ``test_features.parquet``.
    """
    scenes: dict[tuple[str, str, str], list[Task]] = defaultdict(list)
    for task in tasks:
        scenes[task.track, task.instance_id, task.view].append(task)
    progress = Console(stderr=True)
    with parquet.connect() as connection:
        for (name, instance_id, view), asked in track(
            sorted(scenes.items()),
            description="scenes",
            console=progress,
            disable=not sys.stderr.isatty(),
            transient=True,
        ):
            files = release.public.shards(f"{name}_scenes", split)
            if not files:  # a track whose prompts hold all there is
                _write_prompts(asked, folder)
                continue
            scene = _read_scene(connection, files, instance_id, view)
            _write_scene(connection, scene, asked, folder)


def _write_prompts(asked: Sequence[Task], folder: Path) -> None:
    for task in asked:
        place = folder / task.task_id
        place.mkdir()
        _write_question(task, place)


def _write_question(task: Task, place: Path) -> None:
    (place / "prompt.md").write_text(task.prompt, encoding="utf-8")
    document = schema(f"answers/{task.answer_schema}")
    (place / "answer.schema.json").write_text(pretty(document), encoding="utf-8")


def _read_scene(
    connection: duckdb.DuckDBPyConnection, files: list[Path], instance_id: str, view: str
) -> dict[str, Any]:
    """Story and columns of one scene; its tables stay in DuckDB as table ``scene``."""
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE scene AS SELECT * FROM {parquet.SCAN} "
        "WHERE instance_id = ? AND view = ?",
        [[parquet.literal(file) for file in files], instance_id, view],
    )
    names = [column[0] for column in connection.execute("DESCRIBE scene").fetchall()]
    calibration = "[t.name FOR t IN calibration]" if "calibration" in names else "[]"
    row = connection.execute(
        "SELECT story, columns, [t.name FOR t IN data], [t.name FOR t IN test_features], "
        f"{calibration} FROM scene"
    ).fetchone()
    if row is None:
        raise ValueError(f"scene {instance_id} ({view}) is not in the release")
    return dict(zip(("story", "columns", "data", "test_features", "calibration"), row, strict=True))


def _write_scene(
    connection: duckdb.DuckDBPyConnection,
    scene: dict[str, Any],
    asked: Sequence[Task],
    folder: Path,
) -> None:
    written: dict[str, Path] = {}
    for task in asked:
        place = folder / task.task_id
        place.mkdir()
        _write_question(task, place)
        (place / "story.md").write_text(scene["story"] + "\n", encoding="utf-8")
        if task.input_mode != "data":
            continue
        (place / "columns.json").write_text(pretty(scene["columns"]), encoding="utf-8")
        tables = ["data", "test_features"] if task.family == "prediction" else ["data"]
        for table in tables + (["calibration"] if scene["calibration"] else []):
            file = place / f"{table}.parquet"
            if table in written:
                # A copy, not a link: an agent that edits its data must not edit another's.
                shutil.copyfile(written[table], file)
            else:
                _write_table(connection, table, scene[table], file)
                written[table] = file


def _write_table(
    connection: duckdb.DuckDBPyConnection, table: str, names: Sequence[str], file: Path
) -> None:
    """A nested table column as a flat Parquet file, one column per name, rows in order."""
    selected = ", ".join(
        f"unnest({table}[{k}].values) AS {parquet.identifier(name)}"
        for k, name in enumerate(names, start=1)
    )
    parquet.copy_to(
        connection, f"SELECT {selected} FROM scene", file, "FORMAT parquet, COMPRESSION zstd"
    )

"""Workspaces: the public side of a task as files a person or an agent can open."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import duckdb

from grader.io import parquet
from grader.io.jsonio import pretty
from grader.io.paths import inside
from grader.io.schemas import schema
from grader.pages.terminal import progress
from grader.release.beside import TABLES
from grader.release.release import Release
from grader.scoring.shape import Task

TOGETHER: Final = 8
"""Scenes read at once: a row group holds many, and is read whole for each that is wanted."""


def write_workspaces(release: Release, split: str, tasks: Sequence[Task], folder: Path) -> None:
    """One sub-folder of ``folder`` per task, named by its id.

    ``tasks`` come with their prompts. Each folder holds ``prompt.md`` and ``answer.schema.json``;
    where the track ships scenes, ``story.md``; data tasks also ``data.parquet`` and
    ``columns.json``, and ``calibration.parquet`` where variables are measured; predictions also
    ``test_features.parquet``.
    """
    asked: dict[str, dict[tuple[str, str], list[Task]]] = {}
    for task in tasks:
        scenes = asked.setdefault(task.track, {})
        scenes.setdefault((task.instance_id, task.view), []).append(task)
    with parquet.connect() as connection, progress() as shown:
        bar = shown.add_task("tasks", total=len(tasks))
        for name, scenes in sorted(asked.items()):
            files = release.public.shards(f"{name}_scenes", split)
            if not files:  # a track whose prompts hold all there is
                for task in chain.from_iterable(scenes.values()):
                    _write_question(task, folder)
                continue
            ordered = sorted(scenes)
            for start in range(0, len(ordered), TOGETHER):
                places = ordered[start : start + TOGETHER]
                read = _read_scenes(connection, files, places)
                for place in places:
                    _write_scene(connection, read[place], scenes[place], folder)
                    shown.update(bar, advance=len(scenes[place]), refresh=True)


def workspace_files(release: Release, split: str, task: Task) -> dict[str, bytes]:
    """Return the files of one task's workspace by name."""
    with tempfile.TemporaryDirectory(prefix="workspace-") as name:
        write_workspaces(release, split, release.with_prompts(split, [task]), Path(name))
        (place,) = Path(name).iterdir()
        return {file.name: file.read_bytes() for file in sorted(place.iterdir())}


def _write_question(task: Task, folder: Path) -> Path:
    """The folder of one task, with its prompt and schema."""
    place = inside(folder, task.task_id)
    place.mkdir()
    (place / "prompt.md").write_text(task.prompt, encoding="utf-8")
    document = schema(f"answers/{task.shape.name}")
    (place / "answer.schema.json").write_text(pretty(document), encoding="utf-8")
    return place


def _read_scenes(
    connection: duckdb.DuckDBPyConnection, files: list[Path], places: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], dict[str, Any]]:
    """Some scenes by (instance, view), given by these in order; raises ``ValueError`` without one.

    Rows are sorted by instance, so that the range leaves most row groups unread.
    """
    there = parquet.column_names(connection, files)
    names = [name for name in ("instance_id", "view", "story", "columns", *TABLES) if name in there]
    where = "WHERE instance_id BETWEEN ? AND ? AND list_contains(?, instance_id || '/' || view)"
    sought = [f"{instance_id}/{view}" for instance_id, view in places]
    rows = parquet.read(connection, files, names, where, [places[0][0], places[-1][0], sought])
    found = {(row[0], row[1]): dict(zip(names, row, strict=True)) for row in rows}
    if lost := set(places).difference(found):
        raise ValueError(f"scenes {sorted(lost)} are not in the release")
    return found


def _write_scene(
    connection: duckdb.DuckDBPyConnection,
    scene: Mapping[str, Any],
    asked: Sequence[Task],
    folder: Path,
) -> None:
    written: dict[str, Path] = {}
    for task in asked:
        place = _write_question(task, folder)
        (place / "story.md").write_text(scene["story"] + "\n", encoding="utf-8")
        if task.input_mode != "data":
            continue
        (place / "columns.json").write_text(pretty(scene["columns"]), encoding="utf-8")
        tables = ["data", "test_features"] if task.family == "prediction" else ["data"]
        for table in tables + (["calibration"] if scene.get("calibration") else []):
            file = place / f"{table}.parquet"
            if table in written:
                # A copy, not a link: an agent that edits its data must not edit another's.
                shutil.copyfile(written[table], file)
            else:
                _write_table(connection, scene[table], file)
                written[table] = file


def _write_table(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[Mapping[str, Any]], file: Path
) -> None:
    """A nested table as a flat Parquet file, one column per name, rows in order."""
    selected = ", ".join(
        f"unnest(${k}::FLOAT[]) AS {parquet.identifier(column['name'])}"
        for k, column in enumerate(columns, start=1)
    )
    values = [column["values"] for column in columns]
    connection.execute(f"CREATE OR REPLACE TEMP TABLE flat AS SELECT {selected}", values)
    parquet.copy_to(connection, "SELECT * FROM flat", file, "FORMAT parquet, COMPRESSION zstd")

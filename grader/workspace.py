"""Workspaces: the public side of a task as files a person or an agent can open."""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from grader.io import parquet
from grader.io.jsonio import pretty
from grader.io.paths import inside
from grader.io.schemas import schema
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
    with parquet.connect() as connection, _progress() as progress:
        bar = progress.add_task("tasks", total=len(tasks))
        for name, scenes in sorted(asked.items()):
            files = release.public.shards(f"{name}_scenes", split)
            if not files:  # a track whose prompts hold all there is
                for task in (task for asked_here in scenes.values() for task in asked_here):
                    _write_question(task, folder)
                    progress.advance(bar)
                continue
            places = sorted(scenes)
            for start in range(0, len(places), TOGETHER):
                chunk = places[start : start + TOGETHER]
                _read_scenes(connection, files, chunk)
                for place in chunk:
                    scene = _read_scene(connection, *place)
                    _write_scene(connection, scene, scenes[place], folder)
                    progress.advance(bar, len(scenes[place]))


def workspace_files(release: Release, split: str, task: Task) -> dict[str, bytes]:
    """Return the files of one task's workspace by name."""
    with tempfile.TemporaryDirectory(prefix="workspace-") as name:
        write_workspaces(release, split, release.with_prompts(split, [task]), Path(name))
        (place,) = Path(name).iterdir()
        return {file.name: file.read_bytes() for file in sorted(place.iterdir())}


def _progress() -> Progress:
    """A bar on a terminal, nothing elsewhere."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    return Progress(
        *columns,
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )


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
) -> None:
    """Keeps some scenes, given by sorted (instance, view), as DuckDB's table ``scenes``.

    Rows are sorted by instance, so that the range leaves most row groups unread.
    """
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE scenes AS SELECT * FROM {parquet.SCAN} "
        "WHERE instance_id BETWEEN ? AND ? AND list_contains(?, instance_id || '/' || view)",
        [
            [parquet.literal(file) for file in files],
            places[0][0],
            places[-1][0],
            [f"{instance_id}/{view}" for instance_id, view in places],
        ],
    )


def _read_scene(
    connection: duckdb.DuckDBPyConnection, instance_id: str, view: str
) -> dict[str, Any]:
    """Story and columns of one of the scenes kept; its tables go into the table ``scene``."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE scene AS SELECT * FROM scenes "
        "WHERE instance_id = ? AND view = ?",
        [instance_id, view],
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
        place = _write_question(task, folder)
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

"""Workspaces: the public side of a task as files a person or an agent can open."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from grader.io import parquet
from grader.io.jsonio import pretty_json
from grader.io.paths import path_inside
from grader.io.schemas import schema
from grader.pages.terminal import progress
from grader.release.release import ReleaseFolder
from grader.release.scenes import Scene, scenes_at
from grader.scoring.shape import Task

TOGETHER: Final = 8
"""Scenes read at once: a row group holds many and is read whole for any of them."""


def write_workspaces(
    release: ReleaseFolder, split: str, tasks: Sequence[Task], folder: Path
) -> None:
    """Write one sub-folder of ``folder`` per task, named by its id.

    ``tasks`` come with their prompts. Each folder holds ``prompt.md``, ``answer.schema.json`` and,
    where the prompt names it, ``reading.md``; where it names or lacks it, the story in
    ``story.md``; data tasks also ``data.parquet`` and ``columns.json``, and ``calibration.parquet``
    where variables are measured; predictions also ``test_features.parquet``.
    """
    asked: dict[str, dict[tuple[str, str], list[Task]]] = {}
    for task in tasks:
        places = asked.setdefault(task.track, {})
        places.setdefault((task.instance_id, task.view), []).append(task)
    with progress() as shown:
        bar = shown.add_task("tasks", total=len(tasks))
        for track, places in sorted(asked.items()):
            has_scenes = bool(release.public.shards(f"{track}_scenes", split))
            ordered = sorted(places)
            for start in range(0, len(ordered), TOGETHER):
                chunk = ordered[start : start + TOGETHER]
                found = scenes_at(release, split, chunk) if has_scenes else {}
                for place in chunk:
                    reading = release.tracks[track].reading
                    folders = [_write_question(task, folder, reading) for task in places[place]]
                    if has_scenes:
                        _write_scene(found[place], list(zip(places[place], folders, strict=True)))
                    shown.update(bar, advance=len(folders), refresh=True)


def workspace_files(release: ReleaseFolder, split: str, task: Task) -> dict[str, bytes]:
    """Return the files of one task's workspace by name."""
    with tempfile.TemporaryDirectory(prefix="workspace-") as name:
        write_workspaces(release, split, release.with_prompts(split, [task]), Path(name))
        (place,) = Path(name).iterdir()
        return {file.name: file.read_bytes() for file in sorted(place.iterdir())}


def _write_question(task: Task, folder: Path, reading: Path | None) -> Path:
    """Make the folder of one task, write its prompt, schema and ``reading`` there; return it."""
    place = path_inside(folder, task.task_id)
    place.mkdir()
    (place / "prompt.md").write_text(task.prompt, encoding="utf-8")
    text = pretty_json(schema(f"answers/{task.shape.name}"))
    (place / "answer.schema.json").write_text(text, encoding="utf-8")
    if reading is not None and reading.name in task.prompt:
        shutil.copyfile(reading, place / reading.name)
    return place


def _write_scene(scene: Scene, places: Sequence[tuple[Task, Path]]) -> None:
    """Write story, columns and tables of a scene into the folders of its tasks."""
    written: dict[str, Path] = {}
    for task, place in places:
        if "story.md" in task.prompt or scene.story not in task.prompt:
            (place / "story.md").write_text(scene.story + "\n", encoding="utf-8")
        if task.input_mode == "data":
            (place / "columns.json").write_text(pretty_json(scene.columns), encoding="utf-8")
        for name, columns in scene.tables_of(task).items():
            file = place / f"{name}.parquet"
            if name in written:
                # A copy, not a link: an agent that edits its data must not edit another's.
                shutil.copyfile(written[name], file)
            else:
                table = {column: ("FLOAT", values) for column, values in columns}
                parquet.write_columns(file, table)
                written[name] = file

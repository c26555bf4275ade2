"""What a test taker may read of a release: the tasks, the exams and the scenes.

Only the public repository is opened, and in it only the configs ``<track>``, ``<track>_exams``
and ``<track>_scenes``. Nothing here knows where truths, labels or worlds are kept.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grader.io.release import ENVIRONMENT_VARIABLE, Release, select_exam
from grader.shape import Task

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ShownScene:
    """One instance as the public sees it; a story-only scene has empty tables.

    ``kinds`` maps each column to ``continuous`` or ``binary``; ``data`` and ``test`` map a column
    to its values, shapes ``(rows,)`` and ``(held-out rows,)``, in the table's own units;
    ``calibration`` holds some rows of ``data`` with the measured variables themselves.
    """

    instance_id: str
    view: str
    story: str
    kinds: Mapping[str, str]
    data: Mapping[str, FloatArray]
    test: Mapping[str, FloatArray]
    calibration: Mapping[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenedExam:
    """A chosen exam: its public repository, split, name and tasks in order.

    ``path`` is the folder that was asked for, ``private`` the private side if it was handed over;
    both are for systems that see the truth, and nothing here opens them.
    """

    release: Release
    split: str
    name: str
    tasks: tuple[Task, ...]
    path: Path
    private: Path | None = None


def open_exam(
    path: Path | None, split: str | None, exam: str | None, private: Path | None = None
) -> OpenedExam:
    """The exam of the release folder (or public repository) at ``path``, as a test taker sees it.

    Defaults as in the grader: ``$CAUSAL_EXAMS_RELEASE`` or ``./release``, the only split, the
    only exam or the one that is called as the release is; ``all`` is the whole split. Raises
    ``UsageError``.
    """
    path = path or Path(os.environ.get(ENVIRONMENT_VARIABLE) or "release")
    # The public folder alone: a test taker has no private one, even where a maintainer does.
    release = Release.open(path / "public" if (path / "public").is_dir() else path)
    split = release.choose_split(split)
    exams, tasks = release.exams(split), release.tasks(split)
    name, tasks = select_exam(exams, tasks, exam, own=release.public.manifest["release"])
    return OpenedExam(release, split, name, tuple(tasks), path, private)


def iterate_scenes(
    exam: OpenedExam, tasks: Collection[Task]
) -> Iterator[tuple[ShownScene, list[Task]]]:
    """Each scene that ``tasks`` ask about with those of it, one row group in memory at a time.

    Tasks of a track that ships no scenes are not visited.
    """
    asked: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        asked.setdefault((task.instance_id, task.view), []).append(task)
    for track in sorted({task.track for task in tasks}):
        for shard in exam.release.public.shards(f"{track}_scenes", exam.split):
            for scene in _scenes(shard, asked.keys()):
                yield scene, asked[scene.instance_id, scene.view]


def stories(exam: OpenedExam, tasks: Collection[Task]) -> dict[tuple[str, str], str]:
    """The story of each instance and view that ``tasks`` ask about; no table is read."""
    asked = {(task.instance_id, task.view) for task in tasks}
    columns = ["instance_id", "view", "story"]
    return {
        (row["instance_id"], row["view"]): row["story"]
        for track in sorted({task.track for task in tasks})
        for shard in exam.release.public.shards(f"{track}_scenes", exam.split)
        for row in pq.ParquetFile(shard).read(columns).to_pylist()
        if (row["instance_id"], row["view"]) in asked
    }


def _scenes(shard: Path, wanted: Collection[tuple[str, str]]) -> Iterator[ShownScene]:
    with shard.open("rb") as stream:
        file = pq.ParquetFile(stream)
        for group in range(file.num_row_groups):
            keys = file.read_row_group(group, columns=["instance_id", "view"]).to_pylist()
            rows = [i for i, key in enumerate(keys) if (key["instance_id"], key["view"]) in wanted]
            if rows:
                table = file.read_row_group(group).take(rows)
                yield from (_scene(table.slice(i, 1)) for i in range(table.num_rows))


def _scene(row: Any) -> ShownScene:
    """A scene from a table of one row."""
    plain = row.select(["instance_id", "view", "story", "columns"]).to_pylist()[0]
    return ShownScene(
        plain["instance_id"],
        plain["view"],
        plain["story"],
        {column["name"]: column["kind"] for column in plain["columns"] or ()},
        _columns(row.column("data")[0]),
        _columns(row.column("test_features")[0]),
        _columns(row.column("calibration")[0]) if "calibration" in row.column_names else {},
    )


def _columns(cell: Any) -> dict[str, FloatArray]:
    """A nested column ``list<struct<name, values>>`` as name -> values, shape (rows,)."""
    return {
        str(column["name"]): np.asarray(column["values"].values, dtype=np.float64)
        for column in cell.values or ()
    }

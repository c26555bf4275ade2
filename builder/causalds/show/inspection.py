"""Finding one scene in a release and showing it: ``build_dataset.py inspect RELEASE SCENE``."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb

from builder.causalds.show.page import SceneRows, page, summary
from grader.errors import UsageError
from grader.io import parquet
from grader.names import did_you_mean

_SIDES: Final = ("public", "private")


def inspect_scene(release: Path, scene: str) -> tuple[str, str]:
    """(HTML page, summary for a terminal) of a scene, by its id or as ``split/index``.

    Raises ``UsageError`` when the release holds no worlds, or not this one.
    """
    with parquet.connect() as connection:
        world, split = _find(connection, release, scene)
        name = world["instance_id"]

        def rows(config: str) -> list[dict[str, Any]]:
            files = _shards(release, config, split)
            return _read(connection, files, "instance_id = ?", name) if files else []

        scenes = {row["view"]: row for row in rows("causalds_scenes")}
        order = [view for view in ("clean", "proxy", "proxy_hard") if view in scenes]
        found = SceneRows(
            world,
            {view: scenes[view] for view in order},
            rows("causalds"),
            {row["task_id"]: row for row in rows("causalds_truth")},
        )
    return page(found), summary(found)


def _find(
    connection: duckdb.DuckDBPyConnection, release: Path, scene: str
) -> tuple[dict[str, Any], str]:
    known: list[str] = []
    for split in _splits(release):
        files = _shards(release, "causalds_worlds", split)
        prefix, _, index = scene.rpartition("/")
        if prefix == split and index.isdecimal():
            found = _read(connection, files, '"index" = ?', int(index))
        else:
            found = _read(connection, files, "instance_id = ?", scene)
        if found:
            return found[0], split
        known += [
            str(name)
            for (name,) in connection.execute(
                f"SELECT instance_id FROM {parquet.SCAN}", [[parquet.literal(f) for f in files]]
            ).fetchall()
        ]
    if not known:
        raise UsageError(
            f"{release}: holds no causalds_worlds; name a release with public truth, or one with "
            "its private side"
        )
    raise UsageError(
        f"{scene}: not among the {len(known)} scenes of {release}{did_you_mean(scene, known)}; "
        f"name a scene such as {known[0]}, or split/index such as {_splits(release)[0]}/0"
    )


def _splits(release: Path) -> list[str]:
    names = {path.name.split("-")[0] for path in _every(release, "causalds_worlds")}
    return sorted(names)


def _every(release: Path, config: str) -> Iterator[Path]:
    for side in _SIDES:
        yield from sorted((release / side / config).glob("*.parquet"))


def _shards(release: Path, config: str, split: str) -> list[Path]:
    return [path for path in _every(release, config) if path.name.split("-")[0] == split]


def _read(
    connection: duckdb.DuckDBPyConnection, files: list[Path], where: str, value: str | int
) -> list[dict[str, Any]]:
    result = connection.execute(
        f"SELECT * FROM {parquet.SCAN} WHERE {where}",
        [[parquet.literal(file) for file in files], value],
    )
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

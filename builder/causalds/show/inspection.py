"""Finding one scene in a release and showing it: ``build_dataset.py inspect RELEASE SCENE``."""

import json
from pathlib import Path
from typing import Any

from builder.causalds.show.page import SceneRows, headline, page
from builder.release.reader import every_shard, rows, rows_where
from grader.errors import UsageError
from grader.names import did_you_mean


def inspect_scene(release: Path, scene: str) -> tuple[str, str]:
    """(HTML page, headline) of a scene, by its id or as ``split/index``.

    Raises ``UsageError`` when the release holds no worlds, or not this one.
    """
    world, split = _find(release, scene)

    def of_scene(config: str) -> list[dict[str, Any]]:
        paths = every_shard(release, config).get(split, [])
        return list(rows_where(paths, "instance_id", world["instance_id"]))

    scenes = {row["view"]: row for row in of_scene("causalds_scenes")}
    order = [view for view in ("clean", "proxy", "proxy_hard") if view in scenes]
    found = SceneRows(
        world,
        {view: scenes[view] for view in order},
        of_scene("causalds"),
        {row["task_id"]: row for row in of_scene("causalds_truth")},
    )
    name, record = str(world["instance_id"]), json.loads(world["world_json"])
    return page(found), f"{name}\n{headline(world, record)}"


def _find(release: Path, scene: str) -> tuple[dict[str, Any], str]:
    worlds = every_shard(release, "causalds_worlds")
    prefix, _, index = scene.rpartition("/")
    for split, paths in worlds.items():
        if prefix == split and index.isdecimal():
            found = rows_where(paths, "index", int(index))
        else:
            found = rows_where(paths, "instance_id", scene)
        for world in found:
            return world, split
    known = [
        row["instance_id"] for paths in worlds.values() for row in rows(paths, ["instance_id"])
    ]
    if not known:
        raise UsageError(
            f"{release}: holds no causalds_worlds; name a release with public truth, or one with "
            "its private side"
        )
    raise UsageError(
        f"{scene}: not among the {len(known)} scenes of {release}{did_you_mean(scene, known)}; "
        f"name a scene such as {known[0]}, or split/index such as {min(worlds)}/0"
    )

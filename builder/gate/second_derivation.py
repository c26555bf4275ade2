"""The gate's second derivation of every truth: what a track's ``audit`` gets, row by row."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from builder.gate.tables import SplitTables, scene_rows
from builder.release.reader import rows, shards
from builder.tracks import TRACKS, load_track

AuditJob = tuple[str, Mapping[str, Any], Sequence[Mapping[str, Any]], Any, Mapping[str, Any]]
"""The track's reference, world row, truth rows, label row or None, scene row (or task rows)."""


def audit_jobs(release: Path, table: SplitTables) -> Iterator[AuditJob]:
    """The jobs of a table, read as they are asked for: all at once they fill memories."""
    side = release / ("private" if table.private else "public")
    truths: dict[str, list[Mapping[str, Any]]] = {}
    for truth in table.truth.values():
        truths.setdefault(truth["instance_id"], []).append(truth)
    labels = {
        row["instance_id"]: row for row in rows(shards(side, f"{table.track}_labels", table.split))
    }
    reference = TRACKS.reference(table.track)
    if not TRACKS[table.track].scenes:
        asked = _task_rows(release, table)
        for name, world in table.worlds.items():
            yield reference, world, truths.get(name, []), labels.get(name), asked[name]
        return
    views = {task.task_id: task.view for task in table.tasks.values()}
    for scene in scene_rows(shards(release / "public", f"{table.track}_scenes", table.split)):
        name = scene["instance_id"]
        shown = [t for t in truths.get(name, []) if views.get(t["task_id"]) == scene["view"]]
        if name in table.worlds:
            yield reference, table.worlds[name], shown, labels.get(name), scene


def _task_rows(release: Path, table: SplitTables) -> dict[str, Mapping[str, Any]]:
    """For a track without scenes: instance to ``{"tasks": [its task rows]}``."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows(shards(release / "public", table.track, table.split)):
        found.setdefault(row["instance_id"], []).append(row)
    return {instance: {"tasks": members} for instance, members in found.items()}


def audit(job: AuditJob) -> list[str]:
    """The problems of one instance; an exception is one, never a reason to skip the check."""
    reference, world, truths, label, shown = job
    try:
        found = load_track(reference).audit(world, truths, label, shown)
    except Exception as error:
        found = [f"the second derivation failed: {type(error).__name__}: {error}"]
    return [f"{world['instance_id']}: {problem}" for problem in found]

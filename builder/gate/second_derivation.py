"""The gate's second derivation of every truth: which module derives it, from which rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from builder.gate import checks as gate_checks
from builder.gate import tables as gate_tables
from builder.gate.tables import SplitTables

AUDITS: Final[Mapping[str, str]] = {
    "causalab": "builder.causalab.check.audit:audit_instance",
    "causalds": "builder.causalds.check.audit:audit_instance",
    "ccr": "builder.ccr.check.audit:audit_instance",
    "replayscm": "builder.replayscm.check.audit:audit_instance",
}
"""Track to its second derivation of every truth of an instance, as ``module:function``."""

AuditJob = tuple[str, Mapping[str, Any], Sequence[Mapping[str, Any]], Any, Mapping[str, Any]]
"""Track, world row, truth rows, label row or None, scene row (or, without scenes, task rows)."""


class AuditJobs(Sequence[AuditJob]):
    """The jobs of all tables, read as they are asked for in turn: all at once they fill memories.

    Going back starts reading again from the first.
    """

    def __init__(self, release: Path, tables: Sequence[SplitTables]) -> None:
        self._release = release
        self._tables = tables
        self._next = 0
        self._left = iter(self)

    def __len__(self) -> int:
        return sum(
            len(table.worlds if _without_scenes(table) else table.scenes) for table in self._tables
        )

    def __iter__(self) -> Iterator[AuditJob]:
        for table in self._tables:
            yield from _audit_jobs(self._release, table)

    def __getitem__(self, index: Any) -> Any:
        if index < self._next:
            self._next, self._left = 0, iter(self)
        for job in self._left:
            self._next += 1
            if self._next > index:
                return job
        raise IndexError(index)


def _audit_jobs(release: Path, table: SplitTables) -> Iterator[AuditJob]:
    side = release / ("private" if table.private else "public")
    truths: dict[str, list[Mapping[str, Any]]] = {}
    for truth in table.truth.values():
        truths.setdefault(truth["instance_id"], []).append(truth)
    labels = {
        row["instance_id"]: row
        for row in gate_tables.rows(gate_tables.shards(side, f"{table.track}_labels", table.split))
    }
    if _without_scenes(table):
        asked = _task_rows(release, table)
        for name, world in table.worlds.items():
            yield table.track, world, truths.get(name, []), labels.get(name), asked[name]
        return
    views = {task.task_id: task.view for task in table.tasks.values()}
    for scene in gate_tables.scene_rows(
        gate_tables.shards(release / "public", f"{table.track}_scenes", table.split)
    ):
        name = scene["instance_id"]
        shown = [t for t in truths.get(name, []) if views.get(t["task_id"]) == scene["view"]]
        if name in table.worlds:
            yield (table.track, table.worlds[name], shown, labels.get(name), scene)


def _without_scenes(table: SplitTables) -> bool:
    return table.track in gate_checks.WITHOUT_SCENES


def _task_rows(release: Path, table: SplitTables) -> dict[str, Mapping[str, Any]]:
    """For a track without scenes: instance to ``{"tasks": [its task rows]}``."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in gate_tables.rows(gate_tables.shards(release / "public", table.track, table.split)):
        found.setdefault(row["instance_id"], []).append(row)
    return {instance: {"tasks": members} for instance, members in found.items()}


def audit(job: AuditJob) -> list[str]:
    """The problems of one instance; an exception is one, never a reason to skip the check."""
    track, world, truths, label, scene = job
    module, function = AUDITS[track].split(":")
    derive: Callable[..., list[str]] = getattr(import_module(module), function)
    try:
        found = derive(world, truths, label, scene)
    except Exception as error:
        found = [f"the second derivation failed: {type(error).__name__}: {error}"]
    return [f"{world['instance_id']}: {problem}" for problem in found]

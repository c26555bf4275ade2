"""One build from configuration to finished release, stage by stage."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from builder.gate.report import GateReport
from builder.release.arrow import content_sha256
from builder.release.blocks import BlockSpecs, blocks_of
from builder.release.config import ReleaseConfig, SplitConfig
from builder.release.engine import Workers, map_instances, processes_of
from builder.release.exams import (
    EXAM_SCHEMA,
    Candidate,
    Exams,
    draw_exams,
    exam_table,
    looked_at,
    moved_mass,
)
from builder.release.flat import WriteJob, write_job, write_jobs
from builder.release.floors import stated_floors
from builder.release.identity import canary, fingerprint
from builder.release.manifest import Contents, Parts, manifest_of
from builder.release.papers import write_papers
from builder.release.parts import (
    Part,
    build_instance,
    staged_rows,
)
from builder.release.planning import Planned, Specs, find_spec, plan_specs, planned_in_blocks
from builder.release.processes import seconds_of_workers
from builder.release.roots import Root
from builder.release.schemas import COMMITMENTS
from builder.release.shards import (
    SHARD_BYTES,
    Shard,
    ShardJob,
    marked,
    plan_shards,
    with_commitments,
    write_whole,
)
from builder.release.show.progress import Reporter
from builder.release.staging import Check, Staging, build_parts
from builder.release.store import Store
from builder.release.workspace import (
    Workspace,
    check_replaceable,
    finished_release,
    opened,
    place,
    publish,
    write_gate,
)
from builder.track import DrawnExam, InstanceSpec
from builder.tracks import TRACKS

Gate = Callable[[Path, Reporter, Parts], GateReport]
"""What an assembled release must pass; it is also given the staged parts."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a build ended. ``folder`` holds the release, or what the gate refused.

    ``manifest`` is the public manifest; ``gate`` is absent when nothing had to be built.
    """

    status: Literal["built", "already built", "refused by the gate"]
    folder: Path
    manifest: Mapping[str, Any]
    gate: GateReport | None


def build_release(
    config: ReleaseConfig,
    out: Path,
    roots: Mapping[str, Root],
    gate: Gate,
    *,
    check: Check | None = None,
    staging: str | None = None,
    workers: Workers,
    fresh: bool = False,
    reporter: Reporter,
    shard_bytes: int = SHARD_BYTES,
) -> Outcome:
    """Builds a release into ``out``, or finds it there.

    The bytes depend on the configuration, the roots and the code, not on ``workers`` or on what
    an interrupted run left behind. ``check`` looks at each part where it was staged, ``gate`` at
    the whole. Workers leave their parts at ``staging``, an fsspec address, where they do not share
    the folder of ``out``. Raises ``UsageError``, ``InstanceFailed`` and ``WorkerDied``.
    """
    workspace = place(out)
    floors = stated_floors(config)
    for remark in floors.remarks:
        reporter.note(remark)
    mark = fingerprint(config, roots, floors.members)
    if fresh:
        check_replaceable(workspace)
    else:
        manifest = finished_release(workspace, mark)
        if manifest is not None:
            return Outcome("already built", workspace.out, manifest, None)
    specs = plan_specs(config, roots)
    store = None if staging is None else Store(staging, mark)
    with opened(workspace, mark, fresh) as resuming:
        if store is not None and fresh:
            store.clear()
        asked = Staging(workspace.parts, store, resuming or store is not None, check)
        parts = build_parts(specs, asked, workers, reporter)
        # What follows needs all parts together: where they lie behind an address, on this machine.
        workers = workers if store is None else processes_of(workers)
        jobs = _write_jobs(config, roots, parts, workspace, shard_bytes)
        with closing(map_instances(write_job, jobs, workers, ordered=False)) as written:
            exams = _draw_all_exams(config, roots, specs, parts)  # while processes write
            for line in moved_mass(exams):
                reporter.note(line)
            shards = _written_shards(written, len(jobs), reporter)
        shards += _write_exams(config, exams, workspace)
        plans = _plans(config, specs, workers)
        contents = Contents(config, roots, plans, parts, exams, shards, floors)
        manifest = _write_papers(contents, workspace)
        result = _run_gate(gate, workspace, parts, reporter)
        if not result.ok:
            return Outcome("refused by the gate", workspace.release, manifest, result)
        publish(workspace)
        if store is not None:
            store.clear()
    return Outcome("built", workspace.out, manifest, result)


def _plans(config: ReleaseConfig, specs: Specs, workers: Workers) -> dict[tuple[str, str], Planned]:
    return {
        (split.name, track): planned_in_blocks(track, settings, specs[split.name, track], workers)
        for split in config.splits
        for track, settings in split.tracks
    }


def _draw_all_exams(
    config: ReleaseConfig, roots: Mapping[str, Root], specs: Specs, parts: Parts
) -> Exams:
    return {
        (split.name, track): _draw_exams(
            config,
            split,
            track,
            parts[split.name, track],
            specs[split.name, track],
            roots[split.name].key,
        )
        for split in config.splits
        for track, _ in split.tracks
    }


def _draw_exams(
    config: ReleaseConfig,
    split: SplitConfig,
    track: str,
    parts: Sequence[Part],
    specs: Sequence[InstanceSpec],
    root: bytes,
) -> dict[str, DrawnExam]:
    """The exams of a track in a split, from the instances that are looked at for them."""
    names = (row["instance_id"] for row in staged_rows(parts, f"{track}_worlds", ("instance_id",)))
    kept = looked_at(split, track, names, root)
    # The last block has what there is a fixed number of, such as scenes that are told again.
    kept += blocks_of(specs)[-1].names() if len(kept) < len(specs) else []
    only = pa.array(kept, pa.string()) if len(kept) < len(specs) else None
    read = partial(staged_rows, parts, only=only)
    columns = ("task_id", "instance_id", "family", "variant")
    # Scenes are planned for exams all together, never in blocks.
    exams = split.private and not isinstance(specs, BlockSpecs)
    planned = {spec.instance_id: spec.asked.exam for spec in specs} if exams else {}
    candidates = [
        Candidate(
            row["task_id"],
            row["instance_id"],
            f"{row['family']}.{row['variant']}",
            planned.get(row["instance_id"]),
        )
        for row in read(track, columns)
    ]
    return draw_exams(split, track, candidates, root, str(config.path), read)


def _write_jobs(
    config: ReleaseConfig,
    roots: Mapping[str, Root],
    parts: Parts,
    workspace: Workspace,
    shard_bytes: int,
) -> list[WriteJob]:
    """Every shard of every config, each on the side where it belongs, and what tells the tasks of
    all tracks in one config."""
    jobs: list[WriteJob] = []
    mark = canary(config.name, config.version)
    for split in config.splits:
        own: list[ShardJob] = []
        for name, _ in split.tracks:
            track = TRACKS[name]
            for table, schema in track.tables.items():
                hidden = split.private and table in track.private
                repository = workspace.private if hidden else workspace.public
                repository.mkdir(mode=0o700, exist_ok=True)
                own += plan_shards(
                    parts[split.name, name],
                    table,
                    split.name,
                    marked(schema, mark),
                    repository,
                    roots[split.name].row_salts if hidden else None,
                    shard_bytes,
                )
        own = with_commitments(own, workspace.public, marked(COMMITMENTS, mark))
        jobs += write_jobs(workspace.public, split.name, mark, own, private=split.private)
    return jobs


def _written_shards(
    written: Iterable[Sequence[Shard]], jobs: int, reporter: Reporter
) -> list[Shard]:
    shards: list[Shard] = []
    with reporter.stage("Parquet shards", jobs) as advance:
        for several in written:
            shards += several
            reporter.spend({"parquet": sum(shard.seconds for shard in several)})
            advance()
    return shards


def _write_exams(config: ReleaseConfig, exams: Exams, workspace: Workspace) -> list[Shard]:
    """One shard for the exams of each track and split; exam lists are public and small."""
    shards = []
    schema = marked(EXAM_SCHEMA, canary(config.name, config.version))
    for (split, track), drawn in exams.items():
        if drawn:
            name, table = f"{track}_exams", exam_table(drawn)
            shards.append(write_whole(name, split, workspace.public, schema, [table]))
    return shards


def _write_papers(contents: Contents, workspace: Workspace) -> dict[str, Any]:
    """What each repository says of itself; the public manifest."""
    repositories = {workspace.public: manifest_of(contents, workspace.public, private=False)}
    if any(split.private for split in contents.config.splits):
        repositories[workspace.private] = manifest_of(contents, workspace.private, private=True)
    for repository, manifest in repositories.items():
        write_papers(manifest, repository)
    return repositories[workspace.public]


def _run_gate(gate: Gate, workspace: Workspace, parts: Parts, reporter: Reporter) -> GateReport:
    started = _processor_seconds()
    result = gate(workspace.release, reporter, parts)
    reporter.spend({"gate": _processor_seconds() - started})
    write_gate(workspace.release, result.markdown, result.private_markdown)
    return result


def _processor_seconds() -> float:
    """Of this process and of its workers."""
    return time.process_time() + seconds_of_workers()


def build_alone(
    config: ReleaseConfig, roots: Mapping[str, Root], label: str, reporter: Reporter
) -> dict[str, Any]:
    """Builds the instance called ``track/split/index`` by itself and describes its rows."""
    spec = find_spec(plan_specs(config, roots), label)
    tables, built = build_instance(TRACKS[spec.track], spec)
    return {
        "instance": spec.label,
        "instance_id": spec.instance_id,
        "rejections": dict(built.rejections),
        "seconds": {stage: round(spent, 4) for stage, spent in built.seconds.items()},
        "rows": {
            config_name: {
                "count": table.num_rows,
                "ids": table.column(0).to_pylist(),
                "bytes": table.nbytes,
                "content_sha256": content_sha256(table.schema, [table]),
            }
            for config_name, table in sorted(tables.items())
        },
    }

"""One build from configuration to finished release, stage by stage."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from builder.gate.part_check import check_part
from builder.gate.report import GateReport
from builder.gate.run import run_gate
from builder.release.arrow import content_sha256
from builder.release.cluster import Cluster
from builder.release.engine import Workers
from builder.release.exams import (
    EXAM_SCHEMA,
    Exams,
    built_candidates,
    compose_public,
    exam_table,
    private_exams,
)
from builder.release.floors import Points, TwinJob, grade_constants, measure_floors
from builder.release.manifest import Contents, canary, fingerprint, manifest_of
from builder.release.papers import write_papers
from builder.release.parts import (
    Part,
    PartJob,
    Parts,
    build_instance,
    build_part,
    find_part,
    part_jobs,
    staged_rows,
)
from builder.release.planning import Specs, plan_one, plan_specs
from builder.release.progress import Reporter
from builder.release.reader import SIDES
from builder.release.rows import COMMITMENTS, FLAT
from builder.release.shards import (
    COMMITTED,
    CONFIG,
    ConfigJob,
    Shard,
    schema_with_canary,
    write_config,
    write_flat,
    write_shard,
)
from builder.release.workspace import (
    GATE_FILE,
    Workspace,
    finished_release,
    name_release,
    open_workspace,
    workspace_at,
)
from builder.splits.config import ReleaseConfig
from builder.splits.roots import Root
from builder.splits.track import DrawnExam
from builder.tracks import TRACKS
from grader.io.files import write_text
from grader.release.release import UNCHECKED


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a build. ``folder`` holds the release, or what the gate refused, ``manifest`` is
    the public one. ``gate`` is None when nothing had to be built or checked."""

    status: Literal["built", "already built", "refused by the gate"]
    folder: Path
    manifest: Mapping[str, Any]
    gate: GateReport | None


def build_release(
    config: ReleaseConfig,
    out: Path,
    roots: Mapping[str, Root],
    *,
    cluster: str | None = None,
    staging: str | None = None,
    workers: int,
    fresh: bool = False,
    reporter: Reporter,
) -> Outcome:
    """Build a release into ``out``, or find it there.

    The bytes depend on the configuration, the roots and the code, not on ``workers`` or on what
    an interrupted run left behind. ``cluster`` is the address of a Ray cluster whose workers make
    the parts and leave them at ``staging``, an fsspec address (None: below ``out``). Raises
    ``UsageError``, ``InstanceFailed`` and ``WorkerDied``. A configuration whose name ends in
    ``UNCHECKED`` has no gate.
    """
    workspace, mark = workspace_at(out), fingerprint(config, roots)
    finished = finished_release(workspace, mark, fresh)
    if finished is not None:
        return Outcome("already built", workspace.out, finished, None)
    specs = plan_specs(config, roots)
    with open_workspace(workspace, mark, fresh) as resuming:
        remote = None
        if cluster is not None:
            remote = Cluster(cluster, f"{staging or f'file://{workspace.folder}/store'}/{mark}")
            if fresh:
                remote.remove_store()
        jobs = list(part_jobs(specs, workspace.parts, resuming or remote is not None))
        with Workers(workers) as pool:  # ends before the gate: it holds memory of what it wrote
            parts = _made_parts(specs, (remote or pool).map(make_part, jobs), len(jobs), reporter)
            exams = _compose_exams(config, roots, specs, parts, reporter)
            shards = _write_shards(config, roots, parts, exams, workspace, pool, reporter)
            floors = measure_floors(config, grade_twin, pool, reporter)
        contents = Contents(config, roots, specs, parts, exams, shards, floors)
        manifest = _write_papers(contents, workspace)
        report = _gate_report(config, workspace, workers, reporter)
        if report is not None and not report.ok:
            return Outcome("refused by the gate", workspace.release, manifest, report)
        name_release(workspace)
        if remote is not None:
            remote.remove_store()
    return Outcome("built", workspace.out, manifest, report)


def make_part(job: PartJob) -> tuple[Part, bool]:
    """Make the part of a job, or keep one that is there if the job resumes, and check it; return it
    and whether it was there. Runs in a worker."""
    found = find_part(job.folder) if job.resuming else None
    part = found or build_part(job, TRACKS[job.origin.track])
    check_staged(part)
    return part, found is not None


def check_staged(part: Part) -> None:
    """Check a staged part, see :func:`check_part`. Runs in a worker."""
    check_part(part, TRACKS[part.origin.track])


def check_release(
    release: Path,
    tell: Callable[[str], None] = lambda _: None,
    workers: int | None = None,
    staging: Path | None = None,
) -> GateReport:
    """Run the gate over a release and return its report, as :func:`run_gate` does."""
    return run_gate(release, TRACKS, check_staged, tell, workers=workers, staging=staging)


def _gate_report(
    config: ReleaseConfig, workspace: Workspace, workers: int, reporter: Reporter
) -> GateReport | None:
    """Run the gate over what a build assembled and write ``GATE.md``; None if unchecked."""
    file = workspace.release / GATE_FILE
    if config.name.endswith(UNCHECKED):
        write_text(file, "# Gate\n\n**UNCHECKED**: built with `--unchecked`, without a gate.\n")
        return None
    with reporter.working() as tell:
        report = check_release(workspace.release, tell, workers, workspace.parts)
    write_text(file, report.markdown)
    return report


def grade_twin(job: TwinJob) -> list[list[tuple[str, Points]]]:
    """Grade the constants on a job's instances (:func:`grade_constants`). Runs in a worker."""
    return grade_constants(job, TRACKS[job.track])


def write_tasks(job: ConfigJob) -> list[Shard]:
    """Write the config ``tasks`` of a split; return its shards. Runs in a worker."""
    return write_flat(job, {name: track.grader for name, track in TRACKS.items()})


def _made_parts(
    specs: Specs, made: Iterable[tuple[Part, bool]], total: int, reporter: Reporter
) -> Parts:
    """Return all parts by (split, track), in the order of their numbers. ``made`` yields each, in
    any order, with whether it was there already."""
    parts: dict[tuple[str, str], list[Part]] = {key: [] for key in specs}
    kept = 0
    with reporter.stage("instances, in parts", total) as advance:
        for part, found in made:
            parts[part.origin.split, part.origin.track].append(part)
            kept += found
            advance()
    if kept:
        reporter.note(f"resuming: {kept} of {total} parts are kept")
    return {key: sorted(own, key=lambda part: part.number) for key, own in parts.items()}


def _compose_exams(
    config: ReleaseConfig,
    roots: Mapping[str, Root],
    specs: Specs,
    parts: Parts,
    reporter: Reporter,
) -> Exams:
    """Return all exams, of tasks that were built; warn of variants that a public one leaves out."""
    exams: dict[tuple[str, str], Mapping[str, DrawnExam]] = {}
    for split in config.splits:
        root = roots[split.name].key
        for name, _ in split.tracks:
            track, place = config.tracks[name], (split.name, name)
            read = partial(staged_rows, parts[place])
            if split.private:
                exams[place] = private_exams(split, track, specs[place], read, root)
            else:
                able = built_candidates(track, read) if split.draws else ()
                exams[place] = compose_public(split, track, able, root, str(config.path))
                for exam, drawn in exams[place].items():
                    for key, label in drawn.left_out.items():
                        what = f"{key}: its answers are all of one class, '{label}'"
                        reporter.warn(f"{split.name}: exam {exam} leaves out {what}")
    return exams


def _write_shards(
    config: ReleaseConfig,
    roots: Mapping[str, Root],
    parts: Parts,
    exams: Exams,
    workspace: Workspace,
    pool: Workers,
    reporter: Reporter,
) -> list[Shard]:
    """Write every table of the release; return the shards: tables of tracks, flat ones, exams."""
    public, private = (workspace.release / side for side in SIDES)
    mark = canary(config.name, config.version)
    shards: list[Shard] = []
    own: list[ConfigJob] = []
    for split, name in parts:
        track, root = config.tracks[name], roots[split]
        folders = [part.folder for part in parts[split, name]]
        for table, schema in track.tables.items():
            hidden = root.private and table in track.private
            repository, salts = (private, root.row_salts) if hidden else (public, None)
            repository.mkdir(mode=0o700, exist_ok=True)
            marked = schema_with_canary(schema, mark)
            own.append(ConfigJob(table, split, repository, marked, folders, salts))
    schema = schema_with_canary(FLAT, mark)
    flat = [ConfigJob(CONFIG, split.name, public, schema) for split in config.splits]
    committed: dict[tuple[str, str], list[list[pa.Table]]] = {}
    with reporter.stage("Parquet shards", len(own) + len(flat)) as advance:
        for written, commitments in pool.map(write_config, own):
            shards += written
            committed[written[0].split, written[0].config] = commitments
            advance()
        for written in pool.map(write_tasks, flat):
            shards += written
            advance()
    schema = schema_with_canary(COMMITMENTS, mark)
    for split in dict.fromkeys(job.split for job in own):
        jobs = (job for job in own if job.split == split)
        rows = [groups for job in jobs for groups in committed[split, job.config]]
        job = ConfigJob(COMMITTED, split, public, schema)
        for index, groups in enumerate(rows):
            shards.append(write_shard(job, (index, len(rows)), groups))
    schema = schema_with_canary(EXAM_SCHEMA, mark)
    for (split, name), drawn in exams.items():
        if drawn:
            job = ConfigJob(f"{name}_exams", split, public, schema)
            shards.append(write_shard(job, (0, 1), [exam_table(drawn)]))
    return shards


def _write_papers(contents: Contents, workspace: Workspace) -> dict[str, Any]:
    """Write the manifests and papers of both sides; return the public manifest."""
    public, private = (workspace.release / side for side in SIDES)
    if any(split.private for split in contents.config.splits):
        write_papers(manifest_of(contents, private, private=True), private)
    manifest = manifest_of(contents, public, private=False)
    write_papers(manifest, public)
    return manifest


def build_alone(config: ReleaseConfig, roots: Mapping[str, Root], label: str) -> dict[str, Any]:
    """Build ``track/split/index`` (``label``) alone, write nothing; describe its rows by config."""
    spec = plan_one(config, roots, label)
    tables, built = build_instance(TRACKS[spec.track], spec)
    return {
        "instance": spec.label,
        "instance_id": spec.instance_id,
        "rejections": dict(built.rejections),
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

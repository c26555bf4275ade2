"""Staging: every part of a build is built and checked by some worker, and comes together here."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from builder.release.engine import Workers, map_instances
from builder.release.manifest import Parts
from builder.release.parts import (
    Origin,
    Part,
    PartJob,
    build_part,
    find_part,
    part_folder,
    split_into_parts,
    under_way,
)
from builder.release.planning import Specs
from builder.release.show.progress import Reporter
from builder.release.store import Store
from builder.tracks import TRACKS

Check = Callable[[Part], float]
"""Looks at a staged part by itself, leaves beside it what was found, and says how many seconds it
took; a check that is there and still holds is kept. Runs in the worker that staged the part."""


@dataclass(frozen=True, slots=True)
class Staging:
    """Where parts are staged and how: in a ``folder`` that all workers share, or in a ``store``
    from which they are brought there. With ``resuming`` some may be there already."""

    folder: Path
    store: Store | None
    resuming: bool
    check: Check | None


@dataclass(frozen=True, slots=True)
class StageJob:
    """What a worker needs to stage a part and check it."""

    job: PartJob
    staging: Staging


def stage(job: StageJob) -> tuple[Part, bool]:
    """Builds a part, unless it is there, and checks it; whether it was there. Runs in a worker."""
    store = job.staging.store
    if store is None:
        return _staged(job.job, job.staging)
    with TemporaryDirectory(prefix="causal-exams-part-") as scratch:
        folder = part_folder(Path(scratch), job.job.origin, int(job.job.folder.name))
        if job.staging.resuming:
            store.fetch(job.job.name, folder)
        part, found = _staged(replace(job.job, folder=folder), job.staging)
        store.put(part.name, part.folder)
    return replace(part, folder=job.job.folder), found


def _staged(job: PartJob, staging: Staging) -> tuple[Part, bool]:
    found = find_part(job.folder) if staging.resuming else None
    part = found or build_part(job)
    if staging.check is not None:
        part = replace(part, seconds={**part.seconds, "checks": staging.check(part)})
    return part, found is not None


def _told(job: StageJob) -> str:
    """The instance of a part that was under way when its worker died."""
    return under_way(job.job) or f"part {job.job.name}"


def build_parts(specs: Specs, staging: Staging, workers: Workers, reporter: Reporter) -> Parts:
    """Stages and checks every part that is not already there; what takes longest is begun first."""
    origins = {
        (split, track): Origin(
            TRACKS.reference(track),
            track,
            split,
            any(spec.private for spec in members[:1]),
            len(members),
        )
        for (split, track), members in specs.items()
    }
    slowest = sorted(specs, key=lambda key: -TRACKS[key[1]].effort * origins[key].size)
    jobs = (
        StageJob(job, staging)
        for key in slowest
        for job in split_into_parts(origins[key], specs[key], staging.folder)
    )
    total = sum(origin.parts for origin in origins.values())
    staged: dict[tuple[str, str], list[Part]] = {key: [] for key in specs}
    kept = 0
    with (
        closing(map_instances(stage, jobs, workers, ordered=False, label=_told)) as several,
        reporter.stage("instances, in parts", total) as advance,
    ):
        for part, found in several:
            if staging.store is not None:
                staging.store.fetch(part.name, part.folder)
            staged[part.origin.split, part.origin.track].append(part)
            kept += found
            reporter.spend(part.seconds)
            advance()
    if kept:
        reporter.note(f"resuming: {kept} of {total} parts are kept")
    return {key: sorted(parts, key=lambda p: p.number) for key, parts in staged.items()}

"""What the builder tells a person: the plan before, the outcome after."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from builder.release.build import Outcome
from builder.release.config import ReleaseConfig
from builder.release.extra_exam import NewExam
from builder.release.lock import compare_with_lock, write_lock
from builder.release.manifest import Specs
from builder.release.parts import PART_INSTANCES
from builder.release.planning import PlanLine, plan_lines
from builder.release.progress import Reporter, human_size
from builder.release.shards import SHARD_BYTES
from builder.track import Composition
from builder.tracks import TRACKS
from grader.errors import UsageError


def describe_plan(config: ReleaseConfig, specs: Specs) -> None:
    """Prints the plan to standard output."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    table = Table("split", "truth", "track", title=f"{config.name} {config.version}", box=None)
    for heading in ("instances", "tasks", "parts"):
        table.add_column(heading, justify="right")
    table.add_column("exams")
    lines = plan_lines(config, specs)
    for line in lines:
        low, high = line.tasks
        table.add_row(
            line.split,
            line.truth,
            line.track,
            str(line.instances),
            str(low) if low == high else f"{low} to {high}",
            str(line.parts),
            ", ".join(line.exams) or "none",
        )
    console.print(table)
    for line in lines:
        for what, counts in line.requested.items():
            listed = ", ".join(f"{name} {count}" for name, count in counts.items())
            console.print(f"{line.split} {line.track}, by {what}: {listed}", markup=False)
        _composition(console, line)
        sides = ("public/", "private/" if line.truth == "private" else "public/")
        for table_name in TRACKS[line.track].tables:
            side = sides[table_name in TRACKS[line.track].private]
            rows = _rough_rows(line, table_name)
            console.print(
                f"  {side}{table_name}/{line.split}-*.parquet: about {rows} rows", markup=False
            )
    console.print(
        f"A part holds {PART_INSTANCES} instances, a shard up to {human_size(SHARD_BYTES)} of "
        "rows in memory.\n"
        f"Build it: python build_dataset.py build {shlex.quote(str(config.path))} --out release",
        markup=False,
    )


def describe_exam(added: NewExam, release: Path) -> None:
    """Prints what a newly drawn exam asked for, what it got, and the next steps."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    _composed(console, f"exam {added.name}: composition", added.composition)
    for remark in added.remarks:
        console.print(remark, markup=False)
    folder, name = shlex.quote(str(release)), shlex.quote(added.name)
    console.print(
        f"{release}: exam {added.name} has {added.tasks} tasks\n"
        f"next: python -m grader workspace --release {folder} --exam {name} --out tasks\n"
        f"      python build_dataset.py check {folder}   (run the gate again)",
        markup=False,
    )


def _composition(console: Console, line: PlanLine) -> None:
    """The table of what was requested beside what the plan gives."""
    if line.composition:
        _composed(console, f"{line.split} {line.track}: composition", line.composition)


def _composed(console: Console, title: str, composition: Composition) -> None:
    """Requested beside realised, one row per axis and name."""
    table = Table("axis", "name", title=title, box=None)
    for heading in ("requested", "realised"):
        table.add_column(heading, justify="right")
    for axis, names in composition.items():
        for name, counts in names.items():
            table.add_row(axis, name, f"{counts['requested']:g}", f"{counts['realised']:g}")
    console.print(table)


def _rough_rows(line: PlanLine, table: str) -> str:
    """Rows of a config as far as a plan can tell: one per task, or one per instance."""
    low, high = line.tasks
    per_task = table in (line.track, f"{line.track}_truth")
    if not per_task:
        return f"{line.instances}"
    return f"{low}" if low == high else f"{low} to {high}"


def report_lock(
    config: ReleaseConfig, manifest: Mapping[str, Any], update: bool, reporter: Reporter
) -> None:
    """Compares a build with its lock file, or writes the lock file; differences are a warning."""
    file = config.lock_path
    if update:
        write_lock(file, manifest)
        reporter.note(f"wrote {file}")
        return
    try:
        differing = compare_with_lock(file, manifest)
    except FileNotFoundError:
        reporter.note(f"no {file} to compare with; --update-lock writes it")
        return
    except UsageError as error:
        reporter.warn(str(error))
        return
    if differing:
        reporter.warn(
            f"differs from {file} in {', '.join(differing)}; on the platform named there that is a "
            "change of content: see `diff`, and --update-lock if it is meant"
        )
    else:
        reporter.note(f"matches {file}")


def describe_outcome(outcome: Outcome, out: Path, reporter: Reporter) -> None:
    """Times, rejections, sizes and the next steps."""
    reporter.table_of_times()
    for split, entry in outcome.manifest["splits"].items():
        for track, counts in entry["tracks"].items():
            realised = counts["realised"]
            rejected = counts.get("rejections", {})
            listed = ", ".join(f"{reason} {count}" for reason, count in rejected.items())
            hidden = "counted in the private manifest" if "rejections" not in counts else "none"
            reporter.note(
                f"{split} {track}: {realised['instances']} instances, {realised['tasks']} tasks; "
                f"rejected attempts: {listed or hidden}"
            )
    for repository in sorted(path for path in outcome.folder.iterdir() if path.is_dir()):
        files = [file for file in repository.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files)
        reporter.note(f"{repository.name}: {len(files)} files, {human_size(size)}")
    reporter.note(f"{outcome.status}: {out}")
    folder = shlex.quote(str(out))
    reporter.note(
        f"next: python -m grader workspace --release {folder} --out tasks   (take the exam)\n"
        f"      python build_dataset.py check {folder}   (run the gate again)"
    )

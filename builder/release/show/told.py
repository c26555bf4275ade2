"""What a person is told of a plan, of a build that is done, and of an exam that was drawn."""

import shlex
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from builder.build import Outcome
from builder.release.config import ReleaseConfig
from builder.release.extra_exam import NewExam
from builder.release.parts import Origin
from builder.release.planning import Specs, planned, task_bounds
from builder.release.shards import SHARD_BYTES
from builder.release.show.progress import Reporter, human_size
from builder.track import Composition
from builder.tracks import TRACKS


def describe_plan(config: ReleaseConfig, specs: Specs) -> None:
    """Prints the plan to standard output."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    table = Table("split", "truth", "track", title=f"{config.name} {config.version}", box=None)
    for heading in ("instances", "tasks", "parts"):
        table.add_column(heading, justify="right")
    table.add_column("exams")
    for split in config.splits:
        for name, _ in split.tracks:
            members = specs[split.name, name]
            exams = [
                f"{exam.name} ({'all' if draw.tasks is None else draw.tasks})"
                for exam in split.exams
                for draw in exam.draws
                if draw.track == name
            ]
            table.add_row(
                split.name,
                split.truth,
                name,
                str(len(members)),
                _span(task_bounds(members)),
                str(Origin(name, split.name, split.private, len(members)).parts),
                ", ".join(exams) or "none",
            )
    console.print(table)
    for split in config.splits:
        for name, settings in split.tracks:
            members, track = specs[split.name, name], TRACKS[name]
            where = f"{split.name} {name}"
            plan = planned(track, settings, members)
            for axis, counts in plan.requested.items():
                listed = ", ".join(f"{level} {count}" for level, count in counts.items())
                console.print(f"{where}, by {axis}: {listed}", markup=False)
            if plan.composition:
                _composed(console, f"{where}: composition", plan.composition)
            for config_name in track.tables:
                side = "private/" if split.private and config_name in track.private else "public/"
                per_task = config_name in (name, f"{name}_truth")
                rows = _span(task_bounds(members)) if per_task else str(len(members))
                console.print(
                    f"  {side}{config_name}/{split.name}-*.parquet: about {rows} rows",
                    markup=False,
                )
    console.print(
        f"A shard holds up to {human_size(SHARD_BYTES)} of rows in memory.\n"
        f"Build it: python build_dataset.py build {shlex.quote(str(config.path))} --out release",
        markup=False,
    )


def _span(bounds: tuple[int, int]) -> str:
    low, high = bounds
    return str(low) if low == high else f"{low} to {high}"


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


def describe_exam(added: NewExam, release: Path) -> None:
    """Prints what a newly drawn exam asked for, what it got, and the next steps."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    _composed(console, f"exam {added.name}: composition", added.composition)
    for remark in added.remarks:
        console.print(remark, markup=False)
    folder, name = shlex.quote(str(release)), shlex.quote(added.name)
    console.print(
        f"{release}: exam {added.name} has {added.tasks} tasks\n"
        f"next: python -m grader workspace --release {folder} --exam {name} --out tasks",
        markup=False,
    )


def _composed(console: Console, title: str, composition: Composition) -> None:
    """Requested beside realised, one row per axis and name."""
    table = Table("axis", "name", title=title, box=None)
    for heading in ("requested", "realised"):
        table.add_column(heading, justify="right")
    for axis, names in composition.items():
        for name, counts in names.items():
            table.add_row(axis, name, f"{counts['requested']:g}", f"{counts['realised']:g}")
    console.print(table)

"""Show what a split file asks for: instances, tasks, parts and exams. No secret is needed.

examples:
  python build_dataset.py plan splits/mini.toml
"""

import argparse
from pathlib import Path

from rich.table import Table

from builder.commands.common import OK, add, build_line, composition_table, use_domains
from builder.release.attempts import list_counts
from builder.release.parts import Origin
from builder.release.planning import Specs, plan_specs, planned_levels
from builder.splits.config import ReleaseConfig, load_config
from builder.splits.roots import placeholder_roots
from builder.tracks import TRACKS
from grader.pages.terminal import console


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``plan``."""
    parser.add_argument("toml", type=Path, metavar="TOML", help="the split file")
    add(parser, "--domains")


def run(arguments: argparse.Namespace) -> int:
    """Plan the release and print the plan."""
    use_domains(arguments.domains)
    config = load_config(arguments.toml, TRACKS)
    specs = plan_specs(config, placeholder_roots(config))
    out = console(soft_wrap=True)
    out.print(_plan_table(config, specs))
    for split in config.splits:
        for name, settings in split.tracks:
            where = f"{split.name} {name}"
            members = specs[split.name, name]
            for axis, counts in planned_levels(members).items():
                if several := len(members) - sum(counts.values()):
                    counts["several tasks"] = several
                out.print(f"{where}, instances by {axis}: {list_counts(counts)}")
            if composition := config.tracks[name].composition(settings, members):
                out.print(composition_table(f"{where}: composition", composition))
    out.print(f"Build it: {build_line(config.path, arguments.domains)} --out release")
    return OK


def _plan_table(config: ReleaseConfig, specs: Specs) -> Table:
    """Return a row a split and track: instances, tasks (a range if open), parts, exams."""
    table = Table("split", "truth", "track", title=f"{config.name} {config.version}", box=None)
    for heading in ("instances", "tasks", "parts"):
        table.add_column(heading, justify="right")
    table.add_column("exams")
    for split in config.splits:
        for name, _ in split.tracks:
            members = specs[split.name, name]
            low, high = (sum(spec.task_plan.tasks[end] for spec in members) for end in (0, 1))
            exams = [
                f"{draw.exam} ({'all' if draw.tasks is None else draw.tasks})"
                for draw in split.draws
                if draw.track == name
            ]
            table.add_row(
                split.name,
                split.truth,
                name,
                str(len(members)),
                str(low) if low == high else f"{low} to {high}",
                str(Origin(name, split.name, split.private, len(members)).parts),
                ", ".join(exams) or "none",
            )
    return table

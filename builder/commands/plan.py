"""Show what a split file asks for: instances, tasks, parts and exams. No secret is needed.

examples:
  python build_dataset.py plan splits/mini.toml
"""

import argparse
from pathlib import Path

from builder.commands.common import OK, add, build_line, composition_table, use_domains
from builder.release.attempts import list_counts
from builder.release.parts import Origin
from builder.release.planning import plan_specs, planned_levels
from builder.splits.config import load_config
from builder.splits.roots import read_roots
from builder.stories.texts import markdown_table
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
    specs = plan_specs(config, read_roots(config, secrets=False))
    rows, details = [], []
    for split, (name, settings) in ((s, track) for s in config.splits for track in s.tracks):
        members = specs[split.name, name]
        low, high = (str(sum(spec.task_plan.tasks[end] for spec in members)) for end in (0, 1))
        parts = Origin(name, split.name, split.private, len(members)).parts
        draws = [draw for draw in split.draws if draw.track == name]
        exams = ", ".join(f"{draw.exam} ({draw.tasks or 'all'})" for draw in draws) or "none"
        tasks = low if low == high else f"{low} to {high}"
        rows.append((split.name, split.truth, name, str(len(members)), tasks, str(parts), exams))
        where = f"{split.name} {name}"
        for axis, counts in planned_levels(members).items():
            if several := len(members) - sum(counts.values()):
                counts["several tasks"] = several
            details.append(f"{where}, instances by {axis}: {list_counts(counts)}")
        if composition := config.tracks[name].composition(settings, members):
            details.append(composition_table(f"{where}: composition", composition))
    head = ("split", "truth", "track", "instances", "tasks", "parts", "exams")
    plan = [markdown_table(f"{config.name} {config.version}", head, rows), *details]
    line = f"Build it: {build_line(config.path, arguments.domains)} --out release"
    console(soft_wrap=True).print("\n\n".join([*plan, line]))
    return OK

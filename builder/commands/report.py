"""What a person is told of a plan, a build, an exam that was drawn, and a release that is there.

Lock files hold the content hashes that a split file gave when its maintainer last looked. Only
public-truth splits are locked: their seeds are stated, so anyone can build them and compare. On
another operating system or architecture, or with other libraries, the last digits of a float may
differ; that is shown and is no error.
"""

import json
import platform
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from builder.build import Outcome
from builder.release.extra_exam import NewExam
from builder.release.identity import FORMAT
from builder.release.manifest import read_manifest
from builder.release.parts import Origin
from builder.release.planning import Specs, planned, task_bounds
from builder.release.progress import Reporter, human_size
from builder.release.reader import SIDES
from builder.release.tables import split_tables
from builder.splits.config import ReleaseConfig
from builder.splits.track import Composition, Track
from builder.stories.texts import markdown_table
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.jsonio import pretty


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
            members, track = specs[split.name, name], config.tracks[name]
            where = f"{split.name} {name}"
            plan = planned(track, settings, members)
            for axis, counts in plan.requested.items():
                listed = ", ".join(f"{level} {count}" for level, count in counts.items())
                console.print(f"{where}, by {axis}: {listed}", markup=False)
            if plan.composition:
                _composed(console, f"{where}: composition", plan.composition)
    console.print(
        f"Build it: python build_dataset.py build {shlex.quote(str(config.path))} --out release",
        markup=False,
    )


def _span(bounds: tuple[int, int]) -> str:
    low, high = bounds
    return str(low) if low == high else f"{low} to {high}"


def describe_outcome(outcome: Outcome, out: Path, reporter: Reporter) -> None:
    """Print rejections, sizes and the next steps."""
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


def lock_document(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The lock of a public manifest: split to config to content hash, public-truth splits only."""
    splits: dict[str, dict[str, str]] = {}
    for name, split in manifest["splits"].items():
        if split["truth"] == "public":
            splits[name] = {
                config: tables[name]["content_sha256"]
                for config, tables in manifest["configs"].items()
                if name in tables
            }
    return {
        "format": FORMAT,
        "release": manifest["release"],
        "version": manifest["version"],
        "platform": f"{platform.system()} {platform.machine()}",
        "libraries": manifest["libraries"],
        "splits": splits,
    }


def report_lock(
    config: ReleaseConfig, manifest: Mapping[str, Any], update: bool, reporter: Reporter
) -> None:
    """Compares a build with its lock file, or writes the lock file; differences are a warning."""
    file, built = config.lock_path, lock_document(manifest)
    if update:
        write_text(file, pretty(built))
        reporter.note(f"wrote {file}")
        return
    try:
        locked = _hashes(json.loads(file.read_bytes()))
    except FileNotFoundError:
        reporter.note(f"no {file} to compare with; --update-lock writes it")
        return
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        reporter.warn(f"{file}: is no lock file; write it anew with --update-lock")
        return
    if differing := {config for config, _ in locked ^ _hashes(built)}:
        reporter.warn(
            f"differs from {file} in {', '.join(sorted(differing))}; on the platform named there "
            "that is a change of content: see `diff`, and --update-lock if it is meant"
        )
    else:
        reporter.note(f"matches {file}")


def _hashes(lock: Mapping[str, Any]) -> set[tuple[str, str]]:
    """The content hash of every ``split/config``."""
    return {
        (f"{split}/{config}", digest)
        for split, configs in lock["splits"].items()
        for config, digest in configs.items()
    }


def generation_report(release: Path, tracks: Mapping[str, Track]) -> Iterator[str]:
    """The parts of ``inspect RELEASE``, as Markdown: of every split and track what was requested
    beside what came out, why attempts were rejected, and the track's own report, which stands
    beside the tables of its paper; of a private-truth split only with its private side."""
    manifests = [read_manifest(release / side) for side in SIDES if (release / side).is_dir()]
    told = {split: entry for manifest in manifests for split, entry in manifest["splits"].items()}
    for split, entry in told.items():
        for track, counts in entry.get("tracks", {}).items():
            yield f"# {split}: {track}"
            yield from _composition(counts)
            report = tracks[track].report
            if report is None:
                continue
            try:
                table = split_tables(release, track, split)
            except UsageError as error:
                yield f"{error}"
                continue
            worlds = [json.loads(row["world_json"]) for row in table.worlds.values()]
            truths = {task: json.loads(row["target_json"]) for task, row in table.truth.items()}
            yield from report(worlds, truths)


def _composition(counts: dict[str, Any]) -> Iterator[str]:
    """What the manifest says of a track in a split."""
    realised = counts["realised"]
    rejected = ", ".join(f"{why} {n}" for why, n in counts.get("rejections", {}).items())
    yield (
        f"{realised['instances']} instances, {realised['tasks']} tasks; rejected attempts: "
        f"{rejected or 'none told'}"
    )
    rows = [
        [axis, level, f"{row['requested']:g}", f"{row['realised']:g}"]
        for axis, levels in counts.get("composition", {}).items()
        for level, row in levels.items()
    ]
    if rows:
        yield markdown_table("Composition", ("axis", "level", "requested", "realised"), rows)

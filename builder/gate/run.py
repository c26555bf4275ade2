"""The gate: what must hold before a release gets its name.

Every part of a release is checked by itself (:mod:`builder.gate.part_check`), in a build by the
worker that staged it. The gate takes the release apart, checks the parts whose rows are not those
that were checked, and then what takes several parts: ids, prompts, exams, secrecy, floors, leaks.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from builder.gate.exams import Tracks, exam_lines, points_of_exam
from builder.gate.leak import LeakReport, leak_test
from builder.gate.part_check import (
    CERTIFICATES,
    CHECK,
    EMPTY,
    GOLD,
    REFERENCES,
    STORIES,
    TASK_ROWS,
    TRUTHS,
    Findings,
    read_check,
)
from builder.gate.report import GateLine, GateReport, line_of
from builder.gate.rules import Tables, schema_problems, secrecy_problems
from builder.release.engine import Workers
from builder.release.floors import FloorRow, check_floors
from builder.release.parts import Origin, Part, read_staged, stage_part
from builder.release.reader import groups, open_shard, public_side, shards, truth_side
from builder.splits.track import Track
from grader.io.process import processors
from grader.opening import open_release
from grader.release.release import ReleaseFolder
from grader.verify import verify

MANY_INSTANCES: Final = 150
"""Instances of a finished release from which on more processes pay for their start."""


def run_gate(
    release: Path,
    tracks: Tracks,
    check: Callable[[Part], None],
    tell: Callable[[str], None],
    *,
    workers: int | None,
    staging: Path | None,
) -> GateReport:
    """Run every check over a release folder: ``public``, and ``private`` where truths are private.

    The report ends with the first group of checks that has a failure. A part whose check a build
    left below ``staging`` is not checked again if its rows are the same. Others are checked by
    ``check``, which workers call: :func:`~builder.gate.part_check.check_part` with the track of
    the part. ``tell`` is told what is being done. ``workers`` are processes (None: one for each
    processor). Raises ``UsageError`` without a release, or without a private split's private side.
    """
    public_side(release)
    opened = open_release(release)
    tell("gate: hashes and columns")
    lines = [*_integrity(opened, release, tracks)]
    if not all(line.ok for line in lines):
        return GateReport(tuple(lines))
    with TemporaryDirectory(prefix="gate-") as folder, Tables(release, tracks) as tables:
        tell("gate: ids, prompts, exams, secrecy")
        lines += _across_parts(release, tables, opened.public.manifest["splits"])
        if not all(line.ok for line in lines):
            return GateReport(tuple(lines))
        few = staging is None and tables.count("worlds") < MANY_INSTANCES
        with Workers(1 if few else workers or processors()) as pool:
            tell("gate: every truth and story a second time, unless their part was checked")
            parts = _checked_parts(release, tracks, tables, staging, check, pool, Path(folder))
            checked, total = {split: Findings() for split in opened.splits}, Findings()
            for part in parts:
                found = read_check(part)
                checked[part.origin.split].add(found)
                total.add(found)
            lines += _rows(total)
            if not all(line.ok for line in lines):
                return GateReport(tuple(lines))
            lines += _truths(tables, total)
            tell("gate: exams, known answers, floors")
            exams = ((split, exam) for split in opened.splits for exam in opened.exams(split))
            jobs = [(release, *exam, Path(folder)) for exam in exams]
            graded = sorted(pool.map(points_of_exam, jobs), key=itemgetter(0, 1))
    shown: list[FloorRow] = []
    for split in opened.splits:
        lines += exam_lines(opened, tracks, split)
        lines += _known_answers(split, checked[split], [one for one in graded if one[0] == split])
        own, problems = check_floors(opened, tracks, split)
        figure = f"answers to {sum(row.own_tasks for row in own)} tasks earn them"
        lines.append(line_of(f"{split}: floors", problems, figure if own else "none"))
        # How often a constant is right in a private split is a fact of its truth.
        shown += own if opened.has_public_truth(split) else ()
    tell("gate: leak test")
    leaks = leak_test(release, tracks)
    lines.append(_leak_line(leaks))
    compositions = tuple(_compositions(opened.public.manifest))
    return GateReport(tuple(lines), tuple(shown), leaks, compositions)


def _checked_parts(
    release: Path,
    tracks: Tracks,
    tables: Tables,
    staging: Path | None,
    check: Callable[[Part], None],
    pool: Workers,
    scratch: Path,
) -> list[Part]:
    """Take a release apart below ``scratch`` and return its parts, each with its check: the one
    that was left below ``staging`` if it is of the same rows, else a new one."""
    parts = [
        part
        for split, track in tables.splits
        for part in take_apart(release, tables, tracks[track], split, scratch)
    ]
    if staging is not None:
        for part in parts:
            earlier = part.origin.folder(staging, part.number) / CHECK
            if earlier.is_file():
                shutil.copy(earlier, part.folder)
    for _ in pool.map(check, parts):
        pass
    return parts


def take_apart(
    release: Path, tables: Tables, track: Track, split: str, staging: Path
) -> list[Part]:
    """Stage the rows of one track of a split below ``staging`` as the parts of its build; return
    these. Every instance has a world, which the rule of ids sees to."""
    found = tables.rows(
        "SELECT instance_id FROM worlds WHERE split = $split AND track = $track ORDER BY index",
        {"split": split, "track": track.name},
    )
    names = [name for (name,) in found]
    origin = Origin(track.name, split, (split, track.name) in tables.private, len(names))
    released = []
    for config in track.tables:
        hidden = config in track.private
        side = truth_side(release, track.name, split) if hidden else public_side(release)
        if paths := shards(side, config, split):
            _unpack(paths, staging / f"{config}.arrow")
            released.append(config)
    parts = []
    for number in range(origin.parts):
        own = pa.array(names[number * origin.size : (number + 1) * origin.size], pa.string())
        # Mapped for each part anew: a config may be larger than the memory there is.
        mapped = {config: read_staged(staging, config) for config in released}
        rows = {c: t.filter(pc.is_in(t["instance_id"], own)) for c, t in mapped.items()}
        parts.append(stage_part(origin, origin.folder(staging, number), rows, {}))
    return parts


def _unpack(paths: Sequence[Path], file: Path) -> None:
    """Write the rows of some shards to ``file``, uncompressed."""
    schema = open_shard(paths[0]).schema_arrow.remove_metadata()
    file.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for table, _ in groups(paths):
            writer.write_table(table.replace_schema_metadata(None))


def _integrity(opened: ReleaseFolder, release: Path, tracks: Tracks) -> Iterator[GateLine]:
    """Yield the lines of ``grader verify``, and one on the columns of shards."""
    for item in verify(opened, proofs=False):  # the check of each part proves its truths' claims
        detail = item.detail.replace(f"{release}{os.sep}", "")
        yield line_of(item.name, [] if item.ok else [detail], detail)
    figure = f"{len(list(release.glob('*/*/*.parquet')))} shards have the columns of their configs"
    yield line_of("schemas", schema_problems(release, tracks), figure)


def _across_parts(release: Path, tables: Tables, manifest: Mapping[str, Any]) -> Iterator[GateLine]:
    """Yield a line on the numbers of tasks and instances, which are as the manifest's ``splits``
    tell, one for each rule in SQL over the whole release and, with private truth, one on the search
    for secrets."""
    tasks, worlds = tables.count("tasks"), tables.count("worlds")
    query = "SELECT split, track, count(*), count(DISTINCT instance_id) FROM tasks GROUP BY ALL"
    counts = {(split, track): (own, of) for split, track, own, of in tables.rows(query)}
    lost = []
    for split, track in ((s, t) for s, entry in manifest.items() for t in entry["tracks"]):
        realised = manifest[split]["tracks"][track]["realised"]
        told, found = (realised["tasks"], realised["instances"]), counts.get((split, track), (0, 0))
        if found != told:
            is_there, is_told = (f"{own} tasks of {of} instances" for own, of in (found, told))
            lost.append(f"{split}: {track} has {is_there}, the manifest tells {is_told}")
    yield line_of("counts", lost, f"{tasks} tasks of {worlds} instances, as the manifest tells")
    exams = tables.count("(SELECT DISTINCT split, exam FROM places)")
    figures = {
        "ids": f"{tasks} tasks, {worlds} instances, no id used twice",
        "prompts": f"{tasks} different",
        "exams": f"{exams} exams, {tables.count('places')} places",
    }
    for rule, figure in figures.items():
        yield line_of(rule, tables.problems(rule), figure)
    if tables.private:
        hidden = tables.count("(FROM worlds WHERE private)")
        figure = f"{hidden} keys and worlds searched for"
        yield line_of("nothing private in public", secrecy_problems(release), figure)


def _rows(found: Findings) -> Iterator[GateLine]:
    """Yield two lines on rows: they refer to each other, and agree with the specification."""
    figure = "every row belongs to a whole instance"
    yield line_of(REFERENCES, found.problems[REFERENCES], figure)
    figure = f"{found.counts['tasks']} agree with the specification"
    yield line_of(TASK_ROWS, found.problems[TASK_ROWS], figure)


def _truths(tables: Tables, found: Findings) -> Iterator[GateLine]:
    """Fill the table of answers; yield lines on the flat table, truths, certificates, stories."""
    counts = found.counts
    tables.give_answers(found.answers.items())
    figure = f"{tables.count('flat')} as the tracks' configs, answers where truth is public"
    yield line_of("config tasks", tables.problems("flat"), figure)
    figure = f"{counts['truths']} truths of {counts['audited']} scenes and views agree"
    yield line_of(TRUTHS, found.problems[TRUTHS], figure)
    if counts["proved"]:
        figure = f"{counts['proved']} records proved again"
        yield line_of(CERTIFICATES, found.problems[CERTIFICATES], figure)
    if counts["stories"] or counts["free"] or found.problems[STORIES]:
        figure = f"{counts['stories']} of scenes and views read as their graph"
        if counts["free"]:
            figure += (
                f"; of {counts['free']} free texts {counts['alike']}: these are held to their "
                "attested sentences alone"
            )
        yield line_of(STORIES, found.problems[STORIES], figure)


def _known_answers(
    split: str, found: Findings, exams: Sequence[tuple[str, str, Findings]]
) -> Iterator[GateLine]:
    """Yield two lines on a split: right answers are worth 100 points, and no answers 0, one by one
    and in its ``exams``, whose findings are added."""
    for _, _, points_lost in exams:
        found.add(points_lost)
    tasks = found.counts["tasks"]
    points, empty = (100 * found.counts[name] / max(tasks, 1) for name in ("gold", "empty"))
    names = ", ".join(name for _, name, _ in exams) or "none"
    figure = f"{tasks} tasks, {points:g} points; through the whole grader: {names}"
    yield line_of(f"{split}: {GOLD}", found.problems[GOLD], figure)
    yield line_of(f"{split}: {EMPTY}", found.problems[EMPTY], f"{empty:g} points")


def _leak_line(leaks: LeakReport) -> GateLine:
    """Return the line on the leak test, with the number of facts tested in each split and track."""
    tested = Counter(row.where for row in leaks.rows)
    places = dict.fromkeys([*tested, *(where for where, _, _ in leaks.skipped)])
    counts = ", ".join(f"{where} {tested[where] or 'no'} facts" for where in places)
    if not leaks.rows:
        return GateLine("leak test", True, counts or "nothing to test", is_tested=False)
    problems = [f"{row.where}, {row.fact}: p = {row.p:.2g}" for row in leaks.leaks]
    smallest = min(row.p for row in leaks.rows)
    level = f"smallest p {smallest:.2g}, threshold {leaks.threshold:.2g}"
    return line_of("leak test", problems, f"{counts}; {level}")


def _compositions(manifest: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield split, track, axis and levels of each composition in the public ``manifest``. How often
    which motif or verdict came out in a private split stands in the private one alone."""
    for split, told in sorted(manifest["splits"].items()):
        for track, entry in sorted(told["tracks"].items()):
            for axis, levels in entry.get("composition", {}).items():
                cells = (f"{k} {r['requested']:g} / {r['realised']:g}" for k, r in levels.items())
                yield split, track, axis, ", ".join(cells) or "none"

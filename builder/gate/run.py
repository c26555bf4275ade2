"""The gate: what must hold before a release gets its name.

Every part of a release is checked by itself (:mod:`builder.gate.part_check`), in a build by the
worker that staged it. The gate makes sure that these checks are of the very rows that were
released, and checks what takes several parts: ids, prompts, exams, secrecy, floors, leaks. A
release that is finished is taken apart again for it.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from builder.gate import card
from builder.gate.columns import schema_problems
from builder.gate.exams import exam_findings
from builder.gate.floors import SplitFloors, check_floors
from builder.gate.known_answers import (
    ExamPoints,
    KnownPoints,
    graded_exams,
    points_of_exam,
    total_points,
)
from builder.gate.leak import LeakReport, leak_test
from builder.gate.part_check import Findings, Unchecked, read_check
from builder.gate.part_rows import differences, take_apart
from builder.gate.report import GateLine, GateReport, line_of
from builder.gate.rules import Tables
from builder.gate.secrecy import secrecy_problems
from builder.release.engine import Workers
from builder.release.manifest import read_manifest
from builder.release.parts import Part, Parts
from builder.release.reader import configs, public_side
from builder.splits.track import Track
from grader.io.processors import processors
from grader.opening import open_release
from grader.release.release import Release
from grader.verify import verify

MANY_INSTANCES: Final = 150
"""Instances of a finished release from which on more processes pay for their start."""

Progress = Callable[[str], None]

Checked = Mapping[tuple[str, str], Sequence[Findings]]
"""(split, track) to what the checks of its parts found."""


def run_gate(
    release: Path,
    tracks: Mapping[str, Track],
    check: Callable[[Part], None],
    progress: Progress | None = None,
    *,
    workers: int | None = None,
    parts: Parts | None = None,
) -> GateReport:
    """Run every check over a release folder: ``public``, and ``private`` where truths are private.

    ``parts`` are the staged and checked parts that it was made of; without them it is taken apart
    and every part is checked anew by ``check``, a function at module level that workers call:
    it finds the track of a part and calls :func:`~builder.gate.part_check.check_part`.
    ``progress`` is told what is being done; ``workers`` share the
    work (default: one for each processor). Raises ``UsageError`` when there is no release or a
    private split lacks its private side.
    """
    tell = progress or (lambda _: None)
    workers = workers or processors()
    public_side(release)
    opened = open_release(release)
    tell("gate: hashes, rows and cards")
    lines = [*_integrity(opened, release), *_schemas(release, tracks), *_cards(release)]
    if not all(line.ok for line in lines):
        return GateReport(tuple(lines))
    with (
        Tables(release, tracks) as tables,
        TemporaryDirectory(prefix="causal-exams-gate-") as folder,
    ):
        tell("gate: ids, prompts, exams, secrecy")
        lines += _rules(release, tables)
        if not all(line.ok for line in lines):
            return GateReport(tuple(lines))
        few = parts is None and tables.count("worlds") < MANY_INSTANCES
        with Workers(1 if few else workers) as pool:
            different: list[str] = []
            if parts is None:
                tell("gate: every truth and story a second time")
                parts = {
                    key: take_apart(release, tables, tracks[key[1]], key[0], Path(folder))
                    for key in tables.splits
                }
                for _ in pool.map(check, [part for own in parts.values() for part in own]):
                    pass
            else:
                tell("gate: what was checked is what is released")
                for key in tables.splits:
                    different += differences(release, tracks[key[1]], key[0], parts.get(key, ()))
            checked, unchecked = _read_checks(tables.splits, parts)
            lines += _parts(parts, checked, [*unchecked, *different])
            if not all(line.ok for line in lines):
                return GateReport(tuple(lines))
            lines += [_flat(tables, checked), *_audits(checked)]
            tell("gate: exams, known answers, floors")
            graded = _graded(opened, tables, pool, Path(folder))
    floors = [check_floors(opened, tracks, split) for split in opened.splits]
    for split in opened.splits:
        manifest = read_manifest(opened.truth_side(split).path)
        for one in exam_findings(opened, tracks, split, manifest):
            lines.append(line_of(one.check, one.problems, one.figure))
        lines += _known_answers(split, _points(split, checked), graded[split])
    lines += map(_floor_line, floors)
    tell("gate: leak test")
    leaks = leak_test(release, tracks)
    lines.append(_leak_line(leaks))
    # How often a constant is right in a private split is a fact of its truth.
    rows = tuple(row for found in floors if found.public for row in found.rows)
    return GateReport(tuple(lines), rows, leaks, tuple(_compositions(release)))


def _read_checks(splits: Sequence[tuple[str, str]], parts: Parts) -> tuple[Checked, list[str]]:
    """Return the findings about every part, and why some do not stand for the release."""
    checked: dict[tuple[str, str], list[Findings]] = {}
    unchecked = []
    for key in splits:
        for part in parts.get(key, ()):
            try:
                checked.setdefault(key, []).append(read_check(part))
            except Unchecked as problem:
                unchecked.append(str(problem))
    return checked, unchecked


def _graded(
    opened: Release, tables: Tables, pool: Workers, scratch: Path
) -> dict[str, list[ExamPoints]]:
    """Return the points of right answers and of none through the whole grader, by split."""
    counts = dict(tables.rows("SELECT split, count(*) FROM tasks GROUP BY split"))
    jobs = [
        (opened, split, exam, scratch)
        for split in opened.splits
        for exam in graded_exams(opened, split, counts[split])
    ]
    points = {(split, one.exam): one for split, one in pool.map(_exam_points, jobs)}
    return {
        split: [points[key] for key in sorted(points) if key[0] == split] for split in opened.splits
    }


def _exam_points(job: tuple[Release, str, str, Path]) -> tuple[str, ExamPoints]:
    """The points of an exam with its split; runs in a worker."""
    return job[1], points_of_exam(*job)


def _compositions(release: Path) -> Iterator[str]:
    """The compositions in the manifests of both sides, a row for each axis."""
    for side in ("public", "private"):
        if not (release / side).is_dir():
            continue
        for split, told in sorted(read_manifest(release / side)["splits"].items()):
            for track, entry in sorted(told.get("tracks", {}).items()):
                for axis, levels in entry.get("composition", {}).items():
                    cells = ", ".join(
                        f"{level} {row['requested']:g} / {row['realised']:g}"
                        for level, row in levels.items()
                    )
                    yield f"| {split} | {track} | {axis} | {cells or 'none'} |"


def _integrity(opened: Release, release: Path) -> list[GateLine]:
    """What ``grader verify`` says: manifests, hashes, row counts, commitments. What records claim
    was proved where their part was checked."""
    lines = []
    for item in verify(opened, proofs=False):
        detail = item.detail.replace(f"{release}{os.sep}", "")
        problems = () if item.ok else (detail,)
        lines.append(GateLine(item.name, item.ok, detail if item.ok else "see below", problems))
    return lines


def _schemas(release: Path, tracks: Mapping[str, Track]) -> list[GateLine]:
    shards = len(list(release.glob("*/*/*.parquet")))
    fine = f"{shards} shards have the columns of their configs"
    return [line_of("schemas", schema_problems(release, tracks), fine)]


def _cards(release: Path) -> list[GateLine]:
    lines = []
    for side in ("public", "private"):
        if (release / side).is_dir():
            found = configs(release / side)
            problems = card.card_problems(release / side)
            lines.append(
                line_of(f"{side} card", problems, f"{len(found)} configs match their files")
            )
            if not problems:
                shown = f"{card.examples(release / side)} find what they ask for"
                broken = card.example_problems(release / side)
                lines.append(line_of(f"{side} card: examples", broken, shown))
    return lines


def _rules(release: Path, tables: Tables) -> Iterator[GateLine]:
    """Yield the lines of what crosses parts: a rule in SQL each, and the search for secrets."""
    tasks, worlds = tables.count("tasks"), tables.count("worlds")
    exams = tables.count("(SELECT DISTINCT split, exam FROM places)")
    hidden = tables.count("(FROM worlds WHERE private)")
    figures = {
        "ids": f"{tasks} tasks, {worlds} instances, no id used twice",
        "prompts": f"{tasks} different",
        "exams": f"{exams} exams, {tables.count('places')} places",
    }
    for rule, figure in figures.items():
        yield line_of(rule, tables.problems(rule), figure)
    if tables.private:
        figure = f"{hidden} keys and worlds searched for"
        yield line_of("nothing private in public", secrecy_problems(release), figure)


def _parts(parts: Parts, checked: Checked, problems: Sequence[str]) -> Iterator[GateLine]:
    """Yield the lines of parts: their checks are of the rows that were released; rows refer to rows
    of their instance, and tasks agree with the specification."""
    count = sum(map(len, parts.values()))
    yield line_of(
        "checks of parts", problems, f"{count} parts, whose rows are those of the release"
    )
    yield line_of("references", _listed(checked, "references"), "of whole instances")
    figure = f"{_count(checked, 'tasks')} agree with the specification"
    yield line_of("task rows", _listed(checked, "task_rows"), figure)


def _listed(checked: Checked, name: str) -> list[str]:
    """The problems of a kind, over all parts."""
    return [line for own in checked.values() for found in own for line in getattr(found, name)]


def _count(checked: Checked, name: str) -> int:
    """What was counted, over all parts."""
    return sum(getattr(found, name) for own in checked.values() for found in own)


def _flat(tables: Tables, checked: Checked) -> GateLine:
    """Return the line of the one table of all tracks."""
    tables.give_answers(
        pair for own in checked.values() for found in own for pair in found.answers.items()
    )
    figure = f"{tables.count('flat')} as the tracks' configs, answers where truth is public"
    return line_of("config tasks", tables.problems("flat"), figure)


def _audits(checked: Checked) -> list[GateLine]:
    """Every truth against its second derivation, every story against its graph. Of stories told by
    rules all must read as their graph; of free texts it is told how many do."""
    truths, audited = _count(checked, "truths"), _count(checked, "audited")
    lines = [
        line_of("second derivation of every truth", _listed(checked, "audit"),
                f"{truths} truths of {audited} scenes and views agree"),
    ]  # fmt: skip
    if proved := _count(checked, "proved"):
        lines.append(line_of("certificates", _listed(checked, "certificates"),
                             f"{proved} records proved again"))  # fmt: skip
    told, free, alike = (_count(checked, name) for name in ("stories", "free", "alike"))
    if told or free:
        figure = f"{told} of scenes and views read as their graph"
        if free:
            figure += (
                f"; of {free} free texts {alike}: these are held to their attested sentences alone"
            )
        misread = _listed(checked, "misread")
        lines.append(line_of("stories, by a reader that knows no frame", misread, figure))
    return lines


def _points(split: str, checked: Checked) -> KnownPoints:
    """The points of all tracks of a split."""
    return total_points([one.points for key in checked if key[0] == split for one in checked[key]])


def _known_answers(split: str, found: KnownPoints, graded: Sequence[ExamPoints]) -> list[GateLine]:
    """The right answers are worth 100 points; no answer is worth 0."""
    points, empty = (100 * each / max(found.tasks, 1) for each in (found.gold, found.empty))
    wrong = [*found.wrong, *(line for exam in graded for line in exam.wrong)]
    earned = [*found.earned, *(line for exam in graded for line in exam.earned)]
    names = ", ".join(dict.fromkeys(exam.exam for exam in graded)) or "none"
    return [
        line_of(f"{split}: gold answers", wrong,
                f"{found.tasks} tasks, {points:g} points; through the whole grader: {names}"),
        line_of(f"{split}: empty answers", earned, f"{empty:g} points"),
    ]  # fmt: skip


def _floor_line(found: SplitFloors) -> GateLine:
    """The line of the floors of a split."""
    figure = f"answers to {sum(row.own_tasks for row in found.rows)} tasks earn them"
    return line_of(f"{found.split}: floors", found.problems, figure if found.rows else "none")


def _leak_line(leaks: LeakReport) -> GateLine:
    """The verdict, and of every split how much of it could be tested."""
    tested = Counter(row.where for row in leaks.rows)
    splits = dict.fromkeys([*tested, *(split for split, _, _ in leaks.skipped)])
    counts = ", ".join(
        f"{split} {tested[split]} facts" if tested[split] else f"{split} not tested (reasons below)"
        for split in splits
    )
    if not leaks.rows:
        return GateLine("leak test", True, counts or "nothing to test")
    problems = [f"{row.where}, {row.fact}: p = {row.p:.2g}" for row in leaks.leaks]
    smallest = min(row.p for row in leaks.rows)
    level = f"smallest p {smallest:.2g}, threshold {leaks.threshold:.2g}"
    return line_of("leak test", problems, f"{counts}; {level}")

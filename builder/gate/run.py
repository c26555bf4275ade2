"""The gate: what must hold before a release gets its name.

It is a reduction. Every part of a release is checked by itself (:mod:`builder.gate.part_check`), in
a build by the worker that staged it; the gate makes sure that these checks are of the very
rows that were released, adds them up, and checks what takes several parts: ids, prompts, exams,
secrecy, floors, leaks. A release that is finished is taken apart again for it.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from builder.gate import card
from builder.gate import checks as gate_checks
from builder.gate.exams import exam_findings
from builder.gate.flat import flat_problems
from builder.gate.floors import stated_floors
from builder.gate.known_answers import (
    CEILING_TASKS,
    GUESSES,
    KnownPoints,
    added_points,
    ceiling_of,
    exam_points,
)
from builder.gate.leak.extract import together
from builder.gate.leak.permutation import LeakReport, Material, Untested, leaks_among
from builder.gate.part_check import Findings, Unchecked, check_part, read_check
from builder.gate.report import Floor, GateLine, GateReport, line_of
from builder.gate.restage import restaged
from builder.gate.roll import Roll, raw_ids, rolls
from builder.gate.same_rows import compare_jobs, differences
from builder.gate.secrecy import forget, secrecy_problems
from builder.gate.shortcuts import ShortcutRow, Shortcuts, shortcut_rows
from builder.gate.tables import SplitTables, split_tables
from builder.release.engine import Workers, map_instances, processes_of
from builder.release.manifest import Parts, read_manifest
from builder.release.reader import configs, public_side
from builder.tracks import TRACKS
from grader.io.release import Release
from grader.tracks import variant as variant_of
from grader.verify import verify

EXACT: Final = 1e-9
"""Points may differ by this much between the grader and the stated floor: rounding only."""

MANY_INSTANCES: Final = 150
"""Instances from which on more processes pay for their start."""

Progress = Callable[[str], None]

Key = tuple[str, str]
"""Split and track."""


@dataclass(frozen=True, slots=True)
class _Checked:
    """The findings of every part, and what hinders them from standing for the release."""

    findings: Mapping[Key, Sequence[Findings]]
    unchecked: Sequence[str]
    different: Sequence[str]
    parts: int

    def every(self) -> Iterator[Findings]:
        return chain.from_iterable(self.findings.values())


def run_gate(
    release: Path,
    progress: Progress | None = None,
    *,
    workers: Workers | None = None,
    parts: Parts | None = None,
    shortcuts: Shortcuts | None = None,
) -> GateReport:
    """Run every check over a release folder: ``public``, and ``private`` where truths are private.

    ``parts`` are the staged and checked parts that it was made of; without them it is taken apart
    and every part is checked anew. ``progress`` is told what is being done; ``workers`` share the
    work (default: all cores); ``shortcuts`` are rules whose skill is told. Raises ``UsageError``
    when there is no release or a private split lacks its private side.
    """
    tell = progress or (lambda _: None)
    workers = workers or os.cpu_count() or 1
    tell("gate: hashes, rows and cards")
    public_side(release)
    opened = Release.open(release)
    lines = [*_integrity(opened, release), *_cards(release)]
    if not all(line.ok for line in lines):
        return GateReport(tuple(lines))
    found = rolls(release)
    if parts is None:
        tell("gate: every truth and story a second time")
        checked = _check_anew(release, found, workers)
    else:
        tell("gate: what was checked is what is released")
        checked = _compare(release, found, parts, workers)
    tell("gate: ids, prompts, exams, specification, secrecy")
    lines += _structure(release, found, checked)
    if not all(line.ok for line in lines):
        return GateReport(tuple(lines))
    lines += _flat(opened, checked)
    lines += _audits(checked)
    tell("gate: gold, empty, constant and random answers")
    floors: list[Floor] = []
    for split in opened.splits:
        lines += _exams(opened, split)
        own = [p.points for key, members in checked.findings.items() if key[0] == split
               for p in members]  # fmt: skip
        lines += _known_answers(opened, split, added_points(own))
        floors += _floors(split, checked)
    lines += _floor_lines(floors)
    lines += _stated_lines(opened)
    rows: tuple[ShortcutRow, ...] = ()
    if shortcuts is not None:
        tell("gate: shortcuts")
        rows = tuple(shortcut_rows(release, opened, shortcuts))
    tell("gate: leak test")
    leaks = leaks_among(_materials(release, checked), workers=processes_of(workers))
    lines.append(_leak_line(leaks))
    return GateReport(tuple(lines), tuple(floors), leaks, tuple(_compositions(release)), rows)


def _check_anew(release: Path, found: Sequence[Roll], workers: Workers) -> _Checked:
    """Takes a release apart and checks every part of it."""
    findings: dict[Key, list[Findings]] = {}
    with TemporaryDirectory(prefix="causal-exams-gate-") as folder:
        staged = [part for roll in found for part in restaged(release, roll, Path(folder))]
        many = sum(len(roll.worlds) for roll in found) >= MANY_INSTANCES
        for _ in map_instances(check_part, staged, workers if many else 1):
            pass
        for part in staged:
            key = part.origin.split, part.origin.track
            findings.setdefault(key, []).append(read_check(part))
    return _Checked(findings, (), (), len(staged))


def _compare(release: Path, found: Sequence[Roll], parts: Parts, workers: Workers) -> _Checked:
    """The checks of staged parts, as far as they hold; and what the release holds besides."""
    findings: dict[Key, list[Findings]] = {}
    unchecked = []
    for key in ((roll.split, roll.track) for roll in found):
        for part in parts.get(key, ()):
            try:
                findings.setdefault(key, []).append(read_check(part))
            except Unchecked as problem:
                unchecked.append(str(problem))
    jobs = [
        job
        for roll in found
        for job in compare_jobs(release, roll, parts.get((roll.split, roll.track), ()))
    ]
    many = sum(len(roll.worlds) for roll in found) >= MANY_INSTANCES
    different = chain.from_iterable(map_instances(differences, jobs, workers if many else 1))
    return _Checked(findings, unchecked, list(different), sum(map(len, parts.values())))


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
    """What ``grader verify`` says: manifests, hashes, row counts, commitments."""
    lines = []
    for item in verify(opened):
        detail = item.detail.replace(f"{release}{os.sep}", "")
        problems = () if item.ok else (detail,)
        lines.append(GateLine(item.name, item.ok, detail if item.ok else "see below", problems))
    return lines


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


def _structure(release: Path, found: Sequence[Roll], checked: _Checked) -> list[GateLine]:
    tasks = sum(len(roll.tasks) for roll in found)
    instances = sum(len(roll.worlds) for roll in found)
    problems = gate_checks.id_problems(found, raw_ids(release))
    problems += chain.from_iterable(one.references for one in checked.every())
    same = [line for one in checked.every() for line in one.same_prompts]
    same += gate_checks.prompt_problems(one.prompts for one in checked.every())
    lines = [
        line_of("checks of parts", [*checked.unchecked, *checked.different],
                f"{checked.parts} parts, whose rows are those of the release"),
        line_of("ids", problems, f"{tasks} tasks, {instances} instances, no id used twice"),
        line_of("prompts", same, f"{tasks} different"),
    ]  # fmt: skip
    for roll in found:
        where = f"{roll.split} {roll.track}"
        exams = len({exam for exam, _, _ in roll.exams})
        rows = (line for one in checked.findings.get((roll.split, roll.track), ())
                for line in one.task_rows)  # fmt: skip
        lines.append(
            line_of(f"{where}: exams", gate_checks.exam_problems(roll),
                    f"{exams} exams, {len(roll.exams)} places"),
        )  # fmt: skip
        lines.append(
            line_of(f"{where}: task rows", rows,
                    f"{len(roll.tasks)} agree with the specification"),
        )  # fmt: skip
        if roll.private:
            table = split_tables(release, roll.track, roll.split)
            lines.append(
                line_of(
                    f"{where}: nothing private in public",
                    secrecy_problems(release / "public", release / "private", table),
                    f"{len(table.worlds)} keys and worlds searched for",
                )
            )
    forget()
    return lines


def _flat(opened: Release, checked: _Checked) -> Iterator[GateLine]:
    """The one table of all tracks, a split at a time."""
    for split in opened.splits:
        marks = (mark for key, members in checked.findings.items() if key[0] == split
                 for one in members for mark in one.flat)  # fmt: skip
        shown = "right answers" if opened.has_public_truth(split) else "no answer"
        problems = flat_problems(opened.public.path, split, marks)
        yield line_of(f"{split}: config tasks", problems, f"as the tracks' configs, {shown}")


def _exams(opened: Release, split: str) -> list[GateLine]:
    """What exams must keep as a whole."""
    manifest = read_manifest(opened.truth_side(split).path)
    return [
        line_of(found.check, found.problems, found.figure)
        for found in exam_findings(opened, split, manifest)
    ]


def _audits(checked: _Checked) -> list[GateLine]:
    """Every truth against its second derivation, every story against its graph. Of stories told by
    rules all must read as their graph; of free texts it is told how many do."""
    every = list(checked.every())
    truths, audited = (sum(getattr(one, name) for one in every) for name in ("truths", "audited"))
    problems = [problem for one in every for problem in one.audit]
    lines = [
        line_of("second derivation of every truth", problems,
                f"{truths} truths of {audited} scenes and views agree"),
    ]  # fmt: skip
    told, free, alike = (sum(getattr(one, name) for one in every)
                         for name in ("stories", "free", "alike"))  # fmt: skip
    if told or free:
        figure = f"{told} of scenes and views read as their graph"
        if free:
            figure += (
                f"; of {free} free texts {alike}: these are held to their attested sentences alone"
            )
        misread = [problem for one in every for problem in one.misread]
        lines.append(line_of("stories, by a reader that knows no frame", misread, figure))
    return lines


def _known_answers(opened: Release, split: str, found: KnownPoints) -> list[GateLine]:
    """The right answers are worth 100 points; no answer is worth 0."""
    graded = list(exam_points(opened, split, found.tasks))
    points, empty = (100 * each / max(found.tasks, 1) for each in (found.gold, found.empty))
    wrong = chain(found.wrong, *(exam.wrong for exam in graded))
    earned = chain(found.earned, *(exam.earned for exam in graded))
    names = ", ".join(exam.exam for exam in graded) or "none"
    return [
        line_of(f"{split}: gold answers", wrong,
                f"{found.tasks} tasks, {points:g} points; through the whole grader: {names}"),
        line_of(f"{split}: empty answers", earned, f"{empty:g} points"),
    ]  # fmt: skip


def _floors(split: str, checked: _Checked) -> Iterator[Floor]:
    """The floors of a split's variants, track by track."""
    for (where, track), members in checked.findings.items():
        if where != split:
            continue
        sums = added_points([one.points for one in members]).floors
        for key, found in sums.items():
            points = {
                kind: (100 * found.graded[kind] / found.tasks,
                       100 * found.derived[kind] / found.tasks)
                for kind in GUESSES
            }  # fmt: skip
            spec = variant_of(track, key)
            why = TRACKS[track].floors.why[spec.shape.name]
            yield Floor(split, spec, found.tasks, why, points)


def _floor_lines(floors: Sequence[Floor]) -> list[GateLine]:
    """One line for constant and one for random answers."""
    lines = []
    for kind in GUESSES:
        problems: list[str] = []
        graded = []
        for floor in floors:
            points, derived = floor.points[kind]
            graded.append(points * floor.tasks)
            where = f"{floor.split} {floor.variant.key}"
            if abs(points - derived) > 100 * EXACT:
                problems.append(f"{where}: graded {points:.9f}, stated floor {derived:.9f}")
            ceiling = 100 * ceiling_of(floor.variant.shape.pool, floor.tasks)
            if floor.tasks >= CEILING_TASKS and points >= ceiling:
                problems.append(f"{where}: {points:.1f} points, at least the ceiling {ceiling:.1f}")
        mean = math.fsum(graded) / max(sum(floor.tasks for floor in floors), 1)
        lines.append(line_of(f"{kind} answers", problems, f"{mean:.1f} points, as derived"))
    return lines


def _stated_lines(opened: Release) -> Iterator[GateLine]:
    """One line for the floors of each exam of each split."""
    for found in stated_floors(opened):
        yield line_of(
            f"{found.split}: floors of {found.exam}",
            found.problems,
            f"recomputed on {found.tasks} tasks, at most {found.farthest:.1f} standard errors off",
        )


def _materials(release: Path, checked: _Checked) -> Iterator[Material | Untested]:
    """What the leak test looks at, in the order of the parts."""
    for (split, track), members in checked.findings.items():
        leak_facts, where = TRACKS[track].leak_facts, f"{split} {track}"
        if leak_facts is None:
            yield Untested(where)
            continue

        def read(only: frozenset[str], track: str = track, split: str = split) -> SplitTables:
            return split_tables(release, track, split, only)

        yield Material(where, leak_facts, together(one.leaks for one in members), read)


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

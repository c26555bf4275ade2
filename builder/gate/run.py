"""The gate: what must hold before a release gets its name.

It reads the written files alone and writes its findings as ``GATE.md``: no times and no paths, so
that the same release gives the same bytes. A check either holds or lists its first problems.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from builder.gate import card
from builder.gate import checks as gate_checks
from builder.gate.exams import exam_findings
from builder.gate.flat import flat_problems
from builder.gate.floors import stated_floors
from builder.gate.known_answers import (
    CEILING,
    CEILING_TASKS,
    FLOOR_TASKS,
    GUESSES,
    Floor,
    SplitPoints,
    ceiling_of,
    split_points,
)
from builder.gate.leak.permutation import LeakReport, leak_test
from builder.gate.second_derivation import audit, audit_jobs
from builder.gate.secrecy import forget, secrecy_problems
from builder.gate.tables import SplitTables, split_tables, tracks
from builder.release.engine import map_instances
from builder.release.manifest import read_manifest
from builder.release.reader import configs, public_side, splits
from builder.track import StoryReading
from grader.io.release import Release
from grader.verify import verify

EXACT: Final = 1e-9
"""Points may differ by this much between the grader and the stated floor: rounding only."""

MANY_INSTANCES: Final = 150
"""Instances from which on more processes pay for their start."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class GateLine:
    """One check: its name, whether it holds, its figure, and the first problems if it fails."""

    check: str
    ok: bool
    figure: str
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GateReport:
    """All findings about a release."""

    lines: tuple[GateLine, ...]
    floors: tuple[Floor, ...] = ()
    leaks: LeakReport | None = None
    compositions: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Every check holds."""
        return all(line.ok for line in self.lines)

    @property
    def markdown(self) -> str:
        """The text of ``GATE.md``."""
        head = "The release passed its gate." if self.ok else "**The release did not pass.**"
        text = ["# Gate", "", head, "", "| check | result | figure |", "|---|---|---|"]
        for line in self.lines:
            text.append(f"| {line.check} | {'ok' if line.ok else '**FAIL**'} | {line.figure} |")
        for line in self.lines:
            if line.problems:
                text += ["", f"## Problems: {line.check}", ""]
                text += [f"- {problem}" for problem in line.problems]
        if self.compositions:
            text += ["", *_COMPOSITION, *self.compositions]
        if self.floors:
            text += ["", *_floor_table(self.floors)]
        if self.leaks is not None:
            text += ["", "## Leak test", "", self.leaks.markdown().rstrip("\n")]
        return "\n".join(text) + "\n"


def run_gate(
    release: Path, progress: Progress | None = None, *, workers: int | None = None
) -> GateReport:
    """Run every check over a release folder: ``public``, and ``private`` where truths are private.

    ``progress`` is told what is being done; ``workers`` share the work (default: all cores).
    Raises ``UsageError`` when there is no release or a private split lacks its private side.
    """
    tell = progress or (lambda _: None)
    tell("gate: hashes, rows and cards")
    public_side(release)
    opened = Release.open(release)
    lines = [*_integrity(opened, release), *_cards(release)]
    if not all(line.ok for line in lines):
        return GateReport(tuple(lines))
    tell("gate: ids, prompts, exams, specification, secrecy")
    tables = [
        split_tables(release, track, split)
        for track in tracks(release / "public")
        for split in splits(release / "public", track)
    ]
    lines += _structure(release, tables)
    if not all(line.ok for line in lines):
        return GateReport(tuple(lines))
    lines += _flat(opened)
    forget()
    tell("gate: every truth and story a second time")
    workers = workers or os.cpu_count() or 1
    processes = _workers_for(tables, workers)
    lines += _audit(release, tables, processes)
    tables.clear()  # every prompt there is: gigabytes, and not needed again
    tell("gate: gold, empty, constant and random answers")
    floors: list[Floor] = []
    for split in opened.splits:
        lines += _exams(opened, split)
        found = split_points(opened, split, processes)
        lines += _known_answers(found)
        floors += found.floors
    lines += _floor_lines(floors)
    lines += _stated_lines(opened)
    tell("gate: leak test")
    leaks = leak_test(release, workers=workers)
    lines.append(_leak_line(leaks))
    return GateReport(tuple(lines), tuple(floors), leaks, tuple(_compositions(release)))


_COMPOSITION: Final = (
    "## Composition",
    "",
    "What was requested, beside what came out, as numbers of instances or tasks.",
    "",
    "| split | track | axis | requested / realised |",
    "|---|---|---|---|",
)


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


def _line(name: str, problems: Iterable[str], figure: str) -> GateLine:
    found = gate_checks.first(problems)
    return GateLine(name, not found, figure, tuple(found))


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
            lines.append(_line(f"{side} card", problems, f"{len(found)} configs match their files"))
            if not problems:
                shown = f"{card.examples(release / side)} find what they ask for"
                broken = card.example_problems(release / side)
                lines.append(_line(f"{side} card: examples", broken, shown))
    return lines


def _structure(release: Path, tables: Sequence[SplitTables]) -> list[GateLine]:
    tasks = sum(len(table.tasks) for table in tables)
    instances = sum(len(table.worlds) for table in tables)
    raw = gate_checks.raw_ids(release)
    lines = [
        _line("ids", gate_checks.id_problems(tables, raw), f"{tasks} tasks, {instances} instances, "
              f"no id used twice"),
        _line("prompts", gate_checks.prompt_problems(tables), f"{tasks} different"),
    ]  # fmt: skip
    for table in tables:
        where = f"{table.split} {table.track}"
        exams = len({exam for exam, _, _ in table.exams})
        lines.append(
            _line(f"{where}: exams", gate_checks.exam_problems(table),
                  f"{exams} exams, {len(table.exams)} places"),
        )  # fmt: skip
        lines.append(
            _line(f"{where}: task rows", gate_checks.spec_problems(table),
                  f"{len(table.tasks)} agree with the specification"),
        )  # fmt: skip
        if table.private:
            lines.append(
                _line(
                    f"{where}: nothing private in public",
                    secrecy_problems(release / "public", release / "private", table),
                    f"{len(table.worlds)} keys and worlds searched for",
                )
            )
    return lines


def _flat(opened: Release) -> Iterator[GateLine]:
    """The one table of all tracks, a split at a time."""
    for split in opened.splits:
        shown = "right answers" if opened.has_public_truth(split) else "no answer"
        problems = flat_problems(opened, split)
        yield _line(f"{split}: config tasks", problems, f"as the tracks' configs, {shown}")


def _exams(opened: Release, split: str) -> list[GateLine]:
    """What exams must keep as a whole."""
    manifest = read_manifest(opened.truth_side(split).path)
    return [
        _line(found.check, found.problems, found.figure)
        for found in exam_findings(opened, split, manifest)
    ]


def _audit(release: Path, tables: Sequence[SplitTables], workers: int) -> list[GateLine]:
    """Every truth against its second derivation, every story against its graph, an instance at a
    time."""
    jobs = chain.from_iterable(audit_jobs(release, table) for table in tables)
    audited = list(map_instances(audit, jobs, workers))
    problems = [problem for found in audited for problem in found.problems]
    truths = sum(len(table.truth) for table in tables)
    lines = [
        _line("second derivation of every truth", problems,
              f"{truths} truths of {len(audited)} scenes and views agree"),
    ]  # fmt: skip
    stories = [found.story for found in audited if found.story is not None]
    return [*lines, _stories(stories)] if stories else lines


def _stories(stories: Sequence[StoryReading]) -> GateLine:
    """Every story told by rules reads as its graph; of free texts it is told how many do."""
    certain = [story for story in stories if story.certain]
    free = [story for story in stories if not story.certain]
    figure = f"{len(certain)} of scenes and views read as their graph"
    if free:
        alike = sum(not story.problems for story in free)
        figure += (
            f"; of {len(free)} free texts {alike}: these are held to their attested sentences alone"
        )
    problems = chain.from_iterable(story.problems for story in certain)
    return _line("stories, by a reader that knows no frame", problems, figure)


def _workers_for(tables: Sequence[SplitTables], workers: int) -> int:
    """One worker where starting more would take longer than the work."""
    instances = sum(len(table.worlds) for table in tables)
    return workers if instances >= MANY_INSTANCES else 1


def _known_answers(found: SplitPoints) -> list[GateLine]:
    """The right answers are worth 100 points; no answer is worth 0."""
    whole = "" if found.exams == ("all",) else (
        f"; through the whole grader: {', '.join(found.exams) or 'none'}"
    )  # fmt: skip
    return [
        _line(f"{found.split}: gold answers", found.wrong,
              f"{found.tasks} tasks, {found.points:g} points{whole}"),
        _line(f"{found.split}: empty answers", found.earned, f"{found.empty:g} points"),
    ]  # fmt: skip


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
        lines.append(_line(f"{kind} answers", problems, f"{mean:.1f} points, as derived"))
    return lines


def _stated_lines(opened: Release) -> Iterator[GateLine]:
    """One line for the floors of each exam of each split."""
    for found in stated_floors(opened):
        yield _line(
            f"{found.split}: floors of {found.exam}",
            found.problems,
            f"recomputed on {found.tasks} tasks, at most {found.farthest:.1f} standard errors off",
        )


def _floor_table(floors: Sequence[Floor]) -> list[str]:
    lines = [
        "## Floors",
        "",
        "What answers that know nothing score, in points. Each is graded and, independently, "
        "derived from the truths by the variant's published rule; the gate fails when the two "
        "differ, or when a guess at a label or set reaches "
        f"{100 * CEILING['pass']:g} points and a standard error over at least {CEILING_TASKS} "
        f"tasks. Of more than {FLOOR_TASKS} tasks, {FLOOR_TASKS} are drawn by a hash of their ids.",
        "",
        "| split | variant | tasks | constant | random | the constant answer scores |",
        "|---|---|--:|--:|--:|---|",
    ]
    for floor in floors:
        points = " | ".join(f"{floor.points[kind][0]:.1f}" for kind in GUESSES)
        why = floor.why.replace("|", r"\|")
        lines.append(f"| {floor.split} | {floor.variant.key} | {floor.tasks} | {points} | {why} |")
    return lines


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
    return _line("leak test", problems, f"{counts}; {level}")

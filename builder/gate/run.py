"""The gate: what must hold before a release gets its name.

It is a reduction. Every part of a release is checked by itself (:mod:`builder.gate.part_check`), in
a build by the worker that staged it; the gate makes sure that these checks are of the very
rows that were released, adds them up, and checks what takes several parts: ids, prompts, exams,
secrecy, floors, leaks. A release that is finished is taken apart again for it.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from builder.gate import card
from builder.gate import checks as gate_checks
from builder.gate.columns import schema_problems
from builder.gate.exams import Finding
from builder.gate.flat import flat_problems
from builder.gate.floors import StatedFloors
from builder.gate.known_answers import (
    CEILING_TASKS,
    GUESSES,
    ExamPoints,
    KnownPoints,
    PointSums,
    ceiling_of,
)
from builder.gate.leak.permutation import LeakReport, Material, Untested, leaks_among
from builder.gate.looks import Looks, looking_at
from builder.gate.reduction import Checked, added, are_many, check_anew
from builder.gate.report import Floor, GateLine, GateReport, line_of
from builder.gate.roll import Roll, raw_ids, rolls
from builder.gate.secrecy import secrecy_problems
from builder.gate.shortcuts import Shortcuts
from builder.gate.tables import SplitTables, Wanted, split_tables
from builder.release.engine import Workers, processes_of
from builder.release.manifest import Parts, read_manifest
from builder.release.processes import dismiss
from builder.release.reader import configs, public_side
from builder.tracks import TRACKS
from grader.io.release import Release
from grader.processors import processors
from grader.tracks import variant as variant_of
from grader.verify import verify

EXACT: Final = 1e-9
"""Points may differ by this much between the grader and the stated floor: rounding only."""

Progress = Callable[[str], None]


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
    work (default: one for each processor); ``shortcuts`` are rules whose skill is told. Raises
    ``UsageError`` when there is no release or a private split lacks its private side.
    """
    tell = progress or (lambda _: None)
    workers = workers or processors()
    public_side(release)
    opened = Release.open(release)
    with ExitStack() as ending:

        def look(workers: Workers) -> Looks:
            looking = looking_at(release, opened, shortcuts, processes_of(workers), parts)
            return ending.enter_context(looking)

        looks = None if parts is None else look(workers)  # meanwhile, by processes of this machine
        tell("gate: hashes, rows and cards")
        lines = [*_integrity(opened, release), *_schemas(release), *_cards(release)]
        if not all(line.ok for line in lines):
            return GateReport(tuple(lines))
        found = rolls(release)
        # For a small finished release the start of workers costs more than they save.
        sharing = workers if parts is not None or are_many(found) else 1
        with TemporaryDirectory(prefix="causal-exams-gate-") as folder:
            if parts is None or looks is None:
                tell("gate: every truth and story a second time")
                checked = check_anew(release, found, sharing, Path(folder))
            else:
                tell("gate: what was checked is what is released")
                checked = added(found, parts)
                checked = replace(checked, different=looks.differences())
            tell("gate: ids, prompts, exams, specification, secrecy")
            lines += _structure(release, found, checked, sharing)
            if not all(line.ok for line in lines):
                return GateReport(tuple(lines))
            lines += _flat(opened, checked, sharing)
        lines += _audits(checked)
        tell("gate: exams, known answers, floors and shortcuts")
        seen = (looks or look(sharing)).of_exams()
    floors: list[Floor] = []
    for split in opened.splits:
        points = _points(split, checked)
        lines += _exams(seen.rules[split])
        lines += _known_answers(split, points, seen.points[split])
        floors += _floors(split, checked)
    lines += _floor_lines(floors)
    lines += _stated_lines(seen.floors)
    tell("gate: leak test")
    dismiss()  # what is left is done by threads
    leaks = leaks_among(_materials(release, checked), workers=processes_of(workers))
    lines.append(_leak_line(leaks))
    return GateReport(
        tuple(lines), tuple(floors), leaks, tuple(_compositions(release)), tuple(seen.shortcuts)
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


def _integrity(opened: Release, release: Path) -> list[GateLine]:
    """What ``grader verify`` says: manifests, hashes, row counts, commitments. What records claim
    was proved where their part was checked."""
    lines = []
    for item in verify(opened, proofs=False):
        detail = item.detail.replace(f"{release}{os.sep}", "")
        problems = () if item.ok else (detail,)
        lines.append(GateLine(item.name, item.ok, detail if item.ok else "see below", problems))
    return lines


def _schemas(release: Path) -> list[GateLine]:
    shards = len(list(release.glob("*/*/*.parquet")))
    fine = f"{shards} shards have the columns of their configs"
    return [line_of("schemas", schema_problems(release), fine)]


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


def _structure(
    release: Path, found: Sequence[Roll], checked: Checked, workers: Workers
) -> list[GateLine]:
    tasks = sum(roll.tasks for roll in found)
    instances = sum(len(roll.worlds) for roll in found)
    problems = [*gate_checks.id_problems(found, raw_ids(release)), *checked.problems("references")]
    same = [*checked.problems("same_prompts"), *checked.same_prompts]
    lines = [
        line_of("checks of parts", [*checked.unchecked, *checked.different],
                f"{checked.parts} parts, whose rows are those of the release"),
        line_of("ids", problems, f"{tasks} tasks, {instances} instances, no id used twice"),
        line_of("prompts", same, f"{tasks} different"),
    ]  # fmt: skip
    for roll in found:
        where = f"{roll.split} {roll.track}"
        exams = len({exam for exam, _, _ in roll.exams})
        own = checked.sums.get((roll.split, roll.track))
        rows = own.problems["task_rows"] if own is not None else []
        lines.append(
            line_of(f"{where}: exams", gate_checks.exam_problems(roll),
                    f"{exams} exams, {len(roll.exams)} places"),
        )  # fmt: skip
        lines.append(
            line_of(f"{where}: task rows", rows,
                    f"{roll.tasks} agree with the specification"),
        )  # fmt: skip
    hidden = [roll for roll in found if roll.private]
    several = secrecy_problems(release, hidden, workers) if hidden else []
    for roll, private in zip(hidden, several, strict=True):
        where = f"{roll.split} {roll.track}: nothing private in public"
        lines.append(line_of(where, private, f"{len(roll.worlds)} keys and worlds searched for"))
    return lines


def _flat(opened: Release, checked: Checked, workers: Workers) -> Iterator[GateLine]:
    """The one table of all tracks, a split at a time."""
    for split in opened.splits:
        public = opened.has_public_truth(split)
        keys = [key for key in checked.sums if key[0] == split]
        sums = sum(checked.sums[key].flat.value for key in keys)
        marks = chain.from_iterable(map(checked.marks, keys))
        shown = "right answers" if public else "no answer"
        problems = flat_problems(opened.public.path, split, sums, marks, public, workers)
        yield line_of(f"{split}: config tasks", problems, f"as the tracks' configs, {shown}")


def _exams(rules: Sequence[Finding]) -> list[GateLine]:
    """What exams must keep as a whole."""
    return [line_of(found.check, found.problems, found.figure) for found in rules]


def _audits(checked: Checked) -> list[GateLine]:
    """Every truth against its second derivation, every story against its graph. Of stories told by
    rules all must read as their graph; of free texts it is told how many do."""
    truths, audited = checked.count("truths"), checked.count("audited")
    lines = [
        line_of("second derivation of every truth", checked.problems("audit"),
                f"{truths} truths of {audited} scenes and views agree"),
    ]  # fmt: skip
    if proved := checked.count("proved"):
        lines.append(line_of("certificates", checked.problems("certificates"),
                             f"{proved} records proved again"))  # fmt: skip
    told, free, alike = (checked.count(name) for name in ("stories", "free", "alike"))
    if told or free:
        figure = f"{told} of scenes and views read as their graph"
        if free:
            figure += (
                f"; of {free} free texts {alike}: these are held to their attested sentences alone"
            )
        misread = checked.problems("misread")
        lines.append(line_of("stories, by a reader that knows no frame", misread, figure))
    return lines


def _points(split: str, checked: Checked) -> KnownPoints:
    """The points of all tracks of a split."""
    sums = PointSums()
    for key, own in checked.sums.items():
        if key[0] == split:
            sums.merge(own.points)
    return sums.total()


def _known_answers(split: str, found: KnownPoints, graded: Sequence[ExamPoints]) -> list[GateLine]:
    """The right answers are worth 100 points; no answer is worth 0."""
    points, empty = (100 * each / max(found.tasks, 1) for each in (found.gold, found.empty))
    wrong = chain(found.wrong, *(exam.wrong for exam in graded))
    earned = chain(found.earned, *(exam.earned for exam in graded))
    names = ", ".join(dict.fromkeys(exam.exam for exam in graded)) or "none"
    return [
        line_of(f"{split}: gold answers", wrong,
                f"{found.tasks} tasks, {points:g} points; through the whole grader: {names}"),
        line_of(f"{split}: empty answers", earned, f"{empty:g} points"),
    ]  # fmt: skip


def _floors(split: str, checked: Checked) -> Iterator[Floor]:
    """The floors of a split's variants, track by track."""
    for (where, track), sums in checked.sums.items():
        if where != split:
            continue
        for key, found in sums.points.total().floors.items():
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


def _stated_lines(floors: Iterable[StatedFloors]) -> Iterator[GateLine]:
    """One line for the floors of each exam of each split."""
    for found in floors:
        yield line_of(
            f"{found.split}: floors of {found.exam}",
            found.problems,
            f"recomputed on {found.tasks} tasks, at most {found.farthest:.1f} standard errors off",
        )


def _materials(release: Path, checked: Checked) -> Iterator[Material | Untested]:
    """What the leak test looks at, in the order of the parts."""
    for (split, track), sums in checked.sums.items():
        leak_facts, where = TRACKS[track].leak_facts, f"{split} {track}"
        if leak_facts is None:
            yield Untested(where)
            continue

        def read(only: Wanted, track: str = track, split: str = split) -> SplitTables:
            return split_tables(release, track, split, only)

        yield Material(where, leak_facts, sums.leaks.facts(), read)


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

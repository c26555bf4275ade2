"""From the points of policies on a twin to the floors of an exam."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from builder.floors.twin import Cell, Measured, TwinPart, draw_twin
from builder.release.floors import Twin, plain
from builder.release.identity import source_sha256
from builder.release.show.progress import Reporter
from builder.track import Track
from builder.tracks import TRACKS
from grader.floors import rules_sha256
from grader.io.jsonio import canonical
from grader.tracks import TRACKS as GRADED

_DIGITS: Final = 6


def measure_exams(
    exams: Mapping[str, Mapping[str, Twin]],
    seed: str,
    unfinished: Path,
    *,
    tasks: int,
    workers: int,
    reporter: Reporter,
) -> dict[str, dict[str, Any]]:
    """The floors of exams by track; exams with the same settings share one twin, which is forgotten
    before the next one is drawn."""
    pools: dict[tuple[str, str], list[str]] = {}
    for exam, twins in exams.items():
        for track, twin in twins.items():
            pools.setdefault((track, canonical(plain(twin.settings))), []).append(exam)
    found: dict[str, dict[str, Any]] = {exam: {} for exam in exams}
    for (name, settings), members in pools.items():
        first = exams[members[0]][name]
        graded = GRADED[name]
        rules = rules_sha256(graded, [variant.key for variant in graded.variants])
        asked = _asked_by(exams[exam][name] for exam in members)
        only = None if asked is None else sorted(asked)
        mark = canonical([name, settings, seed, tasks, only, rules, source_sha256()])
        drawn = draw_twin(
            name,
            first.settings,
            seed,
            unfinished / hashlib.sha256(mark.encode("utf-8")).hexdigest()[:16],
            composed=any(exams[exam][name].model is not None for exam in members),
            tasks=tasks,
            asked=asked,
            workers=workers,
            reporter=reporter,
        )
        for exam in members:
            with reporter.stage(f"{exam}: {name}", 1) as advance:
                twin = exams[exam][name]
                found[exam][name] = floors_of(TRACKS[name], twin.model, drawn, twin.variants)
                advance()
    return found


def _asked_by(twins: Iterable[Twin]) -> frozenset[str] | None:
    """The variants that one of the exams asks; None if one of them asks all."""
    found = frozenset[str]()
    for twin in twins:
        if twin.variants is None:
            return None
        found |= twin.variants
    return found


def floors_of(
    track: Track, model: Any, twin: TwinPart, variants: frozenset[str] | None = None
) -> dict[str, Any]:
    """The floors of an exam by variant (of ``variants`` only, where it does not ask all), and by
    regime where there are several.

    Tasks count as often as the exam's own rules draw them.
    """
    shares = None
    if model is not None:
        assert track.exams is not None
        shares = track.exams.shares(model, twin.candidates)
    cells: dict[Cell, list[Measured]] = {}
    for one in twin.measured:
        asked = variants is None or one.cell[0] in variants
        if asked and (shares is None or shares.get(one.task_id)):
            cells.setdefault(one.cell, []).append(one)
    found: dict[str, Any] = {}
    for (key, regime), members in sorted(cells.items()):
        floor = best_policy(
            members, [1.0 if shares is None else shares[m.task_id] for m in members]
        )
        if regime:
            found.setdefault(key, {})[regime] = floor
        else:
            found[key] = floor
    return found


def best_policy(members: Sequence[Measured], shares: Sequence[float]) -> dict[str, Any]:
    """The floor of one cell: the policy of the largest mean, with its standard error.

    Tasks of one world are one draw (the variance of a ratio of sums over worlds).
    """
    policies = members[0].policies
    if any(one.policies != policies for one in members):
        raise ValueError(f"{members[0].cell}: policies differ from task to task")
    points = np.array([one.points for one in members])
    weight = np.array(shares)
    means = weight @ points / weight.sum()
    best = int(np.argmax(np.round(means, 12)))
    worlds = {name: place for place, name in enumerate(sorted({one.world for one in members}))}
    off = np.zeros(len(worlds))
    np.add.at(off, [worlds[one.world] for one in members], weight * (points[:, best] - means[best]))
    return {
        "points": round(float(means[best]), _DIGITS),
        "se": round(float(np.sqrt((off**2).sum()) / weight.sum()), _DIGITS),
        "policy": policies[best],
        "tasks": len(members),
    }

"""The generation report: our figures beside the paper's Tables B.1, B.2 and F.2."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Final

from builder.splits.track import Record
from builder.stories.texts import markdown_table
from builder.tracks.replayscm.worlds import MODES
from grader.tracks.replayscm.boolean import depth, parse, size, variables
from grader.tracks.replayscm.shapes import LEVELS


def report(worlds: Sequence[Record], truths: Mapping[str, Record]) -> list[str]:
    """Return the parts of the report, as Markdown. ``truths`` are the targets by task id."""
    parts = [f"{len(worlds)} programs, {len(truths)} records."]
    base = [any(label.endswith("-Base") for label in one["tasks"].values()) for one in worlds]
    for cohort, is_base in (("", False), ("Base cohort, ", True)):
        members = [world for world, flag in zip(worlds, base, strict=True) if flag == is_base]
        if members:
            heads = ("", "paper", "ours")
            parts += [
                markdown_table(f"{cohort}Programs (Table B.1)", heads, _program_rows(members)),
                markdown_table(f"{cohort}Worlds (Table B.1)", heads, _world_rows(members)),
                markdown_table(f"{cohort}Strata (Table B.2)", *_strata(members)),
            ]
    if matched := [world for world in worlds if len(world["levels"]) == len(LEVELS)]:
        levels = ("", "Original", "Extra Worlds", "CEx", "Certified")
        title = "Levels, over the matched programs (Table F.2)"
        parts.append(markdown_table(title, levels, _level_rows(matched)))
    return parts


def _program_rows(worlds: Sequence[Record]) -> list[list[str]]:
    """Return rows of (figure, the paper's value, ours) about programs."""
    formulas = [parse(text) for world in worlds for text in world["program"]["mechanisms"].values()]
    windows = Counter(
        max(len(window) for window in world["program"]["windows"].values()) for world in worlds
    )
    parents = [len(variables(formula)) for formula in formulas]
    return [
        ["variables", "6–10", _range([len(world["program"]["order"]) for world in worlds])],
        ["roots", "3", "3"],
        ["mechanism AST size", "3–14", _range([size(formula) for formula in formulas])],
        ["mechanism depth", "2–6", _range([depth(formula) for formula in formulas])],
        ["parents per mechanism", "2 or more", _range(parents)],
        ["predecessor window", "2–5, mostly 4", ", ".join(
            f"{most}: {count / len(worlds):.0%}" for most, count in sorted(windows.items()))],
    ]  # fmt: skip


def _world_rows(worlds: Sequence[Record]) -> list[list[str]]:
    """Return rows of (figure, paper, ours) about worlds, training ones at level Original."""
    training = [world for record in worlds for world in record["levels"]["original"]]
    modes = Counter(world["mode"] for world in training)
    added = [record["statistics"]["disambiguation_worlds"] for record in worlds]
    sizes = [len(world["targets"]) for world in training]
    return [
        ["training worlds (Original)", "8–11",
         _range([len(record["levels"]["original"]) for record in worlds])],
        ["held-out worlds", "8", _range([len(record["heldout"]) for record in worlds])],
        ["rows per world", "10–12", _range([len(world["rows"]) for world in training])],
        ["targets per world", "0, usually 1–3", _range(sizes)],
        ["modes", "none, constant, assigned",
         ", ".join(f"{mode} {modes[mode] / len(training):.0%}" for mode in MODES)],
        ["disambiguation worlds", "0–3", f"{_range(added)}"],
    ]  # fmt: skip


def _strata(worlds: Sequence[Record]) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return heads and rows of a table: a row a threshold, then the paper's, a column a stratum."""
    groups: dict[str, list[dict[str, list[float]]]] = {}
    for record in sorted(worlds, key=lambda record: str(record["stratum"])):
        groups.setdefault(record["stratum"] or "no strata", []).append(_thresholds(record))
    rows = [["programs", "", *(str(len(group)) for group in groups.values())]]
    for label, paper in _THRESHOLDS.items():
        values = [[v for figures in group for v in figures[label]] for group in groups.values()]
        digits = 2 if any(v % 1 for column in values for v in column) else 0
        rows.append([label, paper, *(_range(column, digits) for column in values)])
    return ("", "paper", *groups), rows


_THRESHOLDS: Final = {
    "survivor reduction": "0.75–0.95",
    "hard_assigned worlds": "3–4 at least",
    "hard_constant worlds": "1–2 at least",
    "worlds that compute a variable": "3–4 at least",
    "cells of a variable": "33, 40, 44 at least",
    "worlds that set a variable": "4–5 at most",
    "held-out target novelty": "from 0.20–0.25 to 0.65–0.72",
}
"""The paper's thresholds, which depend on the stratum (Table B.2)."""


def _thresholds(record: Record) -> dict[str, list[float]]:
    """Return a program's values of each of ``_THRESHOLDS``, over Original training worlds."""
    training = record["levels"]["original"]
    known = [world["targets"] for world in training]
    modes = Counter(world["mode"] for world in training)
    computed = [
        [len(world["rows"]) for world in training if child not in world["targets"]]
        for child in record["program"]["mechanisms"]
    ]
    found: list[list[float]] = [
        [record["statistics"]["survivor_reduction"]],
        [modes["hard_assigned"]],
        [modes["hard_constant"]],
        [len(rows) for rows in computed],
        [sum(rows) for rows in computed],
        [len(training) - len(rows) for rows in computed],
        [mean(world["targets"] not in known for world in record["heldout"])],
    ]
    return dict(zip(_THRESHOLDS, found, strict=True))


def _level_rows(matched: Sequence[Record]) -> list[list[str]]:
    """Return the rows of Table F.2, a column a level, over programs with worlds at every level."""
    shares = {
        level: [world["coverage"][level][0] / world["coverage"][level][1] for world in matched]
        for level in LEVELS
    }
    counts = {level: [len(world["levels"][level]) for world in matched] for level in LEVELS}
    gains = [world["coverage"]["extra"][0] - world["coverage"]["original"][0] for world in matched]
    added = [len(w["levels"]["extra"]) - len(w["levels"]["original"]) for w in matched]
    return [
        ["mean window coverage (paper)", "0.8949", "0.9815", "1.0000", "–"],
        ["mean window coverage (ours)", *(f"{mean(shares[level]):.4f}" for level in LEVELS)],
        ["full coverage (paper)", "2/100", "42/100", "100/100", "–"],
        [
            "full coverage (ours)",
            *(f"{sum(s == 1 for s in shares[level])}/{len(matched)}" for level in LEVELS),
        ],
        ["training worlds (paper)", "8–11", "12.33 (11–14)", "14.27 (11–23)", "–"],
        ["training worlds (ours)", *(_range(counts[level]) for level in LEVELS)],
        ["added worlds (paper / ours)", "", f"3.09 (3–4) / {_range(added)}", "", ""],
        ["new patterns (paper / ours)", "", f"7.23 / {mean(gains):.2f}", "", ""],
    ]


def _range(values: Sequence[float], digits: int = 0) -> str:
    """Return ``mean (least–most)``, or the one value where all are equal."""
    low, high = min(values), max(values)
    if low == high:
        return f"{low:.{digits}f}"
    return f"{mean(values):.{max(digits, 2)}f} ({low:.{digits}f}–{high:.{digits}f})"

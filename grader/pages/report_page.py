"""The page of one graded submission, and the section of a track on any page."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.io.jsonio import canonical_json
from grader.pages import page as draw
from grader.pages.charts import heat_cell
from grader.pages.page import Block, Card, Fold, Inside, Paragraph, Section, Tile, non_empty
from grader.pages.report import SPECIFICATION, census, costs, headlines, runs, tasks, variants
from grader.pages.specification import pages_of
from grader.pages.systems import (
    FEW,
    SYSTEM,
    Report,
    families_of,
    figure_cell,
    is_skipped,
    name_of,
    partial_text,
    reading_of,
)
from grader.pages.table import Cell, Table
from grader.pages.words import clip_text, count, count_text, points
from grader.scoring.model import Score, Truth
from grader.scoring.track import Track, Tracks
from grader.version import __version__

NOTES: Final = SPECIFICATION.notes
FOOTER: Final = NOTES["footer"].format(version=__version__)
DRAWN: Final = 24
"""Systems in pictures. Tables have all of them."""
_BESIDE: Final = 6
"""Systems beside each other in a table of families."""
_SETTINGS: Final = 300


def report_page(
    report: Report,
    tracks: Tracks,
    scores: Sequence[Score] = (),
    truths: Mapping[str, Truth] | None = None,
    more: Sequence[Section] = (),
    ahead: Sequence[tuple[str, str]] = (),
) -> str:
    """Return a submission's page: ``scores`` to be seen, ``truths`` to reveal, links ``ahead``."""
    dear = non_empty(costs(scores))
    endings = ", ".join(f"{name} {number}" for name, number in report.get("endings", {}).items())
    listed = non_empty(tasks(scores, truths or {}))
    attempts = [runs(report, tracks)] if "attempts" in report else []
    answered = _without_system([census([report])])
    answered += [Paragraph(f"Endings: {endings}.")] if endings else []
    sections = [
        Section("Summary", [_card(report, tracks)]),
        Section("What went wrong", [Paragraph(NOTES["cost"], note=True), *dear] if dear else []),
        *(track_section(tracks[name], [report]) for name in report["tracks"]),
        Section("Attempts as complete exams", attempts),
        Section("What was answered", answered),
        Section(f"Every task ({len(scores):,})", listed, folded=True),
        *more,
    ]
    release = report["release"]["name"]
    subtitle = f"{partial_text(report)}{release}, split {report['split']}, exam {report['exam']}"
    return draw.page(name_of(report), subtitle, sections, FOOTER, contents=True, ahead=ahead)


def track_section(track: Track, reports: Sequence[Report]) -> Section:
    """Return all that there is to show of a track, folded, with its headline on the outside."""
    name, alone = track.name, len(reports) == 1
    own = pages_of(track).sections(reports)
    inside = [Section("points per family", _families(reports, name))]
    for one in own:
        blocks = _without_system(one.blocks) if alone else one.blocks
        inside.append(Section(one.title.removeprefix(f"{name}: "), blocks))
    aside = ""
    if alone:
        part = reports[0]["tracks"][name]
        inside.append(Section("by variant", [variants(name, part, reading_of(reports))]))
        aside = f"{points(part['points'])} points"
        if part["skill"] is not None:
            aside = f"skill {figure_cell(part, 'skill')}, {aside}"
    return Section(name, inside, aside, folded=True)


def _without_system(blocks: Sequence[Inside]) -> list[Inside]:
    """Return the blocks without the column of the system, where there is but one."""
    found: list[Inside] = []
    for block in blocks:
        match block:
            case Table() if len(block.head) > 1:
                found.append(block.without_columns(SYSTEM))
            case Fold():
                found.append(Fold(block.summary, _without_system(block.blocks), block.opened))
            case _:
                found.append(block)
    return found


def _card(report: Report, tracks: Tracks) -> Card:
    """Return the card at the head: headlines, system, answered, cost, release, extreme families."""
    large = []
    for name, cell, remark in headlines(report, tracks):
        interval = f"95% interval {cell.aside}" if cell.aside else ""
        large.append(Tile(name, cell.text, "; ".join(filter(None, (interval, remark)))))
    counts, release = report["census"], report["release"]
    digest = hashlib.sha256(canonical_json(release["content_sha256"]).encode("utf-8")).hexdigest()
    tiles = [
        *large,
        Tile("system", name_of(report), _settings(report)),
        Tile(
            "answered",
            f"{counts['scored']} of {counts['tasks']} tasks",
            f"{counts['missing']} missing, {counts['invalid']} invalid",
        ),
        Tile("cost", *_cost(report["usage"])),
        Tile("release", release["name"], f"exam hash {digest[:16]}"),
    ]
    if len(ranked := families_of(report)) > 1:
        tiles += [
            Tile(f"{name} family", family.name.replace("_", " "), points(family.value))
            for name, family in (("weakest", ranked[0]), ("strongest", ranked[-1]))
        ]
    return Card(tiles, len(large))


def _settings(report: Report) -> str:
    """Return what the submission says of its date and settings, without those left alone."""
    run = report["submission"]["run"]
    stated = run.get("settings")
    settings = stated if isinstance(stated, dict) else {"settings": stated}
    parts = [run["date"]] if isinstance(run.get("date"), str) else []
    for key, value in settings.items():
        if not (value is None or value is False or value in ("", [], {})):
            parts.append(f"{key} {value if isinstance(value, str) else json.dumps(value)}")
    return clip_text(", ".join(parts), _SETTINGS)


def tokens_per_task(usage: Mapping[str, Any]) -> float | None:
    """Return the mean tokens per task, in and out, or None where nothing was reported."""
    if usage["input_tokens"] is None and usage["output_tokens"] is None:
        return None
    return float((usage["input_tokens"] or 0) + (usage["output_tokens"] or 0))


def _cost(usage: Mapping[str, Any]) -> tuple[str, str]:
    """Return tokens a task, and beside them money, calls and time."""
    if not usage["tasks"]:
        return "–", "no usage.jsonl"
    tokens = tokens_per_task(usage)
    asides = [] if usage["cost_usd"] is None else [f"${usage['cost_usd']:,.4f}"]
    for key, unit in (("tool_calls", "calls"), ("seconds", "s")):
        if usage[key] is not None:
            asides.append(f"{count(usage[key])} {unit}")
    head = "tokens not told" if tokens is None else f"{count_text(tokens)} tokens a task"
    return head, ", ".join([*asides, f"over {usage['tasks']} tasks"])


def _families(reports: Sequence[Report], track: str) -> list[Block]:
    """Return points of each family and system, the darker the more, in tables of a few systems."""
    shown = reports[:DRAWN]
    families = shown[0]["tracks"][track]["slices"]["family"]
    blocks: list[Block] = []
    for at in range(0, len(shown), _BESIDE):
        some = shown[at : at + _BESIDE]
        names = [name_of(report) for report in some] if len(shown) > 1 else ["points"]
        rows = []
        for family, row in families.items():
            cells: list[str | Cell] = [family.replace("_", " "), str(row["tasks"])]
            for report in some:
                found = report["tracks"][track]["slices"]["family"].get(family, {}).get("points")
                absent = is_skipped(report, track) or found is None
                few = row["tasks"] < FEW
                cells.append("–" if absent else heat_cell(found / 100, f"{found:.0f}", few))
            rows.append(cells)
        blocks.append(Table("", ["family", "n", *names], rows))
    if any(row["tasks"] < FEW for row in families.values()):
        blocks.append(Paragraph(NOTES["few"].format(few=FEW), note=True))
    return blocks

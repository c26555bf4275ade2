"""Stories beside their graphs, for a person to judge: ``build_dataset.py read RELEASE``."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from builder.causalds.show.pictures import graph_svg
from builder.release.reader import every_shard, rows
from grader.errors import UsageError

Row = Mapping[str, Any]

_STYLE: Final = (
    "body{font:17px/1.6 Georgia,serif;max-width:82em;margin:2em auto;padding:0 1.5em;color:#222;"
    "background:#fdfcf9}section{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);"
    "gap:1em 3em;align-items:start;border-top:1px solid #ccc;padding:1.2em 0}h1{font-size:1.5em}"
    "h2{grid-column:1/-1;margin:0;font-size:1.1em}h2 small{font:13px sans-serif;color:#666;"
    "margin-left:1em}p{margin:.2em 0 .8em}svg{max-width:100%;height:auto}mark{background:none;"
    "font-weight:bold}ol{font:13px/1.5 sans-serif;color:#444;padding-left:1.6em}"
    "@media(max-width:60em){section{grid-template-columns:1fr}}"
)


def reading_page(release: Path, number: int) -> str:
    """An HTML page with ``number`` scenes of a release, of as many structures as there are.

    Raises ``UsageError`` when the release holds no worlds.
    """
    worlds = _worlds(release)
    chosen = _choose(worlds, number)
    sections = [_section(place, world) for place, world in enumerate(chosen, 1)]
    title = f"{len(chosen)} of {len(worlds)} stories of {release.name}"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1><p>Names are set in bold here only. Blue: treatment. Orange: "
        "outcome. Dashed: never measured. Below each graph, the mechanisms that may be told.</p>"
        f"{''.join(sections)}</body></html>\n"
    )


def _worlds(release: Path) -> list[dict[str, Any]]:
    """Every world of the release with its story, by id."""
    stories = {
        row["instance_id"]: row["story"]
        for paths in every_shard(release, "causalds_scenes").values()
        for row in rows(paths, ("instance_id", "story"))
    }
    found = [
        {**row, "story": stories[row["instance_id"]]}
        for paths in every_shard(release, "causalds_worlds").values()
        for row in rows(paths, ("instance_id", "structure", "motif", "world_json"))
    ]
    if not found:
        raise UsageError(
            f"{release}: holds no causalds_worlds; name a release with public truth, or one with "
            "its private side"
        )
    return sorted(found, key=lambda world: str(world["instance_id"]))


def _choose(worlds: Sequence[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """One scene of each structure in turn, until there are enough."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for world in worlds:
        groups[world["structure"], world["motif"]].append(world)
    chosen: list[dict[str, Any]] = []
    while len(chosen) < min(number, len(worlds)):
        for key in sorted(groups):
            if groups[key] and len(chosen) < number:
                chosen.append(groups[key].pop(0))
    return chosen


def _section(place: int, world: Row) -> str:
    record = json.loads(world["world_json"])
    names = sorted((v["name"] for v in record["variables"].values()), key=len, reverse=True)
    told = world["motif"] + ("" if world["motif"] == world["structure"] else
                             f", {world['structure']}")  # fmt: skip
    place_told = record["plan"].get("domain") or record["plan"].get("words", "")
    clauses = "".join(
        f"<li>{escape(a)} → {escape(b)}: {escape(clause)}</li>" for a, b, clause in record["hows"]
    )
    return (
        f"<section><h2>{place}. {escape(told)}<small>{escape(str(world['instance_id']))} · "
        f"{escape(str(place_told))}</small></h2><div>{_paragraphs(world['story'], names)}</div>"
        f"<div>{graph_svg(record)}<ol>{clauses}</ol></div></section>"
    )


def _paragraphs(story: str, names: Sequence[str]) -> str:
    """The story with every name in bold; longer names first, so that none is marked twice."""
    text = escape(story)
    for number, name in enumerate(names):
        if len(name) > 1:
            text = text.replace(escape(name), f"\0{number}\0")
    for number, name in enumerate(names):
        text = text.replace(f"\0{number}\0", f"<mark>{escape(name)}</mark>")
    return "".join(f"<p>{part}</p>" for part in text.split("\n\n"))

"""Stories beside their graphs, for a person to judge: ``build_dataset.py read RELEASE``."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from builder.causalds.show.inspection import no_worlds
from builder.causalds.show.pictures import graph_picture
from builder.release.reader import every_shard, rows
from grader.draw import page as draw
from grader.draw.page import Beside, Block, Paragraph, Section, Strong
from grader.draw.table import Cell, Table

Row = Mapping[str, Any]

_STYLE: Final = "main { max-width:1500px }"


def stories_page(release: Path, number: int) -> str:
    """An HTML page with ``number`` scenes of a release, of as many structures as there are.

    Raises ``UsageError`` when the release holds no worlds.
    """
    worlds = _worlds(release)
    chosen = _choose(worlds, number)
    title = f"{len(chosen)} of {len(worlds)} stories of {release.name}"
    note = (
        "Names are set in bold here only. Blue: treatment. Orange: outcome. Dashed: never "
        "measured. Below each graph, the mechanisms that may be told."
    )
    sections = [_section(place, world) for place, world in enumerate(chosen, 1)]
    return draw.page(title, note, sections, f"Drawn from {release.name}.", _STYLE)


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
        raise no_worlds(release)
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


def _section(place: int, world: Row) -> Section:
    record = json.loads(world["world_json"])
    names = [variable["name"] for variable in record["variables"].values()]
    structure = "" if world["motif"] == world["structure"] else f", {world['structure']}"
    domain = record["plan"].get("domain") or record["plan"].get("words", "")
    return Section(
        f"{place}. {world['motif']}{structure} · {world['instance_id']} · {domain}",
        [
            Beside(
                [_paragraphs(world["story"], names), [graph_picture(record), _mechanisms(record)]]
            )
        ],
    )


def _mechanisms(record: Mapping[str, Any]) -> Block:
    """The mechanism of each effect."""
    rows = [[cause, effect, Cell(told, "long")] for cause, effect, told in record["hows"]]
    return Table("", ["cause", "effect", "mechanism"], rows, left=3)


def _paragraphs(story: str, names: Sequence[str]) -> list[Paragraph]:
    """The story with every name in bold; longer names first, so that none is marked twice."""
    marked = sorted((name for name in names if len(name) > 1), key=len, reverse=True)
    pattern = re.compile(f"({'|'.join(map(re.escape, marked))})")
    return [
        Paragraph([Strong(s) if k % 2 else s for k, s in enumerate(pattern.split(part))])
        for part in story.split("\n\n")
    ]

"""What the generation of a release came to: ``build_dataset.py inspect RELEASE``, as Markdown.

Of every split and track: what was requested beside what came out, why attempts were rejected, and
the track's own report, which stands beside the tables of its paper.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builder.gate.tables import split_tables
from builder.release.manifest import read_manifest
from builder.release.reader import SIDES
from builder.texts import markdown_table
from builder.tracks import TRACKS
from grader.errors import UsageError


def generation_report(release: Path) -> Iterator[str]:
    """The parts of the report; of a private-truth split only with its private side."""
    manifests = [read_manifest(release / side) for side in SIDES if (release / side).is_dir()]
    told = {split: entry for manifest in manifests for split, entry in manifest["splits"].items()}
    for split, entry in told.items():
        for track, counts in entry.get("tracks", {}).items():
            yield f"# {split}: {track}"
            yield from _composition(counts)
            report = TRACKS[track].report
            if report is None:
                continue
            try:
                table = split_tables(release, track, split)
            except UsageError as error:
                yield f"{error}"
                continue
            worlds = [json.loads(row["world_json"]) for row in table.worlds.values()]
            truths = {task: json.loads(row["target_json"]) for task, row in table.truth.items()}
            yield from report(worlds, truths)


def _composition(counts: dict[str, Any]) -> Iterator[str]:
    """What the manifest says of a track in a split."""
    realised = counts["realised"]
    rejected = ", ".join(f"{why} {n}" for why, n in counts.get("rejections", {}).items())
    yield (
        f"{realised['instances']} instances, {realised['tasks']} tasks; rejected attempts: "
        f"{rejected or 'none told'}"
    )
    rows = [
        [axis, level, f"{row['requested']:g}", f"{row['realised']:g}"]
        for axis, levels in counts.get("composition", {}).items()
        for level, row in levels.items()
    ]
    if rows:
        yield markdown_table("Composition", ("axis", "level", "requested", "realised"), rows)

"""Show how a release was generated; of one scene its graph, equations, truths and tables.

examples:
  python build_dataset.py inspect release
  python build_dataset.py inspect release dev/0
  python build_dataset.py inspect release scene-0123456789abcdef --out scene.html
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from builder.commands.common import OK, add, composition_table
from builder.release.attempts import list_counts
from builder.release.manifest import read_manifest
from builder.release.reader import SIDES, naming_damage, public_side, split_tables
from builder.tracks import TRACKS
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.paths import path_inside
from grader.io.printing import print_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``inspect``."""
    add(parser, "release")
    parser.add_argument("scene", nargs="?", metavar="SCENE", help="the scene's id, or split/index")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the scene's page (default: <scene id>.html)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the generation report of the release, or write the page of one scene."""
    public_side(arguments.release)
    if arguments.scene is None:
        print_lines(*"\n\n".join(_generation_report(arguments.release)).splitlines())
        return OK
    pages = ((track.name, track.scene_page) for track in TRACKS.values())
    name, draw = next((name, page) for name, page in pages if page is not None)
    with naming_damage(arguments.release, name):
        page, summary = draw(arguments.release, arguments.scene)
    file = arguments.out or path_inside(Path(), summary.splitlines()[0], ".html")
    write_text(file, page)
    print_lines(*summary.splitlines(), f"page: {file}")
    return OK


def _generation_report(release: Path) -> Iterator[str]:
    """Yield the report of every split and track in Markdown: requested and realised counts,
    rejections, and the track's own report, or why its worlds cannot be read."""
    manifests = [read_manifest(release / side) for side in SIDES if (release / side).is_dir()]
    splits = {name: entry for manifest in manifests for name, entry in manifest["splits"].items()}
    for split, entry in splits.items():
        for track, counts in entry.get("tracks", {}).items():
            yield f"# {split}: {track}"
            realised, rejections = counts["realised"], list_counts(counts.get("rejections", {}))
            yield (
                f"{realised['instances']} instances, {realised['tasks']} tasks; rejected attempts: "
                f"{rejections or 'none told'}"
            )
            if composition := counts.get("composition"):
                yield composition_table("Composition", composition)
            report = TRACKS[track].report
            if report is None:
                continue
            try:
                table = split_tables(release, track, split)
            except UsageError as error:
                yield f"{error}"
                continue
            with naming_damage(f"{release}: split {split}", track):
                worlds = [json.loads(row["world_json"]) for row in table.worlds.values()]
                truths = {task: json.loads(row["target_json"]) for task, row in table.truth.items()}
                yield from report(worlds, truths)

"""``build_dataset.py inspect`` and ``new-variant``."""

import argparse
from pathlib import Path
from typing import Final

from builder.cli.command import OK, Command, add_release, need_release, write_page


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    add_release(parser)
    parser.add_argument("scene", metavar="SCENE", help="its id, or split/index")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the page to write (default: <scene id>.html)"
    )


def _inspect(options: argparse.Namespace) -> int:
    need_release(options.release)
    from builder.causalds.show.inspection import inspect_scene

    page, summary = inspect_scene(options.release, options.scene)
    file = options.out or Path(f"{summary.splitlines()[0]}.html")
    write_page(file, page, summary)
    return OK


def _add_new_variant(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="FAMILY.NAME", help="its key, in a family that there is")
    parser.add_argument("--shape", required=True, metavar="SHAPE", help="the shape of its answers")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("new-variant"),
        metavar="DIR",
        help="an empty folder for the pieces (default: new-variant)",
    )


def _new_variant(options: argparse.Namespace) -> int:
    from builder.causalds.show.scaffold import write_scaffold

    for file, place in write_scaffold(options.key, options.shape, options.out):
        print(f"{file}  →  {place}")
    print("fill each in at its place (docs/adding-a-variant.md); the tests name what is absent")
    return OK


INSPECT: Final = Command(
    "inspect",
    "look at one scene of causalds: graph, equations, truths, tables, measurements",
    ("inspect release dev/0", "inspect release scene-0123456789abcdef --out scene.html"),
    _add_inspect,
    _inspect,
)
NEW_VARIANT: Final = Command(
    "new-variant",
    "begin a question of causalds: the pieces of every file that it needs, each with its place",
    ("new-variant effect_estimate.ate_rank --shape ate_sign",),
    _add_new_variant,
    _new_variant,
)

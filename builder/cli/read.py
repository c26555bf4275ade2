"""``build_dataset.py read``: a page of stories beside their graphs."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from grader.errors import UsageError

MOST: Final = 1000
"""Most stories of one page."""


def add_read(commands: Any, add: Callable[..., argparse.ArgumentParser]) -> None:
    """Adds the command; ``add`` is the helper that all commands are added with."""
    read = add(
        commands,
        "read",
        _read,
        "a page of causalds stories beside their graphs, for a person to judge",
        "read release --n 12",
        "read release --n 30 --out stories.html",
    )
    read.add_argument("release", type=Path, metavar="RELEASE", help="a release folder")
    read.add_argument(
        "--n", type=int, default=12, metavar="N", help="how many stories (default: 12)"
    )
    read.add_argument(
        "--out",
        type=Path,
        default=Path("stories.html"),
        metavar="FILE",
        help="the page to write (default: stories.html)",
    )


def _read(options: argparse.Namespace) -> int:
    if not 1 <= options.n <= MOST:
        raise UsageError(f"--n {options.n}: must be a number of stories from 1 to {MOST}")
    if not (options.release / "public" / "manifest.json").is_file():
        raise UsageError(
            f"{options.release}: no release there (public/manifest.json is absent); name the "
            "folder that `build --out` wrote"
        )
    from builder.causalds.show.reading import reading_page

    page = reading_page(options.release, options.n)
    try:
        options.out.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{options.out}: cannot be written ({error.strerror or error})") from None
    print(f"page: {options.out}")
    return 0

"""``build_dataset.py new-domain``: where something of one's own begins."""

import argparse
import re
from pathlib import Path
from typing import Final

from builder.cli.command import OK, Command
from builder.words.knowledge import FOLDER
from grader.errors import UsageError

TEMPLATE: Final = Path(__file__).parent.parent / "words" / "new_domain.toml"
_KEY: Final = re.compile(r"[a-z][a-z0-9_]{2,39}")


def _add_new_domain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help="its key, such as tea_garden")
    parser.add_argument(
        "--out", type=Path, default=Path("domains"), metavar="DIR", help="default: domains"
    )


def _new_domain(options: argparse.Namespace) -> int:
    if not _KEY.fullmatch(options.key):
        raise UsageError(f"{options.key}: no key; use lower-case letters, digits and _, from 3 on")
    file = options.out / f"{options.key}.toml"
    if file.exists():
        raise UsageError(f"{file}: is there already; choose another key or --out")
    if (FOLDER / file.name).exists():
        print(f"note: {options.key} will stand in place of our domain of this key")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        file.write_text(TEMPLATE.read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: cannot be written ({error.strerror or error})") from None
    print(f"{file}: fill it in (docs/words.md says what each field means), then")
    print(f"  python -m builder.words.lint {file}")
    print(f"  python build_dataset.py build my.toml --domains {options.out}")
    return OK


NEW_DOMAIN: Final = Command(
    "new-domain",
    "begin a story domain of your own: a file to fill in",
    ("new-domain tea_garden --out my-domains",),
    _add_new_domain,
    _new_domain,
)

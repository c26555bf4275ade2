"""Begin a story domain of your own, as a file to fill in; or check such files.

examples:
  python build_dataset.py new-domain tea_garden --out my-domains
  python build_dataset.py new-domain my-domains/tea_garden.toml
"""

import argparse
import re
from pathlib import Path
from typing import Final

from builder.commands.common import FAILED, OK
from builder.commands.main import PROGRAM
from builder.stories.knowledge import FOLDER
from builder.stories.lint import lint_files
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.printing import plural, print_lines

TEMPLATE: Final = FOLDER.parent / "new_domain.toml"
_KEY: Final = re.compile(r"[a-z][a-z0-9_]{2,39}")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``new-domain``."""
    parser.add_argument(
        "what",
        nargs="+",
        metavar="KEY",
        help="a new key, such as tea_garden; or files to check",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("domains"), metavar="DIR", help="default: domains"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write a new domain's file or, given TOML files, check them and return 1 for problems."""
    if all(name.endswith(".toml") for name in arguments.what):
        problems = lint_files([Path(name) for name in arguments.what])
        domains = plural(len(arguments.what), "domain")
        print_lines(*problems, f"{domains}, {plural(len(problems), 'problem')}")
        return FAILED if problems else OK
    key = arguments.what[0]
    if len(arguments.what) > 1 or not _KEY.fullmatch(key):
        raise UsageError(f"{key}: not a key; use at least 3 lower-case letters, digits or _")
    file = arguments.out / f"{key}.toml"
    if file.exists():
        raise UsageError(f"{file}: exists already; choose another key or --out")
    if (FOLDER / file.name).exists():
        print_lines(f"note: {key} will stand in place of our domain of this key")
    write_text(file, TEMPLATE.read_text(encoding="utf-8"))
    print_lines(f"{file}: fill it in (docs/words.md says what each field means), then")
    print_lines(f"  {PROGRAM} new-domain {file}   (says what is still missing)")
    print_lines(f"  {PROGRAM} build my.toml --domains {arguments.out}")
    return OK

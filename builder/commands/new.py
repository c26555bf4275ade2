"""``build_dataset.py new-secret``, ``new-domain`` and ``new-variant``: where something begins."""

import argparse
import re
import secrets
from pathlib import Path
from typing import Final

from builder.commands.command import FAILED, OK, PROGRAM, Command
from builder.stories.knowledge import FOLDER
from grader.errors import UsageError

SECRET_BYTES: Final = 32
TEMPLATE: Final = Path(__file__).parent.parent / "stories" / "new_domain.toml"
_KEY: Final = re.compile(r"[a-z][a-z0-9_]{2,39}")


def _new_secret(_: argparse.Namespace) -> int:
    print(secrets.token_hex(SECRET_BYTES))
    return OK


def _add_new_domain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", nargs="+", metavar="KEY", help="its key, such as tea_garden; or files to check"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("domains"), metavar="DIR", help="default: domains"
    )


def _new_domain(options: argparse.Namespace) -> int:
    if all(name.endswith(".toml") for name in options.what):
        from builder.stories.lint import lint_files

        problems = lint_files([Path(name) for name in options.what])
        print(*problems, f"{len(options.what)} domains, {len(problems)} problems", sep="\n")
        return FAILED if problems else OK
    key = options.what[0]
    if len(options.what) > 1 or not _KEY.fullmatch(key):
        raise UsageError(f"{key}: no key; use lower-case letters, digits and _, from 3 on")
    file = options.out / f"{key}.toml"
    if file.exists():
        raise UsageError(f"{file}: is there already; choose another key or --out")
    if (FOLDER / file.name).exists():
        print(f"note: {key} will stand in place of our domain of this key")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        file.write_text(TEMPLATE.read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: cannot be written ({error.strerror or error})") from None
    print(f"{file}: fill it in (docs/words.md says what each field means), then")
    print(f"  {PROGRAM} new-domain {file}   (says what is still missing)")
    print(f"  {PROGRAM} build my.toml --domains {options.out}")
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
    from builder.tracks import TRACKS

    write = next(track.new_variant for track in TRACKS.values() if track.new_variant is not None)
    for file, place in write(options.key, options.shape, options.out):
        print(f"{file}  →  {place}")
    print("fill each in at its place (docs/adding-a-variant.md); the tests name what is absent")
    return OK


NEW_SECRET: Final = Command(
    "new-secret",
    "print a new secret of 256 random bits",
    (
        "new-secret > ~/.causal-exams-secret && chmod 600 ~/.causal-exams-secret",
        "new-secret    # then: export CAUSAL_EXAMS_SECRET=...",
    ),
    lambda parser: None,
    _new_secret,
)
NEW_DOMAIN: Final = Command(
    "new-domain",
    "begin a story domain of your own, a file to fill in; or check such files",
    ("new-domain tea_garden --out my-domains", "new-domain my-domains/tea_garden.toml"),
    _add_new_domain,
    _new_domain,
)
NEW_VARIANT: Final = Command(
    "new-variant",
    "begin a question on scenes: the pieces of every file that it needs, each with its place",
    ("new-variant effect_estimate.ate_rank --shape ate_sign",),
    _add_new_variant,
    _new_variant,
)

"""Print the answer schema of a variant, or list the variants.

examples:
  python -m grader schema                              list all variants
  python -m grader schema effect_estimate.ate_uq_95    by family.variant
  python -m grader schema ate_uq_95                    by name, if only one family has it
"""

import argparse

from grader.errors import UsageError
from grader.io.jsonio import pretty_json
from grader.io.names import did_you_mean
from grader.io.printing import print_lines
from grader.io.schemas import schema
from grader.tracks import TRACKS


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``schema``."""
    parser.add_argument("variant", nargs="?", help="family.variant, or a variant's name")


def run(arguments: argparse.Namespace) -> int:
    """Print one schema as JSON, or the table of variants."""
    variants = [spec for track in TRACKS.values() for spec in track.variants]
    if arguments.variant is None:
        for spec in variants:
            print_lines(f"{spec.track}  rung {spec.rung}  {spec.key}  ({spec.shape.name})")
        return 0
    named = [spec for spec in variants if arguments.variant in (spec.key, spec.name)]
    if not named:
        known = [key for spec in variants for key in (spec.key, spec.name)]
        near = did_you_mean(arguments.variant, known)
        raise UsageError(f"{arguments.variant}: no such variant{near}")
    if len({spec.shape.name for spec in named}) > 1:
        keys = ", ".join(spec.key for spec in named)
        raise UsageError(f"{arguments.variant}: several variants; choose one of {keys}")
    print_lines(*pretty_json(schema(f"answers/{named[0].shape.name}")).splitlines())
    return 0

"""Fetch a release from the Hub, check it, and say where it is. Afterwards no network is needed.

Wherever a release is asked for, its address does as well: --release hf://org/name@v1 fetches what
is not here yet. Private and gated repositories need a token (HF_TOKEN, or `hf auth login`).

examples:
  causal-exams fetch org/exams@v1
  causal-exams answers/ --release hf://org/exams@v1
"""

import argparse

from grader.io.printing import print_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``fetch``."""
    parser.add_argument("address", help="org/name@revision on the Hub, with or without hf://")


def run(arguments: argparse.Namespace) -> int:
    """Fetch, and print the folder."""
    from grader.hub.client import Address, fetch
    from grader.release.side import Side

    address = Address.parse(arguments.address)
    folder = fetch(address)
    manifest = Side.open(folder).manifest
    size = sum(entry["bytes"] for entry in manifest["shards"].values())
    print_lines(
        f"{address}: {manifest['release']} {manifest['version']}, "
        f"{len(manifest['shards'])} files, {size / 1e6:.1f} MB, as its manifest says",
        str(folder),
    )
    return 0

"""Run the gate over a finished release and print its record.

examples:
  python build_dataset.py check release
"""

import argparse

from builder.build import check_release
from builder.commands.common import FAILED, OK, add, use_domains
from builder.release.manifest import built_manifest
from builder.release.progress import Reporter
from grader.io.printing import print_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``check``."""
    add(parser, "release", "--domains", "--workers", "--quiet")


def run(arguments: argparse.Namespace) -> int:
    """Check the release; the exit code is 1 where the gate refuses it."""
    use_domains(arguments.domains)
    built_manifest(arguments.release)
    with Reporter(arguments.quiet).working() as tell:
        report = check_release(arguments.release, tell, arguments.workers)
    print_lines(*report.markdown.splitlines())
    return OK if report.ok else FAILED

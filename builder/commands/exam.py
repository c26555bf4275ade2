"""Draw another exam from a release that is built, and run the gate over it again.

examples:
  python build_dataset.py exam --from release --exam splits/exams/realistic.toml
  python build_dataset.py exam --from release --exam my-exam.toml --name hard-2 --seed again
"""

import argparse
import shlex
from pathlib import Path

from builder.build import check_release
from builder.commands.common import FAILED, OK, add, composition_table
from builder.release.extra_exam import draw_extra_exam
from builder.release.progress import Reporter
from builder.release.workspace import GATE_FILE
from builder.tracks import TRACKS
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.printing import print_lines
from grader.pages.terminal import console


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``exam``."""
    parser.add_argument(
        "--from",
        dest="release",
        type=Path,
        required=True,
        metavar="RELEASE",
        help="its folder",
    )
    parser.add_argument("--exam", type=Path, required=True, metavar="TOML", help="the exam file")
    parser.add_argument("--split", metavar="NAME", help="default: the only one with public truth")
    parser.add_argument("--name", metavar="NAME", help="default: the exam file's name")
    parser.add_argument("--seed", metavar="TEXT", help="default: the split's own seed")
    add(parser, "--workers", "--quiet")


def run(arguments: argparse.Namespace) -> int:
    """Add the exam, print its composition, write the gate's record; 1 where that refuses it. Of a
    public side alone no gate is run."""
    release = arguments.release
    added, exam = draw_extra_exam(
        release,
        TRACKS,
        arguments.exam,
        split=arguments.split,
        name=arguments.name,
        seed=arguments.seed,
    )
    out = console(soft_wrap=True)
    out.print(composition_table(f"exam {added}: composition", exam.composition))
    folder, name = shlex.quote(str(release)), shlex.quote(added)
    out.print(f"{release}: exam {added} has {len(exam.task_ids)} tasks")
    out.print(f"next: python -m grader workspace --release {folder} --exam {name} --out tasks")
    reporter = Reporter(arguments.quiet)
    try:
        report = check_release(release, reporter.note, arguments.workers)
    except UsageError as error:  # a public side alone, as it is downloaded
        reporter.warn(f"without a {GATE_FILE}: {error}")
        return OK
    write_text(release / GATE_FILE, report.markdown)
    if report.ok:
        return OK
    print_lines(
        f"the gate refuses the release with exam {added} in it: see {release / GATE_FILE}",
        to_stderr=True,
    )
    return FAILED

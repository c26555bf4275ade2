"""Who submitted how often to a private exam, and what they can have learnt of its truth.

Bits count the ways in which the submissions could have been answered; the climb is by how many
points of the whole exam that much can have helped a client without knowledge, in expectation. In
the final ranking (`leaderboard --final`) it helps by none: of its tasks nothing was said.

examples:
  python -m grader ledger --release public --private /safe/private
"""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``ledger``."""
    from grader.commands.common import EXAM, add

    add(parser, *EXAM, "--ledger")


def run(arguments: argparse.Namespace) -> int:
    """Print one line per team."""
    from pathlib import Path

    from grader.commands.common import open_split
    from grader.draw.table import Table, figure, in_terminal, word
    from grader.draw.words import number, points
    from grader.errors import UsageError
    from grader.ledger import Ledger, default_path, ladder_of
    from grader.pipeline import grade
    from grader.show.terminal import console
    from grader.submission.submission import Submission

    exam = open_split(arguments).choose_exam_for()
    if not exam.keeps_ledger:
        raise UsageError(f"--split {exam.split.name}: its truth is public; there is no ledger")
    ladder = ladder_of(grade(exam, Submission(Path("nobody")), slice_intervals=False))
    ledger = Ledger(arguments.ledger or default_path(exam), exam)
    columns = (
        word("team"),
        word("submissions"),
        word("figures"),
        figure("points", "points shown", points),
        figure("bits", "bits at most", lambda bits: number(bits, 1)),
        figure("climb", "climb at most", points),
    )
    note = f"A figure comes in steps of {ladder.step:g} points, about half of the instances."
    if ledger.is_closed:
        note += " The final ranking was made: no new figure is shown."
    table = Table.of(f"Ledger of {exam.name}", columns, ledger.teams(ladder), note=note)
    console().print(in_terminal(table))
    return 0

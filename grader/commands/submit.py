"""Hand a folder of answers in: packed, validated, and sent to the maintainer's dataset.

The answers go as a pull request of your account, which names the team. What the maintainer's
`evaluate` says comes back as a comment. Settings of the run (run.json) travel along; --setting says
what the system had at hand: closed (the prompt alone), open (tools), or mixed.

examples:
  causal-exams submit answers/ --release hf://org/exams@v1 --to org/submissions
  causal-exams submit answers/ --split test --to org/submissions --name "My system 1.0"
"""

import argparse
import tempfile
from pathlib import Path

from grader.commands.common import PUBLIC_EXAM, add, add_limits, read_answers
from grader.commands.pack import print_packed
from grader.errors import UsageError
from grader.io.printing import print_lines
from grader.pages.systems import SETTINGS


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``submit``."""
    parser.add_argument("answers", type=Path, help="folder of answers")
    parser.add_argument(
        "--to", required=True, metavar="ORG/NAME", help="the dataset of submissions on the Hub"
    )
    parser.add_argument("--name", help="the system's name (default: that of run.json)")
    parser.add_argument("--setting", choices=SETTINGS, help="default: that of run.json, if any")
    add(parser, *PUBLIC_EXAM)
    add_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    """Pack, validate, send, and say where it is."""
    from grader.answers.parquet_answers import pack, system_name
    from grader.hub.client import Address, connect
    from grader.hub.submissions import hand_in
    from grader.pipeline import check_submission

    repo = Address.parse(arguments.to, "--to").repo
    api = connect()
    exam, found = read_answers(arguments)
    name = arguments.name if arguments.name is not None else found.run.get("system")
    if arguments.setting is not None:
        found.run = {**found.run, "setting": arguments.setting}
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / "submission.parquet"
        checked, _ = check_submission(exam, found)
        pack(packed, exam, found, system_name(name))
        print_packed(str(arguments.answers), exam, checked)
        if all(answer.status != "scored" for answer in checked.values()):
            raise UsageError(f"{arguments.answers}: no valid answer in it, so nothing was sent")
        identity, place, before = hand_in(api, packed, repo)
    print_lines(f"{identity} {'was handed in before' if before else 'is handed in'}: {place}")
    return 0

"""State a report's skills in a model repository, as the Hub's leaderboards gather them.

Writes the YAML of `.eval_results`, with the ids of the release's eval.yaml, and says how to propose
it to the model repository.

examples:
  causal-exams results report.json --model org/model --release hf://org/exams@v1
"""

import argparse
import json
import shlex
from pathlib import Path

from grader.errors import UsageError
from grader.io.printing import plural, print_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``results``."""
    parser.add_argument("report", type=Path, help="what `grade --json` wrote")
    parser.add_argument("--model", required=True, metavar="ORG/NAME", help="the model repository")
    parser.add_argument(
        "--release",
        type=Path,
        metavar="ADDRESS",
        help="address of the release on the Hub (default: $CAUSAL_EXAMS_RELEASE)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="default: .eval_results in a folder of the model"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the file, and print the command that proposes it."""
    from grader.hub.client import Address, fetch
    from grader.hub.eval_results import FOLDER, eval_results, file_name
    from grader.io.files import write_text
    from grader.io.paths import path_inside
    from grader.io.schemas import first_problem
    from grader.opening import address_of, open_release, release_path

    model = Address.parse(arguments.model, "--model").repo
    address = address_of(release_path(arguments.release))
    if address is None:
        raise UsageError("--release: give the release's address on the Hub, hf://org/name@revision")
    path = arguments.report
    try:
        report = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: is not JSON; give what `grade --json` wrote") from None
    if (problem := first_problem("report", report)) is not None:
        raise UsageError(f"{path}: is not a report, {problem}; give what `grade --json` wrote")
    text = eval_results(report, address, open_release(fetch(address)))
    folder = arguments.out or Path(model.partition("/")[2]) / FOLDER
    file = path_inside(folder, file_name(report))
    write_text(file, text)
    proposal = ("hf", "upload", model, str(file), f"{FOLDER}/{file.name}", "--create-pr")
    print_lines(
        f"{file}: {plural(text.count('task_id:'), 'figure')} for {model}; propose it with",
        shlex.join(proposal),
    )
    return 0

"""State a report's skills in a model repository, as the Hub's leaderboards gather them.

Writes the YAML of `.eval_results`, with the ids of the release's eval.yaml; --publish proposes it
to the model repository as a pull request.

examples:
  causal-exams results report.json --model org/model --release hf://org/exams@v1
  causal-exams results report.json --model org/model --release hf://org/exams@v1 --publish
"""

import argparse
import json
from pathlib import Path
from typing import Any

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
    parser.add_argument("--source", metavar="URL", help="where traces or a paper can be read")
    parser.add_argument("--publish", action="store_true", help="propose it to the model repository")


def run(arguments: argparse.Namespace) -> int:
    """Write the file, and propose it where that is asked for."""
    from grader.hub.client import Address, connect
    from grader.hub.eval_results import FOLDER, eval_results, file_name, propose
    from grader.hub.fetch import fetch
    from grader.io.files import write_text
    from grader.io.paths import path_inside
    from grader.opening import address_of, open_release, release_path

    model = Address.parse(arguments.model, "--model").repo
    address = address_of(release_path(arguments.release))
    if address is None:
        raise UsageError("--release: give the release's address on the Hub, hf://org/name@revision")
    report = _read(arguments.report)
    text = eval_results(report, address, open_release(fetch(address)), arguments.source)
    folder = arguments.out or Path(model.partition("/")[2]) / FOLDER
    file = path_inside(folder, file_name(report))
    write_text(file, text)
    print_lines(f"{file}: {plural(text.count('task_id:'), 'figure')} for {model}")
    if arguments.publish:
        print_lines(propose(connect(), model, file.name, text))
    return 0


def _read(path: Path) -> dict[str, Any]:
    """Read ``report.json``; raises ``UsageError`` for anything that does not fit its schema."""
    from grader.io.schemas import first_problem

    try:
        report = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: is not JSON; give what `grade --json` wrote") from None
    problem = first_problem("report", report)
    if problem is not None:
        raise UsageError(f"{path}: is not a report, {problem}; give what `grade --json` wrote")
    return dict(report)

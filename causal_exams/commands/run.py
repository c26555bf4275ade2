"""Sit an exam with a model, by Inspect: one command, a sandbox, the whole record.

examples:
  causal-exams run release --model mockllm/model --setting closed --out runs/mock
  causal-exams run release --model openai-api/local/qwen \\
      --model-base-url http://localhost:8000/v1 --preset paper --out runs/qwen
  causal-exams run release --model openai/gpt-5.5 --preset paper --limit 10 \\
      --sandbox bubblewrap -M service_tier=flex -G top_k=20 --out runs/try

Options named like those of `inspect eval` mean the same; -M are arguments of the model, -G further
options of its generation, such as -G cache=true or -G batch=true. The same command goes on with a
run that was interrupted: attempts already taken are not asked again. runs/NAME then holds
Inspect's logs, answers/, run.json, usage.jsonl, report.json and report.html; `inspect view` shows
conversations.

exit codes: 0 the run is complete; 1 tasks are left, because the model could not be reached or
something else that is no fault of the model's; 2 unusable input
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

from causal_exams.laboratory.session import MAX_SUBMISSION
from causal_exams.protocols import OPEN, SETTINGS
from causal_exams.tracks import PAPER, PRESETS
from causal_exams.words import OUTPUT
from grader.errors import UsageError
from grader.opening import local_folder

CONFIG = {
    "temperature": float, "max_tokens": int, "reasoning_effort": str, "max_retries": int,
    "attempt_timeout": int, "max_connections": int,
}  # fmt: skip
"""Options of generation, with their types; -G takes all others."""
LIMITS = {
    "time_limit": int, "working_limit": int, "message_limit": int, "token_limit": str,
    "cost_limit": float,
}  # fmt: skip
"""Limits of one task."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``run``."""
    presets = [name for of_track in PRESETS.values() for name in of_track]
    add = parser.add_argument
    add("release", type=Path, help="release folder, or its address on the Hub")
    add("--model", required=True, metavar="NAME", help="as Inspect names it: openai-api/host/model")
    add("--out", type=Path, required=True, metavar="DIR", help="the run's folder, runs/NAME")
    what = parser.add_argument_group("what is asked")
    what.add_argument("--exam", metavar="NAME", help="exam (default: the only one)")
    what.add_argument("--split", metavar="NAME", help="split (default: the only one)")
    what.add_argument("--private", type=Path, metavar="DIR", help="private side of the release")
    what.add_argument("--track", metavar="NAME", help="this track only")
    what.add_argument("--limit", type=int, metavar="N", help="the first N tasks of each track")
    what.add_argument("--sample-id", metavar="ID,…", help="these tasks only")
    what.add_argument("--epochs", type=int, metavar="K", help="attempts at each task")
    how = parser.add_argument_group("how it is sat")
    how.add_argument(
        "--setting", choices=tuple(SETTINGS), default=OPEN, help="default: %(default)s"
    )
    how.add_argument(
        "--preset",
        choices=(PAPER, *presets),
        metavar="NAME",
        help=f"a paper's protocol: {', '.join(presets)}; or {PAPER}, each track's own",
    )
    how.add_argument(
        "--sandbox",
        default="docker",
        metavar="NAME",
        help="docker, bubblewrap, local (no isolation), or any of Inspect's, as NAME:CONFIG",
    )
    how.add_argument(
        "--output-budget",
        type=int,
        default=OUTPUT,
        metavar="N",
        help="characters of one command's output that the model is shown (default: %(default)s; "
        "CausalDS A.15 also has 1000 and 3200)",
    )
    parser.add_argument("--max-sandboxes", type=int, metavar="N")
    parser.add_argument("--system", metavar="NAME", help="name on boards (default: the model)")
    _add_model_options(parser)


def _add_model_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the model, of its generation, and the limits of one task."""
    model = parser.add_argument_group("the model")
    model.add_argument("--model-base-url", metavar="URL")
    extractor = "such as extractor=…, which reads yes and no from replies (CCR G.1)"
    for option, name, metavar, text in (
        ("-M", "model_args", "NAME=VALUE", None),
        ("-G", "generate", "NAME=VALUE", None),
        ("--model-role", "model_roles", "ROLE=MODEL", extractor),
    ):
        model.add_argument(
            option, dest=name, action="append", default=[], metavar=metavar, help=text
        )
    limits = parser.add_argument_group("limits of one task")
    parser.set_defaults(max_connections=8, max_retries=6, attempt_timeout=1800)
    for group, options in ((model, CONFIG), (limits, LIMITS)):
        for name, kind in options.items():
            option, metavar = "--" + name.replace("_", "-"), kind.__name__.upper()
            group.add_argument(option, type=kind, metavar=metavar)
    limits.add_argument("--model-cost-config", metavar="FILE", help="prices, for --cost-limit")


def pairs(words: list[str], option: str) -> dict[str, Any]:
    """Return ``NAME=VALUE`` words as a mapping; hyphens in names become underscores.

    A value is read as JSON where it can be, else it is text. ``option`` is named in the
    ``UsageError`` for a word of another form.
    """
    found: dict[str, Any] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise UsageError(f"{option} {word}: write NAME=VALUE")
        try:
            found[name.replace("-", "_")] = json.loads(value)
        except ValueError:
            found[name.replace("-", "_")] = value
    return found


def run(arguments: argparse.Namespace) -> int:
    """Sit the exam; return 0 for a complete run, 1 where tasks are left."""
    if arguments.output_budget < 100:
        raise UsageError(f"--output-budget {arguments.output_budget}: at least 100 characters")
    try:
        from inspect_ai import model
    except ImportError:
        raise UsageError("Inspect is not installed; pip install 'causal-exams[run]'") from None
    from causal_exams.running import one_line, sit
    from causal_exams.tasks import Sitting

    given, out = vars(arguments), arguments.out.absolute()
    stated = {name: value for name, value in given.items() if value is not None}
    config = {name: stated[name] for name in CONFIG if name in stated}
    config |= pairs(arguments.generate, "-G")
    try:
        model.GenerateConfig(**config)
    except ValueError as error:  # pydantic's
        raise UsageError(f"-G: {one_line(error)}") from None
    counts = ("limit", "epochs", "max_sandboxes")
    options = {name: stated[name] for name in (*LIMITS, *counts) if name in stated}
    if arguments.sample_id:
        if arguments.limit is not None:
            raise UsageError("--sample-id and --limit: choose one")
        options["sample_id"] = arguments.sample_id.split(",")
    system = arguments.system or arguments.model
    private = None if arguments.private is None else str(local_folder(arguments.private).absolute())
    # Who sits, as the name of a folder: each character but ASCII letters and digits is a hyphen.
    plain = re.sub("[^A-Za-z0-9]", "-", system).strip("-")
    sitting = Sitting(
        release=str(local_folder(arguments.release).absolute()),
        private=private,
        submission=plain[:MAX_SUBMISSION].rstrip("-") or "anonymous",
        sessions=str(out / "sessions"),
        key=str(out / "host.key"),
        output_budget=arguments.output_budget,
        **{name: given[name] for name in ("exam", "split", "setting", "preset", "sandbox")},
    )
    asked = {
        "model_args": pairs(arguments.model_args, "-M"),
        "model_roles": pairs(arguments.model_roles, "--model-role"),
        **{name: given[name] for name in ("model", "model_base_url", "model_cost_config")},
    }
    options |= config
    return sit(arguments.out, system, sitting, arguments.track, model=asked, options=options)

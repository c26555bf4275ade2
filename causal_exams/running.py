"""One run of an exam: check what can be known before, let Inspect ask, write the record."""

import os
import secrets
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import yaml
from inspect_ai import Task, eval_set
from inspect_ai.log import list_eval_logs
from inspect_ai.model import (
    ModelCost,
    ModelInfo,
    ModelOutput,
    ModelUsage,
    get_model,
    get_model_info,
    set_model_info,
)
from pydantic import TypeAdapter, ValidationError
from rich.errors import MarkupError
from rich.text import Text

from causal_exams.attempts import samples
from causal_exams.protocols import MIXED
from causal_exams.record import Outcome, card_of, check_same, record
from causal_exams.tasks import Sitting, exam_task
from grader.errors import UsageError
from grader.io.files import LOCK, lock_folder, write_text
from grader.io.jsonio import pretty_json
from grader.io.names import did_you_mean
from grader.io.printing import print_lines, printable
from grader.pages.report import costliest, first_screen
from grader.pages.terminal import console
from grader.release.exam import Exam
from grader.tracks import TRACKS

_BEFORE: Final = {LOCK, "host.key", "logs"}
"""The names in a folder whose run ended before the first task."""
_SHOWN: Final = 300
"""Characters of an error that are shown."""


def sit(
    out: Path,
    system: str,
    sitting: Sitting,
    track: str | None,
    *,
    model: Mapping[str, Any],
    options: Mapping[str, Any],
) -> int:
    """Sit the exam, or go on with it; return 0 if no attempt asked for remains, else 1.

    ``out`` is the run's folder, ``system`` its name on boards, and ``track`` the only one that is
    sat, None for all. ``model`` has the members ``model``, ``model_base_url``, ``model_args``,
    ``model_roles`` (role to model) and ``model_cost_config`` (path of a file of prices).
    ``options`` are further arguments of Inspect's ``eval_set`` by name. Raises ``UsageError``. A
    run that is stopped keeps what was answered.
    """
    costs = prices(model)
    exam = sitting.open_exam(track)
    asked = _choose_tasks(exam, options)
    tracks = list(dict.fromkeys(t.track for t in exam.tasks if t.task_id in asked))
    protocols = {name: sitting.protocol(name)[1] for name in tracks}
    epochs = {name: options.get("epochs", one.epochs) for name, one in protocols.items()}
    if sitting.sandbox.partition(":")[0] == "local":
        _say("warning: --sandbox local has no walls: commands run as you, and read what you can")
    ways = {protocol.setting for protocol in protocols.values()}
    sandboxed = any(protocol.sandboxed for protocol in protocols.values())
    settings = {name: getattr(sitting, name) for name in ("exam", "split", "preset")}
    settings |= {"output_budget": sitting.output_budget, "track": track, **model, **options}
    settings["setting"] = MIXED if len(ways) > 1 else min(ways)
    settings["sandbox"] = sitting.sandbox if sandboxed else None
    card, file = card_of(settings, exam, system), out / "run.json"
    _refuse_other_files(out)
    with lock_folder(out, "--out"):
        check_same(file, card)
        _print_estimate(out, exam, asked, epochs)
        arguments = {**model_settings(model), **options}
        write_text(file, pretty_json({**card, "partial": "it has not ended yet"}))
        key = out / "host.key"  # signs transcripts; never in the answers folder
        if not key.exists():
            write_text(key, secrets.token_hex(32), 0o600)
        try:
            tasks = [exam_task(name, sitting) for name in tracks]
            _ask_model(tasks, out / "logs", costs, sitting.sandbox, arguments)
            stopped = False
        except BaseException as error:
            if not list_eval_logs(str(out / "logs")):
                file.unlink()  # another setting may be tried in this folder
                raise
            stopped = isinstance(error, KeyboardInterrupt)
            if not stopped:
                record(out, exam, card, epochs, asked)  # what is there is kept
                raise
        outcome = record(out, exam, card, epochs, asked)
    if stopped or outcome.stopped:
        done = f"{outcome.taken:,} of {outcome.asked:,} attempts are taken"
        _say(f"{out}: stopped; {done}, and the same command goes on with the rest")
        return 130
    _print_outcome(out, outcome)
    return int(outcome.remaining > 0)


def _refuse_other_files(folder: Path) -> None:
    """Raise ``UsageError`` for a folder with files in it, but no run."""
    names = set(os.listdir(folder)) if folder.is_dir() else set[str]()
    if "run.json" not in names and names - _BEFORE:
        raise UsageError(f"--out {folder}: exists and holds no run; name a new folder")


def _choose_tasks(exam: Exam, options: Mapping[str, Any]) -> frozenset[str]:
    """Return the ids of the tasks that Inspect will ask, the limit counted per track.

    Laboratories are left out, with a message, where their hidden part is not at hand. Raises
    ``UsageError`` where no task is left.
    """
    known = {task.task_id for task in exam.tasks}
    named, limit = options.get("sample_id") or known, options.get("limit")
    for task_id in named:
        if task_id not in known:
            raise UsageError(
                f"--sample-id {task_id}: no task of exam {exam.name}{did_you_mean(task_id, known)}"
            )
    release, split = exam.split.release, exam.split.name
    hosted = release.has_public_truth(split) or release.private is not None
    offered = [task for task in exam.tasks if hosted or task.shape.kind != "session"]
    if left := len(exam.tasks) - len(offered):
        _say(f"{left} laboratories are left out: they need the private side, --private DIR")
    found, counted = [], Counter[str]()
    for task in offered:
        counted[task.track] += 1
        if task.task_id in named and (limit is None or counted[task.track] <= limit):
            found.append(task.task_id)
    if not found:
        raise UsageError("no task of the exam can be asked; check --limit and --private")
    return frozenset(found)


def _print_estimate(
    out: Path, exam: Exam, asked: frozenset[str], epochs: Mapping[str, int]
) -> None:
    """Print how many attempts, ``epochs`` a task by track, and input tokens will be asked."""
    tasks = [task for task in exam.tasks if task.task_id in asked]
    remaining = Counter({task.task_id: epochs[task.track] for task in tasks})
    if (out / "logs").is_dir():
        found = samples(out / "logs")
        remaining -= Counter(str(one.id) for one in found if one.error is None)
    prompted = exam.split.release.with_prompts(exam.split.name, tasks)
    # About four characters of English are one token.
    tokens = sum(remaining[task.task_id] * len(task.prompt) for task in prompted) // 4
    counted = Counter(task.track for task in tasks)
    per = ", ".join(f"{track} {count} × {epochs[track]}" for track, count in counted.items())
    _say(
        f"{exam.split.release.name}, exam {exam.name}: {len(tasks):,} of {len(exam.tasks):,} "
        f"tasks ({per}), {remaining.total():,} attempts to ask"
    )
    _say(
        f"prompts alone: about {tokens:,} input tokens, each sent once; "
        "conversations of several turns, and questions asked one by one, send them again"
    )


def _ask_model(
    tasks: list[Task], logs: Path, costs: dict[str, ModelCost] | None, sandbox: str,
    arguments: dict[str, Any],
) -> None:  # fmt: skip
    """Let Inspect ask what is not answered yet, and write its logs into the folder ``logs``.

    ``arguments`` are further ones of ``eval_set``. Raises ``UsageError`` for Inspect's own errors.
    """
    try:
        eval_set(
            tasks,
            log_dir=str(logs),
            retry_attempts=0,
            retry_immediate=False,
            # An error leaves its task for later and stops no other; the log counts as failed, so
            # that those tasks are asked again when the run goes on.
            fail_on_error=True,
            continue_on_fail=True,
            model_cost_config=costs,
            log_buffer=1,
            log_dir_allow_dirty=True,
            display="rich" if sys.stderr.isatty() else "plain",
            **arguments,
        )
    except Exception as error:
        if "SandboxEnvironment type" in str(error):
            raise UsageError(
                f"--sandbox {sandbox}: no such sandbox; choose from docker, "
                "bubblewrap, local, or one of a package of Inspect's that is installed"
            ) from None
        if not is_of_inspect(error):
            raise
        words = one_line(error)
        hint = "; --sandbox bubblewrap needs none" if "Docker" in words else ""
        raise UsageError(f"{words}{hint}") from None


def _print_outcome(out: Path, outcome: Outcome) -> None:
    """Print how far the run is, and the report's first screen or where to hand the answers in."""
    endings = ", ".join(f"{name} {count}" for name, count in outcome.endings.items())
    _say(f"{out}: {outcome.taken:,} of {outcome.asked:,} attempts taken ({endings or 'none'})")
    if outcome.errors:
        first = printable(outcome.errors[0])[:_SHOWN]
        _say(
            f"{len(outcome.errors):,} ended in errors that are not the model's, and are not "
            f"marked; the first: {first}"
        )
    if outcome.remaining:
        _say("run the same command again to go on; attempts taken are not asked again")
    if outcome.graded is None:
        _say(f"graded by who keeps the truth: hand in {out / 'answers'} (pack, submit)")
        return
    costly = costliest(outcome.graded.scores, 1)
    steps = [
        *(f"explain {score.task_id} --answers {out / 'answers'}" for score, _ in costly),
        f"{out / 'report.html'}: every task",
        f"inspect view --log-dir {out / 'logs'}",
    ]
    console().print(first_screen(outcome.graded.report, TRACKS, steps))


def _say(text: str) -> None:
    print_lines(text, to_stderr=True)


def is_of_inspect(error: BaseException) -> bool:
    """Return whether an error's class is Inspect's own: its message then says what is missing."""
    return type(error).__module__.partition(".")[0] == "inspect_ai"


def one_line(error: BaseException) -> str:
    """Return an error's message as one line without markup, of at most ``_SHOWN`` characters."""
    # The errors of Inspect's own say what is missing in ``message``, and have no arguments.
    words = str(getattr(error, "message", None) or error)
    with suppress(MarkupError):
        words = Text.from_markup(words).plain
    return printable(" ".join(words.split()).removeprefix("ERROR: "))[:_SHOWN]


def model_settings(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments ``model``, ``model_base_url``, ``model_args`` and ``model_roles`` of
    Inspect; raises ``UsageError`` for a model whose name, package or key is not there."""
    name, base_url, arguments = (model[f"model{end}"] for end in ("", "_base_url", "_args"))
    if name.startswith("mockllm/"):
        arguments = {"custom_outputs": mock_reply, **arguments}
    try:
        get_model(name, base_url=base_url, memoize=False, **arguments)
    except Exception as error:
        if not (is_of_inspect(error) or isinstance(error, ValueError | TypeError)):
            raise
        raise UsageError(f"--model {name}: {one_line(error)}") from None
    roles = {role: get_model(to) for role, to in model["model_roles"].items()} or None
    found = {"model": name, "model_base_url": base_url, "model_args": arguments}
    return {**found, "model_roles": roles}


def mock_reply(messages: list[Any], tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
    """Return the mock model's one reply with its tokens counted, four characters as one.

    Inspect would count them with a tokenizer, which it fetches from the network.
    """
    output = ModelOutput.from_content("mockllm/model", "Default output from mockllm/model")
    given, written = sum(len(m.text) for m in messages) // 4, len(output.completion) // 4
    total = given + written
    output.usage = ModelUsage(input_tokens=given, output_tokens=written, total_tokens=total)
    return output


def prices(model: Mapping[str, Any]) -> dict[str, ModelCost] | None:
    """Return dollars per million tokens by model, from the file that ``model`` names, if any.

    A model that Inspect does not know, such as a local one, is made known to it. Raises
    ``UsageError`` for an unusable file, or where it names no model that is used.
    """
    path = model["model_cost_config"]
    if path is None:
        return None
    where = f"--model-cost-config {path}"
    try:
        given = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        found = TypeAdapter(dict[str, ModelCost]).validate_python(given)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        members = ", ".join(ModelCost.model_fields)
        raise UsageError(
            f"{where}: {one_line(error)}; write under each model's name {members}, each in dollars "
            "per million tokens"
        ) from None
    used = sorted({model["model"], *model["model_roles"].values()})
    if found.keys().isdisjoint(used):
        raise UsageError(f"{where}: has no price of {' or '.join(used)}")
    for name in found:
        if get_model_info(name) is None:
            set_model_info(name, ModelInfo())
    return found

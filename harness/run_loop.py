"""Take an exam with a chat model behind any OpenAI-compatible endpoint.

  python -m grader workspace --release release --out work/
  python -m harness run --base-url http://127.0.0.1:8000/v1 --model NAME \\
      --workspaces work/ --answers answers/NAME
  python -m grader answers/NAME --release release

One short conversation per task. The model ends it with a fenced ```json (or ```csv) block, which
becomes the answer file. With --shell it may first send ```bash blocks; they run in a scratch copy
of the task's workspace, and an answer file that the model leaves there counts too. --shell is no
sandbox: run it in a container. Answers and usage.jsonl are written as they come; the same command
resumes, skipping tasks that have an answer or have failed for good (see --retry-failed).

In a laboratory (track causalab) each ```json block is a request, and the transcript is the answer
file. It needs --release, where the hidden part is, and so a run of its own without --shell: the
same folders, once more.
"""

import argparse
import datetime
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from rich.console import Console
from rich.progress import track

from grader.draw.words import printable
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.jsonio import pretty
from grader.io.paths import inside
from grader.io.release import Release
from harness.blocks import blocks
from harness.lab_episodes import Episodes
from harness.lab_session import Session
from harness.replies import Endpoint, Messages, NoReply
from harness.run_lab import experiment, finished, replies_for
from harness.shell import execute
from harness.task import WorkspaceTask, open_workspaces

_RULES: Final = (
    "You are taking an exam of separate tasks; this is one of them. When you are sure, reply with "
    "the content of the answer file in one fenced block, ```{kind}, and nothing after it."
)
_WITH_SHELL: Final = (
    " Before that you may send one fenced ```bash block per reply; it runs in a folder with the "
    "task's files and you get its output. You may also write the answer file {file} there and "
    "say so without any block."
)
_WITHOUT_SHELL: Final = " You cannot run commands or open files here."


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run: endpoint, folders, limits (seconds for the three timeouts)."""

    base_url: str
    model: str
    workspaces: Path
    answers: Path
    api_key_env: str
    max_steps: int
    shell: bool
    retry_failed: bool
    timeout: float
    reply_timeout: float
    max_reply_mib: int
    command_timeout: float
    max_retries: int
    release: Path | None
    private: Path | None
    split: str | None


@dataclass(slots=True)
class Usage:
    """What one task has cost so far, earlier failed runs included."""

    input_tokens: int = 0
    output_tokens: int = 0
    tool_calls: int = 0
    seconds: float = 0.0


class Failed(Exception):
    """A task ended without an answer; the message says why, ``for_good`` whether it stays so."""

    def __init__(self, message: str, *, for_good: bool = True) -> None:
        super().__init__(message)
        self.for_good = for_good


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``run``."""
    add = parser.add_argument
    add("--base-url", required=True, metavar="URL", help="endpoint, such as http://host:8000/v1")
    add("--model", required=True, metavar="NAME")
    add("--workspaces", type=Path, required=True, metavar="DIR", help="from `grader workspace`")
    add("--answers", type=Path, required=True, metavar="DIR", help="where answers go")
    add("--api-key-env", default="OPENAI_API_KEY", metavar="VAR", help="variable with the key")
    add("--max-steps", type=int, default=12, metavar="N", help="model replies per task (in a "
        "laboratory so many more than its budget)")  # fmt: skip
    add("--shell", action="store_true", help="run the model's bash blocks (NO sandbox)")
    add("--retry-failed", action="store_true", help="try tasks again that failed for good")
    add("--timeout", type=float, default=300.0, metavar="S", help="seconds without a byte, then "
        "the reply is asked for again")  # fmt: skip
    add("--reply-timeout", type=float, default=1800.0, metavar="S", help="seconds per model reply "
        "from the request to its last byte, retries and all")  # fmt: skip
    add("--max-reply-mib", type=int, default=16, metavar="N", help="size of a model reply")
    add("--command-timeout", type=float, default=120.0, metavar="S", help="seconds per command")
    add("--max-retries", type=int, default=4, metavar="N", help="of a reply, on 429, 5xx, timeout")
    laboratory = parser.add_argument_group("for laboratories, which need the episode's hidden part")
    laboratory.add_argument("--release", type=Path, metavar="DIR", help="the release of the tasks")
    laboratory.add_argument("--private", type=Path, metavar="DIR", help="its private side")
    laboratory.add_argument("--split", help="split of the release; default: the only one")


def settings(arguments: argparse.Namespace) -> Settings:
    """The parsed options."""
    return Settings(**{name: getattr(arguments, name) for name in Settings.__slots__})


def run(options: Settings) -> int:
    """Take the exam; returns 0 even if tasks failed (they are reported). Raises ``UsageError``."""
    if options.shell and (options.release or options.private):
        raise UsageError(
            "--shell: the model's commands could read the truth in --release or --private; take "
            "laboratories in a run of their own, without --shell"
        )
    endpoint = _endpoint(options)
    tasks = open_workspaces(options.workspaces)
    _prepare(options)
    usage, failures = _ledger(options.answers, "usage"), _ledger(options.answers, "failures")
    todo = [task for task in tasks if not _answered(options, task)]
    if not options.retry_failed:
        todo = [task for task in todo if task.task_id not in failures]
    console = Console(stderr=True)
    laboratories = _laboratories(options, todo, console)
    if laboratories is None:
        todo = [task for task in todo if task.kind != "jsonl"]
    failed = 0
    for task in track(todo, "tasks", console=console, disable=not console.is_terminal):
        earlier = {**usage.get(task.task_id, {})}
        spent = Usage(**{name: earlier.get(name) or 0 for name in Usage.__slots__})
        start = time.monotonic()
        try:
            if laboratories is not None and task.kind == "jsonl":
                _experiment(endpoint, options, task, laboratories, spent)
            else:
                text = _converse(endpoint, options, task, spent)
                write_text(task.answer_in(options.answers), text)
        except Failed as problem:
            failed += 1
            _say(console, f"{task.task_id}: {problem}")
            if problem.for_good:
                entry = {"task_id": task.task_id, "error": str(problem)}
                _append(options.answers, "failures", entry)
        finally:  # an interrupted task has cost its tokens too
            spent.seconds = round(spent.seconds + time.monotonic() - start, 3)
            line = {"task_id": task.task_id, **asdict(spent), "cost_usd": None}
            _append(options.answers, "usage", line)
    print(
        f"{options.answers}: {len(todo) - failed} answered now, {failed} failed, "
        f"{len(tasks) - len(todo)} skipped of {len(tasks)} tasks"
    )
    return 0


def _say(console: Console, text: str) -> None:
    console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def _answered(options: Settings, task: WorkspaceTask) -> bool:
    path = task.answer_in(options.answers)
    if task.kind != "jsonl":
        return path.exists()
    text = task.left_in(options.answers)  # without experiments one line may be the answer
    return finished(path) or (text is not None and task.problem(text) is None)


def _laboratories(
    options: Settings, todo: list[WorkspaceTask], console: Console
) -> Episodes | None:
    """The episodes of the laboratories in ``todo``; None, after a line, if this run has none."""
    count = sum(task.kind == "jsonl" for task in todo)
    if not count:
        return None
    try:
        if options.shell:
            raise UsageError("take them without --shell, which could read the release")
        return Episodes(Release.open(options.release, options.private), options.split)
    except UsageError as error:
        _say(console, f"{count} laboratory tasks are left for another run: {error}")
        return None


def _experiment(
    endpoint: Endpoint,
    options: Settings,
    task: WorkspaceTask,
    laboratories: Episodes,
    spent: Usage,
) -> None:
    """One laboratory from prompt to closed transcript; raises ``Failed``."""
    try:
        episode = laboratories.open(task.task_id)
        session = Session(episode, task.answer_in(options.answers))
    except UsageError as error:
        raise Failed(str(error), for_good=False) from None
    most = replies_for(episode, options.max_steps)

    def ask(messages: Messages) -> str:
        return _ask(endpoint, messages, spent)

    def count(requests: int) -> None:
        spent.tool_calls += requests

    try:
        experiment(session, task.prompt, ask, most, count)
    finally:
        session.close()
    if not session.predicted:
        raise Failed("the session ended without a prediction")


def _converse(endpoint: Endpoint, options: Settings, task: WorkspaceTask, spent: Usage) -> str:
    """One task from prompt to the text of a valid answer; raises ``Failed``."""
    rules = _RULES + (_WITH_SHELL if options.shell else _WITHOUT_SHELL)
    messages = [
        {"role": "system", "content": rules.format(kind=task.kind, file=task.answer_file)},
        {"role": "user", "content": task.prompt},
    ]
    complaint = "no reply"
    with _scratch(task, options.shell) as folder:
        for _ in range(options.max_steps):
            reply = _ask(endpoint, messages, spent)
            found = dict(blocks(reply))
            answer = found.get(task.kind)
            if "bash" in found and options.shell and folder:
                spent.tool_calls += 1
                complaint = execute(found["bash"], folder, options.command_timeout)
            else:
                if answer is None and folder:
                    answer = task.left_in(folder)
                if answer is not None:
                    problem = task.problem(answer)
                    if problem is None:
                        return answer
                    complaint = f"That answer is not valid: {problem}. Send it again, corrected."
                elif "bash" in found:
                    complaint = "Commands are not run here. Reply with the answer block."
                else:
                    complaint = f"There was no ```{task.kind} block. Reply with one."
            messages += [
                {"role": "assistant", "content": reply},
                {"role": "user", "content": complaint},
            ]
        if folder and (answer := task.left_in(folder)) and task.problem(answer) is None:
            return answer
    raise Failed(f"no valid answer in {options.max_steps} replies; last: {complaint[:200]}")


def _ask(endpoint: Endpoint, messages: Messages, spent: Usage) -> str:
    """The text of the model's next reply; raises ``Failed``."""
    try:
        reply = endpoint.ask(messages)
    except NoReply as error:
        raise Failed(str(error)) from None
    spent.input_tokens += reply.input_tokens
    spent.output_tokens += reply.output_tokens
    return reply.text


@contextmanager
def _scratch(task: WorkspaceTask, shell: bool) -> Iterator[Path | None]:
    """A throw-away copy of the workspace for commands, or nothing without a shell."""
    if not shell:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="exam-", ignore_cleanup_errors=True) as name:
        folder = inside(Path(name), task.task_id)
        shutil.copytree(task.folder, folder)
        yield folder


def _endpoint(options: Settings) -> Endpoint:
    try:
        import openai  # noqa: F401
    except ImportError:
        raise UsageError(
            "the package openai is not installed; pip install 'causal-exams[llm]'"
        ) from None
    if urlsplit(options.base_url).scheme not in ("http", "https"):
        raise UsageError(f"--base-url {options.base_url}: not an http(s) URL; add the scheme")
    return Endpoint(
        base_url=options.base_url,
        model=options.model,
        # Local servers want no key, but the client insists on one.
        key=os.environ.get(options.api_key_env) or "none",
        stall=options.timeout,
        seconds=options.reply_timeout,
        size=options.max_reply_mib << 20,
        retries=options.max_retries,
    )


def _prepare(options: Settings) -> None:
    """Write ``run.json``, or check that the folder belongs to the same model."""
    path = options.answers / "run.json"
    if path.exists():
        try:
            owner = json.loads(path.read_bytes())["system"]
        except (OSError, ValueError, LookupError, TypeError):
            owner = None
        if owner != options.model:
            raise UsageError(f"{path}: of system {owner!r}, not {options.model!r}; other --answers")
        return
    kept = {name: getattr(options, name) for name in ("max_steps", "shell", "timeout")}
    host = urlsplit(options.base_url).hostname
    run_card = {
        "system": options.model,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "settings": {**kept, "endpoint": host},
        "notes": "python -m harness run",
    }
    write_text(path, pretty(run_card))


def _ledger(folder: Path, name: str) -> dict[str, dict[str, Any]]:
    """The last line of each task in ``<name>.jsonl``; a torn last line is ignored."""
    entries: dict[str, dict[str, Any]] = {}
    path = folder / f"{name}.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            entry = json.loads(line)
            entries[entry["task_id"]] = entry
        except (ValueError, LookupError, TypeError):
            continue
    return entries


def _append(folder: Path, name: str, entry: Mapping[str, Any]) -> None:
    path = folder / f"{name}.jsonl"
    try:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(entry) + "\n")
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written ({error.strerror}); free it and go on"
        ) from None

"""Answers and usage out of trajectories of mini-swe-agent (``mini-swe-agent-1``, ``-1.1``)."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from causal_exams.endings import ANSWERED, CONTEXT, COST, ERROR, MISSING, NO_ANSWER, STEPS
from causal_exams.importers.taken import Taken
from grader.errors import UsageError
from grader.shape import Task
from grader.submission.submission import MAX_BYTES, Unreadable, open_regular

_ENDING: Final = ".traj.json"
_LIMITS: Final = "LimitsExceeded"


def read(source: Path, tasks: Mapping[str, Task]) -> Iterator[Taken]:
    """Every ``<task id>.traj.json`` below a folder, or one; raises ``UsageError``.

    An answer is the file in the folder ``answers`` beside the trajectory, as where each task was
    worked at in a folder of its own, or in that of ``source``; else the submission's text.
    """
    files = [source] if source.is_file() else sorted(source.rglob(f"*{_ENDING}"))
    if not files:
        raise UsageError(f"{source}: no {_ENDING} in it; give a folder of trajectories")
    answers = (source if source.is_dir() else source.parent) / "answers"
    for file in files:
        task = tasks.get(file.name.removesuffix(_ENDING))
        if task is not None:
            yield _trajectory(file, task, (file.parent / "answers", answers))


def _trajectory(file: Path, task: Task, answers: Iterable[Path]) -> Taken:
    try:
        document = json.loads(file.read_bytes())
        info, messages = dict(document["info"]), list(document["messages"])
    except (OSError, ValueError, LookupError, TypeError):
        raise UsageError(f"{file}: no trajectory of mini-swe-agent; leave it out") from None
    answer, status = _file(answers, task), info.get("exit_status")
    if answer is None and status == "Submitted" and str(info.get("submission") or "").strip():
        answer = str(info["submission"]).encode("utf-8", "replace")
    return Taken(task.task_id, 1, answer, {**_usage(info, messages), "ending": _why(info, answer)})


def _file(answers: Iterable[Path], task: Task) -> bytes | None:
    for path in (path for folder in answers for path in sorted(folder.rglob(task.answer_file))):
        try:
            with open_regular(path) as stream:
                return stream.read(MAX_BYTES[task.shape.suffix] + 1)
        except Unreadable:
            continue
    return None


def _why(info: Mapping[str, Any], answer: bytes | None) -> str:
    status = str(info.get("exit_status"))
    if status == "Submitted":
        return MISSING if answer is None else ANSWERED
    if status == _LIMITS:
        config = (info.get("config") or {}).get("agent") or {}
        calls = (info.get("model_stats") or {}).get("api_calls") or 0
        return STEPS if 0 < (config.get("step_limit") or 0) <= calls else COST
    if "ContextWindow" in status:
        return CONTEXT
    if status in ("None", "Submit"):
        return NO_ANSWER
    return ERROR


def _usage(info: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
    stats = info.get("model_stats") or {}
    replies = [message.get("extra") or {} for message in messages if isinstance(message, dict)]
    told = [(extra.get("response") or {}).get("usage") for extra in replies]
    counted = [usage for usage in told if isinstance(usage, dict)]
    found = {"tool_calls": stats.get("api_calls"), "cost_usd": stats.get("instance_cost")}
    if counted:
        found["input_tokens"] = sum(one.get("prompt_tokens") or 0 for one in counted)
        found["output_tokens"] = sum(one.get("completion_tokens") or 0 for one in counted)
    return {name: value for name, value in found.items() if value is not None}

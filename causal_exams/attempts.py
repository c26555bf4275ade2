"""Attempts at tasks in the records of other programs, and the folder of answers they become.

Read are Inspect's logs, jobs of Harbor whose tasks ``export harbor`` wrote, and trajectories of
mini-swe-agent (``mini-swe-agent-1``, ``-1.1``). Why an attempt ended is one of a closed list, which
reports count (CausalDS A.14, A.15).
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grader.answers.submission import MAX_BYTES
from grader.errors import UsageError
from grader.io.files import Unreadable, open_regular, write_text
from grader.io.jsonio import pretty_json
from grader.io.paths import path_inside
from grader.reports.table import ENDINGS
from grader.scoring.shape import Task

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

ANSWERED, NO_ANSWER, MISSING = "answered", "no answer", "missing after submit"
STEPS, TOKENS, SECONDS = "step limit", "token limit", "time limit"
COST, CONTEXT, ERROR = "cost limit", "context limit", "error"
STOPS: Final[Mapping[str, str]] = {"model_length": CONTEXT, "content_filter": "refused"}
"""The ending of an attempt by the reason why its last reply stopped, as Inspect calls it."""
ENDING: Final = "ending"
"""The key of a sample's store under which its protocol leaves the ending."""
_LIMITS: Final[Mapping[str, str]] = {
    "time": SECONDS, "working": SECONDS, "token": TOKENS, "cost": COST,
    "message": STEPS, "turn": STEPS, "context": CONTEXT,
}  # fmt: skip
_TRAJECTORY: Final = ".traj.json"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a task, its ``number`` counted from 1.

    ``answer`` is the content of the answer file, None without one. ``usage`` has the members of a
    line of ``usage.jsonl``, None where unknown, and under ``ending`` why the attempt ended.
    """

    task_id: str
    number: int
    answer: bytes | None
    usage: Mapping[str, Any] = field(default_factory=dict)


def write_answers(
    folder: Path,
    attempts: Iterable[Attempt],
    tasks: Mapping[str, Task],
    card: Mapping[str, Any],
    most: int = 1,
) -> list[dict[str, Any]]:
    """Write ``folder`` anew: answers, ``usage.jsonl`` and ``run.json``; return the lines of usage.

    What stood in ``folder`` is deleted. Attempts at tasks that are not in ``tasks``, by id, are
    left out. ``card`` becomes ``run.json``. Where ``most``, the attempts at a task, is above 1,
    those of attempt k stand in a folder ``attempt-k``. Raises ``UsageError``.
    """
    lines: list[dict[str, Any]] = []
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for one in attempts:
            task = tasks.get(one.task_id)
            if task is None:
                continue
            place = path_inside(folder, f"attempt-{one.number}") if most > 1 else folder
            place.mkdir(exist_ok=True)
            if one.answer is not None:
                size = MAX_BYTES[task.shape.suffix] + 1
                path_inside(place, task.answer_file).write_bytes(one.answer[:size])
            known = {name: value for name, value in one.usage.items() if value is not None}
            lines.append({"task_id": one.task_id, "attempt": one.number, **known})
            with (place / "usage.jsonl").open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(lines[-1]) + "\n")
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written ({error.strerror}); name another") from None
    write_text(folder / "run.json", pretty_json(card))
    return lines


def ending(
    *, error: bool, limit: str | None, stored: Any, stop_reason: str | None, answered: bool
) -> str:
    """Return why one sample of Inspect ended, as one of ``ENDINGS``; the first of these that holds.

    An ``error``, never the model's fault; the kind of ``limit`` that was met; the ending that the
    protocol ``stored``, unless it is about the answer alone; the ``stop_reason`` of the last reply
    where it is in ``STOPS``; an answer; a last reply that was cut off at its most tokens; none.
    """
    if error:
        return ERROR
    if limit is not None:
        return _LIMITS.get(limit, "stopped")
    if stored in ENDINGS and stored not in (ANSWERED, NO_ANSWER):
        return str(stored)
    if stop_reason is not None and stop_reason in STOPS:
        return STOPS[stop_reason]
    if answered and stored != NO_ANSWER:
        return ANSWERED
    return TOKENS if stop_reason == "max_tokens" else NO_ANSWER


def samples(source: Path) -> "Iterator[EvalSample]":
    """Yield the samples of a log of Inspect, or of all logs in a folder, each attempt once.

    Of several samples of an attempt (one task id and epoch) the last one without an error counts,
    else the last. Raises ``UsageError`` for logs that cannot be read.
    """
    from inspect_ai import log

    if not source.exists():
        raise UsageError(f"{source}: no such log, nor a folder of logs")
    try:
        places = [str(source)]
        if source.is_dir():
            places = [info.name for info in log.list_eval_logs(str(source), descending=False)]
        chosen: dict[tuple[str | int, int], tuple[str, bool]] = {}
        for place in places:
            for summary in log.read_eval_log_sample_summaries(place):
                key, whole = (summary.id, summary.epoch), summary.error is None
                if whole or not chosen.get(key, ("", False))[1]:
                    chosen[key] = place, whole
        for (name, epoch), (place, _) in sorted(chosen.items(), key=str):
            yield log.read_eval_log_sample(place, name, epoch)
    except (OSError, ValueError, LookupError, EOFError) as error:
        raise UsageError(f"{source}: cannot be read as a log of Inspect ({error})") from None


def attempt_of(sample: "EvalSample") -> Attempt:
    """Return a sample of Inspect as an attempt; tokens of a cache count as input tokens."""
    score = next(iter((sample.scores or {}).values()), None)
    text = None if score is None else score.answer
    why = ending(
        error=sample.error is not None,
        limit=None if sample.limit is None else sample.limit.type,
        stored=sample.store.get(ENDING),
        stop_reason=sample.output.stop_reason if sample.output.choices else None,
        answered=text is not None,
    )
    used = list(sample.model_usage.values())
    inputs = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    costs = [one.total_cost for one in used if one.total_cost is not None]
    replies = [message for message in sample.messages if message.role == "assistant"]
    seconds = sample.working_time if sample.working_time is not None else sample.total_time
    usage = {
        "input_tokens": sum(getattr(one, name) or 0 for one in used for name in inputs),
        "output_tokens": sum(one.output_tokens for one in used),
        "tool_calls": sum(len(message.tool_calls or ()) for message in replies),
        "seconds": None if seconds is None else round(seconds, 3),
        "cost_usd": sum(costs) if costs else None,
        ENDING: why,
    }
    answer = None if text is None else text.encode("utf-8")
    return Attempt(str(sample.id), sample.epoch, answer, usage)


def from_harbor(source: Path, tasks: Mapping[str, Task]) -> Iterator[Attempt]:
    """Yield the trials of ``tasks`` in the folder of a job, or of one trial, as attempts.

    Trials of one task are numbered in the order of their paths. What cannot be read or is no trial
    of these tasks is skipped. Raises ``UsageError`` where no trial remains.
    """
    counted = Counter[str]()
    for file in sorted(source.rglob("result.json")):
        try:
            result = json.loads(file.read_bytes())
            task = tasks[result["task_name"].rpartition("/")[2]]
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            continue  # the result of the job as a whole, of another task, or none
        counted[task.task_id] += 1
        yield _trial(file.parent, result, task, counted[task.task_id])
    if not counted:
        raise UsageError(f"{source}: no trial of a task of the exam; give the folder of a job")


def _trial(folder: Path, result: Mapping[str, Any], task: Task, number: int) -> Attempt:
    """Return the trial of Harbor in ``folder``, with this ``result.json``, as an attempt."""
    # What the verifier kept counts more than what was collected.
    files = sorted(folder.rglob(task.answer_file), key=lambda p: ("verifier" not in p.parts, p))
    answer = _first_answer(files, task)
    failed = (result.get("exception_info") or {}).get("exception_type")
    if failed is not None:
        why = SECONDS if failed == "AgentTimeoutError" else ERROR
    else:
        why = NO_ANSWER if answer is None else ANSWERED
    spent, timing = result.get("agent_result") or {}, result.get("agent_execution") or {}
    usage = {
        "input_tokens": spent.get("n_input_tokens"),
        "output_tokens": spent.get("n_output_tokens"),
        "cost_usd": spent.get("cost_usd"),
    }
    with suppress(LookupError, TypeError, ValueError):
        begun, ended = (datetime.fromisoformat(timing[k]) for k in ("started_at", "finished_at"))
        usage["seconds"] = round((ended - begun).total_seconds(), 3)
    return Attempt(task.task_id, number, answer, {**usage, ENDING: why})


def _first_answer(files: Iterable[Path], task: Task) -> bytes | None:
    """Return the content of the first readable file, cut off one byte above the largest size."""
    for file in files:
        with suppress(Unreadable), open_regular(file) as stream:
            return stream.read(MAX_BYTES[task.shape.suffix] + 1)
    return None


def from_mini_swe(source: Path, tasks: Mapping[str, Task]) -> Iterator[Attempt]:
    """Yield the trajectories of ``tasks`` in ``source``, a file or a folder, as attempts.

    A trajectory is called ``<task id>.traj.json`` and is looked for at any depth. Its answer is the
    answer file in a folder ``answers`` there, else the text that was submitted. Raises
    ``UsageError`` where there is no trajectory.
    """
    files = [source] if source.is_file() else sorted(source.rglob(f"*{_TRAJECTORY}"))
    if not files:
        raise UsageError(f"{source}: no {_TRAJECTORY} in it; give a folder of trajectories")
    folder = source if source.is_dir() else source.parent
    for file in files:
        task = tasks.get(file.name.removesuffix(_TRAJECTORY))
        if task is not None:
            answers = sorted(folder.rglob(f"answers/{task.answer_file}"))
            yield _trajectory(file, task, _first_answer(answers, task))


def _trajectory(file: Path, task: Task, answer: bytes | None) -> Attempt:
    """Return a trajectory as an attempt; raises ``UsageError`` for a file that is none."""
    try:
        document = json.loads(file.read_bytes())
        info, messages = dict(document["info"]), list(document["messages"])
    except (OSError, ValueError, LookupError, TypeError):
        raise UsageError(f"{file}: no trajectory of mini-swe-agent; leave it out") from None
    if answer is None and info.get("exit_status") == "Submitted":
        text = str(info.get("submission") or "")
        answer = text.encode("utf-8", "replace") if text.strip() else None
    stats = info.get("model_stats") or {}
    replies = [message.get("extra") or {} for message in messages if isinstance(message, dict)]
    reported = [(extra.get("response") or {}).get("usage") for extra in replies]
    counted = [usage for usage in reported if isinstance(usage, dict)]
    usage = {"tool_calls": stats.get("api_calls"), "cost_usd": stats.get("instance_cost")}
    if counted:
        usage["input_tokens"] = sum(one.get("prompt_tokens") or 0 for one in counted)
        usage["output_tokens"] = sum(one.get("completion_tokens") or 0 for one in counted)
    status = str(info.get("exit_status"))
    why = CONTEXT if "ContextWindow" in status else ERROR
    if status == "Submitted":
        why = MISSING if answer is None else ANSWERED
    elif status == "LimitsExceeded":
        steps = ((info.get("config") or {}).get("agent") or {}).get("step_limit") or 0
        why = STEPS if 0 < steps <= (stats.get("api_calls") or 0) else COST
    elif status in ("None", "Submit"):
        why = NO_ANSWER
    return Attempt(task.task_id, 1, answer, {**usage, ENDING: why})

"""Answers and usage out of Inspect's logs (``.eval`` or ``.json``), one or a folder of them."""

import base64
import binascii
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspect_ai.log import (
    EvalSample,
    list_eval_logs,
    read_eval_log_sample,
    read_eval_log_sample_summaries,
)
from inspect_ai.model import ChatMessageAssistant

from causal_exams.conversation import ENDING
from causal_exams.endings import ending
from causal_exams.importers.taken import Taken
from grader.errors import UsageError


def samples(source: Path) -> Iterator[EvalSample]:
    """The samples of a log, or of all logs in a folder, each attempt once.

    Of an attempt that several logs hold it is the last one that did not end in an error, else the
    last. Raises ``UsageError``.
    """
    if not source.exists():
        raise UsageError(f"{source}: no such log, nor a folder of logs")
    try:
        places = [str(source)]
        if source.is_dir():
            places = [info.name for info in list_eval_logs(str(source), descending=False)]
        chosen: dict[tuple[str | int, int], tuple[str, bool]] = {}
        for place in places:
            for told in read_eval_log_sample_summaries(place):
                key, whole = (told.id, told.epoch), told.error is None
                if whole or not chosen.get(key, ("", False))[1]:
                    chosen[key] = place, whole
        for (name, epoch), (place, _) in sorted(chosen.items(), key=str):
            yield read_eval_log_sample(place, name, epoch)
    except (OSError, ValueError, LookupError, EOFError) as error:
        raise UsageError(f"{source}: not to be read as a log of Inspect ({error})") from None


def taken(sample: EvalSample) -> Taken:
    """What a sample is: its answer, what it cost, and why it ended."""
    score = next(iter((sample.scores or {}).values()), None)
    answer = None if score is None or score.answer is None else score.answer.encode("utf-8")
    if answer is not None and ((score and score.metadata) or {}).get("encoding") == "base64":
        try:
            answer = base64.b64decode(answer, validate=True)
        except binascii.Error:
            answer = None
    why = ending(
        error=sample.error is not None,
        limit=None if sample.limit is None else sample.limit.type,
        told=sample.store.get(ENDING),
        stop_reason=sample.output.stop_reason if sample.output.choices else None,
        answered=answer is not None,
    )
    return Taken(str(sample.id), sample.epoch, answer, {**_usage(sample), "ending": why})


def _usage(sample: EvalSample) -> dict[str, Any]:
    """Tokens, calls, seconds and dollars of a sample; what is not known is left out."""
    used = sample.model_usage.values()
    given = sum(
        one.input_tokens + (one.input_tokens_cache_read or 0) + (one.input_tokens_cache_write or 0)
        for one in used
    )
    costs = [one.total_cost for one in used if one.total_cost is not None]
    calls = [
        call
        for message in sample.messages
        if isinstance(message, ChatMessageAssistant)
        for call in message.tool_calls or ()
    ]
    seconds = sample.working_time if sample.working_time is not None else sample.total_time
    return {
        "input_tokens": given,
        "output_tokens": sum(one.output_tokens for one in used),
        "tool_calls": len(calls),
        **({} if seconds is None else {"seconds": round(seconds, 3)}),
        **({"cost_usd": sum(costs)} if costs else {}),
    }


def read(source: Path, tasks: object) -> Iterator[Taken]:
    """Every attempt in a log or in a folder of logs; raises ``UsageError``."""
    return map(taken, samples(source))

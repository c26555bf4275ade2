"""Asking a model at an endpoint: cached, capped, patient, and for JSON.

There is one system text per role; the rest is JSON, so that nothing that a model said earlier can
pass for an instruction.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from builder.stories.llm.settings import Settings, check_endpoint
from builder.stories.llm.transcripts import Transcript, request_hash, wait_for_turn
from builder.stories.narration import NarrationFailed
from builder.stories.texts import Texts
from grader.errors import UsageError

Message = dict[str, str]

_TEXTS: Final = Texts(__file__)
_DIRECT: Final = _TEXTS("direct_effect")

MAPPER: Final = _TEXTS("mapper", direct_effect=_DIRECT)
PRE_AUDITOR: Final = _TEXTS("pre_auditor", direct_effect=_DIRECT)
AUDITOR: Final = _TEXTS("auditor", direct_effect=_DIRECT)
WRITER: Final = _TEXTS("writer")
VERIFIER: Final = _TEXTS("verifier")


def conversation(system: str, content: Mapping[str, object]) -> list[Message]:
    """A role and its material."""
    shown = {key: value for key, value in content.items() if value not in (None, [], {}, "")}
    text = json.dumps(shown, ensure_ascii=False, indent=1)
    return [{"role": "system", "content": system}, {"role": "user", "content": text}]


def answered(
    messages: Sequence[Message],
    reply: Mapping[str, object],
    violations: Sequence[str],
    warnings: Sequence[str],
    flags: Sequence[str],
) -> list[Message]:
    """The conversation with what the model proposed and what was found wrong with it."""
    found = {
        "violations": list(violations),
        "warnings": list(warnings),
        "yellow_flags": list(flags),
    }
    shown = {key: value for key, value in found.items() if value}
    complaint = _TEXTS("complaint", found=json.dumps(shown, ensure_ascii=False, indent=1))
    return [
        *messages,
        {"role": "assistant", "content": json.dumps(reply, ensure_ascii=False)},
        {"role": "user", "content": complaint},
    ]


if TYPE_CHECKING:
    from openai import OpenAI

MOST_CHARACTERS: Final = 60_000
"""Longer replies are cut, and then are no JSON."""
MOST_BYTES: Final = 4_000_000
"""Larger responses are refused: no chat completion is that long."""
_ECHOED: Final = 12_000
"""Characters of a bad reply that are shown to the model again."""

T = TypeVar("T")

Verdict = tuple[Sequence[str], Sequence[str], Sequence[str]]
"""What is wrong with a draft: violations, warnings and yellow flags."""


class Malformed(ValueError):
    """A reply that is not the JSON asked for; the message says what to mend."""


class Client:
    """Asks one model on behalf of one scene; replies come from the transcript where it has them."""

    def __init__(self, settings: Settings, where: str, key: bytes) -> None:
        """``where`` is the settings' place in a split file; ``key`` names the transcript."""
        self.settings = settings
        self._where = where
        self._transcript = Transcript(Path(settings.transcripts), key, where)
        self._calls = 0
        self._openai: OpenAI | None = None

    def ask(self, stage: str, messages: Sequence[Message]) -> str:
        """The model's reply. Recorded calls count towards the budget like new ones.

        Raises :class:`NarrationFailed` when the scene's calls are used up, ``UsageError`` when the
        endpoint cannot be asked (no other scene could be told either, so the build stops and can be
        resumed).
        """
        self._calls += 1
        if self._calls > self.settings.budgets.calls:
            raise NarrationFailed("llm: call budget exhausted")
        request = self._request(messages)
        digest = request_hash(request)
        reply = self._transcript.recall(digest)
        if reply is None:
            reply = self._send(request)
            self._transcript.add(digest, stage, request, reply)
        return reply

    def ask_json(
        self, stage: str, messages: Sequence[Message], read: Callable[[Mapping[str, Any]], T]
    ) -> T:
        """What ``read`` makes of the JSON object in the reply.

        A reply without one, or one that ``read`` refuses with :class:`Malformed`, is asked for
        again, with what is wrong. Raises :class:`NarrationFailed` when the repairs are used up.
        """
        asked = list(messages)
        for _ in range(self.settings.budgets.repairs + 1):
            reply = self.ask(stage, asked)
            try:
                return read(json_object(reply))
            except Malformed as problem:
                asked = [
                    *messages,
                    {"role": "assistant", "content": reply[:_ECHOED]},
                    {
                        "role": "user",
                        "content": f"That reply cannot be used: {problem}. Send the whole JSON "
                        "object again, mended, and nothing else.",
                    },
                ]
        raise NarrationFailed(f"llm: no usable JSON from the {stage}")

    def ask_revised(
        self,
        stage: str,
        messages: Sequence[Message],
        read: Callable[[Mapping[str, Any]], T],
        judge: Callable[[T], Verdict],
        shown: Callable[[T], Mapping[str, object]],
        rounds: tuple[str, int],
        draft: T | None = None,
    ) -> T:
        """A draft that ``judge`` finds no violation in.

        ``shown`` is a draft as the model writes it, ``rounds`` the name of a budget and how many
        judgements it has. Raises :class:`NarrationFailed` when they are used up.
        """
        budget, most = rounds
        draft = self.ask_json(stage, messages, read) if draft is None else draft
        for turn in range(1, most + 1):
            violations, warnings, flags = judge(draft)
            if not violations:
                return draft
            if turn < most:
                asked = answered(messages, shown(draft), violations[:20], warnings, flags)
                draft = self.ask_json(stage, asked, read)
        raise NarrationFailed(f"llm: {budget} budget exhausted")

    def _request(self, messages: Sequence[Message]) -> dict[str, Any]:
        settings = self.settings
        request: dict[str, Any] = {"model": settings.model, "messages": list(messages)}
        if settings.temperature is not None:
            request["temperature"] = settings.temperature
        if settings.reply_tokens:
            request["max_tokens"] = settings.reply_tokens
        if settings.json_mode:
            request["response_format"] = {"type": "json_object"}
        return request

    def _send(self, request: Mapping[str, Any]) -> str:
        client = self._openai = self._openai or _connect(self.settings, self._where)
        from openai import APIConnectionError, APIStatusError, OpenAIError

        wait_for_turn(self._transcript.folder, self.settings.per_minute)
        try:
            with client.chat.completions.with_streaming_response.create(**request) as response:
                body = _body(response.iter_bytes(), self.settings.seconds)
            content = json.loads(body)["choices"][0]["message"]["content"]
            return str(content or "")[:MOST_CHARACTERS]
        except _BrokenOff as problem:
            what = str(problem)
        except APIStatusError as error:
            what = f"answered with status {error.status_code}"
        except APIConnectionError as error:  # time-outs are among them
            what = f"did not answer ({type(error).__name__})"
        except (OpenAIError, ValueError, TypeError, LookupError, RecursionError) as error:
            what = f"sent no chat completion ({type(error).__name__})"
        # The server's own message is left out, because it may repeat the key.
        raise UsageError(
            f"{self._where}: the endpoint {what} after {self.settings.retries} retries; check "
            "endpoint, model and key, then start the same build again: what was answered is kept"
        )


class _BrokenOff(Exception):
    """A response whose body did not end well; the message says how."""


def _body(pieces: Iterator[bytes], seconds: float) -> bytes:
    """A response's body, of limited size and in limited time; raises :class:`_BrokenOff`."""
    deadline = time.monotonic() + seconds
    body = b""
    try:
        for piece in pieces:
            body += piece
            if len(body) > MOST_BYTES:
                raise _BrokenOff(f"sent more than {MOST_BYTES} bytes")
            if time.monotonic() > deadline:
                raise _BrokenOff(f"was not done in {seconds:g} seconds")
    except _BrokenOff:
        raise
    except Exception as error:  # the HTTP library's own, whichever it is: the endpoint's fault
        raise _BrokenOff(f"broke off ({type(error).__name__})") from None
    return body


def _connect(settings: Settings, where: str) -> "OpenAI":
    try:
        from openai import OpenAI
    except ImportError:
        raise UsageError(
            f"{where}: the package openai is not installed; pip install 'causal-exams[llm]'"
        ) from None
    endpoint = settings.endpoint or os.environ.get(settings.endpoint_env, "")
    if not endpoint:
        raise UsageError(
            f"{where}.endpoint_env: the variable {settings.endpoint_env} is not set; set it "
            "to the endpoint's URL"
        )
    check_endpoint(endpoint, f"{where}: the endpoint")
    return OpenAI(
        base_url=endpoint,
        # Local servers want no key, but the client insists on one.
        api_key=os.environ.get(settings.key_env) or "none",
        max_retries=settings.retries,
        timeout=settings.seconds,
    )


def json_object(reply: str) -> Mapping[str, Any]:
    """The first JSON object in a reply, past any thinking aloud and fences.

    Raises :class:`Malformed` when there is none.
    """
    text = re.sub(r"<think>.*?</think>", "", reply, flags=re.DOTALL)
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(50):
        if start < 0:
            break
        try:
            found, _end = decoder.raw_decode(text, start)
        except RecursionError:
            break
        except ValueError:
            start = text.find("{", start + 1)
            continue
        if isinstance(found, dict):
            return found
    raise Malformed("it holds no complete JSON object")


# --- reading members -----------------------------------------------------------------------------


def text_of(entry: Mapping[str, Any], key: str, most: int = 400) -> str:
    """A string member, spaces tidied; raises :class:`Malformed` if it is absent or too long."""
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise Malformed(f'"{key}" must be a string that is not empty')
    tidy = " ".join(value.split())
    if len(tidy) > most:
        raise Malformed(f'"{key}" has more than {most} characters')
    return tidy


def remark_of(entry: Mapping[str, Any], key: str) -> str:
    """A string member that may be absent, cut to 300 characters."""
    value = entry.get(key)
    return " ".join(value.split())[:300] if isinstance(value, str) else ""


def flag_of(entry: Mapping[str, Any], key: str) -> bool:
    """A truth value; raises :class:`Malformed`."""
    value = entry.get(key)
    if not isinstance(value, bool):
        raise Malformed(f'"{key}" must be true or false')
    return value


def entries_of(found: Mapping[str, Any], key: str, most: int = 300) -> list[Mapping[str, Any]]:
    """A list of objects; raises :class:`Malformed`."""
    value = found.get(key)
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise Malformed(f'"{key}" must be a list of objects')
    if len(value) > most:
        raise Malformed(f'"{key}" has more than {most} entries')
    return value


def remarks_of(found: Mapping[str, Any], key: str) -> list[str]:
    """Up to eight strings of a list that may be absent, each cut to 300 characters."""
    value = found.get(key)
    texts = [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
    return [" ".join(text.split())[:300] for text in texts[:8]]

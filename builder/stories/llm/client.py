"""A client that asks a model for JSON; replies are recorded, capped, repaired.

Private transcripts hold the requests made for a scene and their replies, so that none is made
twice: one JSONL file per attempt at a scene's words, under a name made from its key. A line holds
the hash of a request, the request and the reply, and never the key or the address of the endpoint.
A request made for the n-th time gets the n-th recorded reply, so a rebuild repeats the run.
"""

import hashlib
import json
import os
import re
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from builder.stories.llm.settings import Settings
from builder.stories.texts import Texts
from builder.stories.verbalise import NarrationFailed
from grader.errors import UsageError
from grader.io.jsonio import canonical_json

if TYPE_CHECKING:
    from openai import OpenAI

Message = dict[str, str]

_TEXTS: Final = Texts(__file__)
_DIRECT: Final = _TEXTS("direct_effect")

MAPPER: Final = _TEXTS("mapper", direct_effect=_DIRECT)
PRE_AUDITOR: Final = _TEXTS("pre_auditor", direct_effect=_DIRECT)
AUDITOR: Final = _TEXTS("auditor", direct_effect=_DIRECT)
WRITER: Final = _TEXTS("writer")
VERIFIER: Final = _TEXTS("verifier")

MOST_CHARACTERS: Final = 60_000
"""Longer replies are cut, and then are no JSON."""
MOST_BYTES: Final = 4_000_000
"""Larger responses are refused: no chat completion is that long."""
_ECHOED: Final = 12_000
"""Characters of a bad reply that are shown to the model again."""

Verdict = tuple[Sequence[str], Sequence[str], Sequence[str]]
"""What is wrong with a draft: violations, warnings and yellow flags."""


def line(most: int) -> AfterValidator:
    """Return a validator that makes spaces single and refuses all but 1 to ``most`` characters."""

    def check(text: str) -> str:
        tidy = " ".join(text.split())
        if not 0 < len(tidy) <= most:
            raise ValueError(f"must have 1 to {most} characters")
        return tidy

    return AfterValidator(check)


Remark = Annotated[
    str,
    BeforeValidator(lambda found: " ".join(found.split())[:300] if isinstance(found, str) else ""),
]
"""A text that may be absent, in single spaces, cut to 300 characters."""

Remarks = Annotated[
    tuple[Remark, ...], BeforeValidator(lambda found: found[:8] if isinstance(found, list) else ())
]
"""Up to eight remarks; what is no list holds none."""


class Reply(BaseModel):
    """The base of models for an object in a reply; members not declared are ignored."""

    model_config = ConfigDict(frozen=True)


Made = TypeVar("Made", bound=Reply)


def conversation(system: str, content: Mapping[str, object]) -> list[Message]:
    """Return a request's two messages: the role's text, and non-empty material as JSON."""
    return [{"role": "system", "content": system}, {"role": "user", "content": _as_json(content)}]


def _as_json(content: Mapping[str, object]) -> str:
    """Return material as JSON text, without members that are None or empty (0 and False stay)."""
    filled = {key: value for key, value in content.items() if value not in (None, [], (), {}, "")}
    return json.dumps(filled, ensure_ascii=False, indent=1)


class Client:
    """One scene's access to the model, within a budget, by its transcript (named by ``key``)."""

    def __init__(self, settings: Settings, key: bytes) -> None:
        self.settings = settings
        name = hashlib.sha256(b"causal-exams transcript\0" + key).hexdigest()[:32]
        self._path = Path(settings.transcripts) / f"{name}.jsonl"
        # Those of earlier runs, in order, by the hash of the request.
        self._replies: defaultdict[str, deque[str]] = defaultdict(deque)
        self._read()
        self._calls = 0
        self._openai: OpenAI | None = None

    def ask(self, stage: str, messages: Sequence[Message]) -> str:
        """Return the text of the model's reply, recorded or new; both count as calls. ``stage``
        labels it in the record. Raises :class:`NarrationFailed` when the scene's calls are used up,
        ``UsageError`` when the endpoint cannot be asked: the build stops and can be resumed."""
        settings = self.settings
        self._calls += 1
        if self._calls > settings.budgets.calls:
            raise NarrationFailed("llm: call budget exhausted")
        request: dict[str, Any] = {"model": settings.model, "messages": list(messages)}
        if settings.temperature is not None:
            request["temperature"] = settings.temperature
        if settings.reply_tokens:
            request["max_tokens"] = settings.reply_tokens
        if settings.json_mode:
            request["response_format"] = {"type": "json_object"}
        if recorded := self._replies[request_hash(request)]:
            return recorded.popleft()
        reply = self._send(request)
        self._record(stage, request, reply)
        return reply

    def ask_json(
        self,
        stage: str,
        messages: Sequence[Message],
        model: type[Made],
        lacks: Callable[[Made], Iterable[str]] = lambda reply: (),
    ) -> Made:
        """Return the reply as a ``model``, asked for again if it is none or ``lacks`` yields
        anything. Raises :class:`NarrationFailed` when the repairs are used up."""
        thread = list(messages)
        for _ in range(self.settings.budgets.repairs + 1):
            text = self.ask(stage, thread)
            try:
                reply = model.model_validate(json_object(text))
                if missing := [*lacks(reply)]:
                    raise ValueError(f"it has no verdict on {'; '.join(missing[:12])}")
                return reply
            except ValueError as problem:
                fault = str(problem)
                if isinstance(problem, ValidationError):
                    first = problem.errors()[0]
                    fault = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
                complaint = (
                    f"That reply cannot be used: {fault}. Send the whole JSON object "
                    "again, mended, and nothing else."
                )
            thread = [*messages, *_with_complaint(text[:_ECHOED], complaint)]
        raise NarrationFailed(f"llm: no usable JSON from the {stage}")

    def ask_revised(
        self,
        stage: str,
        messages: Sequence[Message],
        model: type[Made],
        judge: Callable[[Made], Verdict],
        budget: Literal["mapping", "story"],
        draft: Made | None = None,
    ) -> Made:
        """Return the first draft in which ``judge`` finds no violation; the model revises others.
        ``draft`` is judged first; without it the model writes one. Warnings and yellow flags stop
        no draft. Raises :class:`NarrationFailed` when the ``budget`` of judgements is used up."""
        most: int = getattr(self.settings.budgets, budget)
        draft = self.ask_json(stage, messages, model) if draft is None else draft
        for turn in range(1, most + 1):
            violations, warnings, flags = judge(draft)
            if not violations:
                return draft
            if turn < most:
                found = {"violations": violations[:20], "warnings": warnings, "yellow_flags": flags}
                complaint = _TEXTS("complaint", found=_as_json(found))
                reply = json.dumps(draft.model_dump(mode="json"), ensure_ascii=False)
                thread = [*messages, *_with_complaint(reply, complaint)]
                draft = self.ask_json(stage, thread, model)
        raise NarrationFailed(f"llm: {budget} budget exhausted")

    def _send(self, request: Mapping[str, Any]) -> str:
        """Return the endpoint's reply, cut to ``MOST_CHARACTERS``, or raise ``UsageError``."""
        try:
            from openai import APIConnectionError, APIStatusError, OpenAI
        except ImportError:
            what = "the package openai is not installed; pip install 'causal-exams[llm]'"
            raise UsageError(f"llm: {what}") from None
        client = self._openai = self._openai or OpenAI(
            base_url=self.settings.endpoint,
            # Local servers want no key, but the client insists on one.
            api_key=os.environ.get(self.settings.key_env) or "none",
            max_retries=self.settings.retries,
            timeout=self.settings.seconds,
        )
        deadline, body = time.monotonic() + self.settings.seconds, b""
        try:
            with client.chat.completions.with_streaming_response.create(**request) as response:
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > MOST_BYTES or time.monotonic() > deadline:
                        raise OverflowError(f"more than {MOST_BYTES} bytes, or too slow")
            content = json.loads(body)["choices"][0]["message"]["content"]
            return str(content or "")[:MOST_CHARACTERS]
        except APIStatusError as error:
            what = f"answered with status {error.status_code}"
        except APIConnectionError as error:  # time-outs are among them
            what = f"did not answer ({type(error).__name__})"
        except Exception as error:  # also the HTTP library's own, whichever it is
            what = f"sent no chat completion ({type(error).__name__})"
        # The server's own message is left out, because it may repeat the key.
        raise UsageError(
            f"llm: the endpoint {what} after {self.settings.retries} retries; check "
            "endpoint, model and key, then start the same build again: what was answered is kept"
        )

    def _record(self, stage: str, request: Mapping[str, Any], reply: str) -> None:
        """Append a call to the file; ``UsageError`` where it cannot be written."""
        digest = request_hash(request)
        line = {"hash": digest, "stage": stage, "request": request, "reply": reply}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(line, ensure_ascii=True) + "\n")
        except OSError as error:
            raise UsageError(
                f"{self._path}: cannot be written ({error.strerror}); name another folder in "
                "llm.transcripts"
            ) from None

    def _read(self) -> None:
        """Read the calls and cut off a torn last line; ``UsageError`` for other damage."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise UsageError(
                f"{self._path}: cannot be read ({error.strerror}); give yourself access"
            ) from None
        whole, _, torn = data.rpartition(b"\n")
        if torn:  # an interrupted write: the next line must not join it
            os.truncate(self._path, len(data) - len(torn))
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                entry = json.loads(line)
                digest, reply = entry["hash"], entry["reply"]
                good = isinstance(reply, str) and request_hash(entry["request"]) == digest
            except (ValueError, LookupError, TypeError):
                good = False
            if not good:
                raise UsageError(
                    f"{self._path}: line {number} is damaged; delete the file, and the scene is "
                    "told again by the model"
                )
            self._replies[digest].append(reply)


def _with_complaint(reply: str, complaint: str) -> list[Message]:
    return [{"role": "assistant", "content": reply}, {"role": "user", "content": complaint}]


def json_object(reply: str) -> Mapping[str, Any]:
    """Return the first complete JSON object in a reply past ``<think>``, or ``ValueError``."""
    text = re.sub(r"<think>.*?</think>", "", reply, flags=re.DOTALL)
    for brace in islice(re.finditer(r"\{", text), 50):
        try:
            found: dict[str, Any] = json.JSONDecoder().raw_decode(text, brace.start())[0]
        except RecursionError:
            break
        except ValueError:
            continue
        return found
    raise ValueError("it holds no complete JSON object")


def request_hash(request: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a request's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical_json(request).encode()).hexdigest()

"""A model's replies over HTTP, whatever the endpoint sends: bounded in size and in time.

A client's own timeout is one for each read, so that a byte every half second would hold a run for
ever, and it keeps whatever body it is sent. Here a reply has one deadline, from the request to its
last byte, and one size, whether it is an answer or an error.
"""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.draw.words import printable

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Messages = list[dict[str, str]]


class NoReply(Exception):
    """There is no reply; the message says why in one printable line."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of a reply, without anything that is no Unicode, and what it has cost."""

    text: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where replies come from, and what one may take.

    ``stall`` seconds without a byte are tried again, as is a busy or failing server, ``retries``
    times; ``seconds`` bound all of that together; ``size`` is in bytes.
    """

    base_url: str
    model: str
    key: str
    stall: float
    seconds: float
    size: int
    retries: int

    def ask(self, messages: Messages) -> Reply:
        """The model's next reply; raises :class:`NoReply` and, without openai, ImportError."""
        try:
            return asyncio.run(asyncio.wait_for(self._ask(messages), self.seconds))
        except TimeoutError:
            raise NoReply(f"no whole reply in {self.seconds:g} s (--reply-timeout)") from None

    async def _ask(self, messages: Messages) -> Reply:
        from openai import OpenAIError

        client = _client(self)
        try:
            response: Any = await client.chat.completions.create(
                model=self.model,
                messages=messages,  # type: ignore[arg-type]
            )
            return _reply(response)
        except (
            OpenAIError, ValueError, TypeError, AttributeError, LookupError, RecursionError,
        ) as error:  # fmt: skip
            # Whatever an endpoint sends (HTML, half a JSON text, no choices) ends this reply only.
            text = " ".join(f"{type(error).__name__}: {error}"[:2000].split())
            raise NoReply(printable(text)[:300]) from None
        finally:
            await client.close()


def _client(endpoint: Endpoint) -> "AsyncOpenAI":
    from openai import APIError, AsyncOpenAI, DefaultAsyncHttpxClient

    class Bounded(DefaultAsyncHttpxClient):
        """Reads every body itself, as it comes over the wire and no further than is allowed."""

        async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
            response = await super().send(request, stream=True, **options)
            try:
                if response.headers.get("content-encoding", "identity") != "identity":
                    raise APIError(
                        "a compressed reply, which was not asked for", request, body=None
                    )
                body = bytearray()
                async for part in response.aiter_raw():
                    body += part
                    if len(body) > endpoint.size:
                        told = f"a reply of over {endpoint.size >> 20} MiB (--max-reply-mib)"
                        raise APIError(told, request, body=None)
            finally:
                await response.aclose()
            return type(response)(
                response.status_code, headers=response.headers, content=bytes(body), request=request
            )

    return AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.key,
        max_retries=endpoint.retries,
        timeout=endpoint.stall,
        http_client=Bounded(headers={"Accept-Encoding": "identity"}),
    )


def _reply(response: Any) -> Reply:
    content = response.choices[0].message.content
    if not isinstance(content, str | None):
        raise TypeError(f"the content is {type(content).__name__}, not text")
    # Half of a surrogate pair is legal JSON and no text: it could be neither sent back nor written.
    text = (content or "").encode("utf-8", "replace").decode("utf-8")
    usage = response.usage
    return Reply(
        text,
        _tokens(getattr(usage, "prompt_tokens", 0)),
        _tokens(getattr(usage, "completion_tokens", 0)),
    )


def _tokens(count: Any) -> int:
    """A plausible count, else 0: what is no number must not end in the ledger."""
    plausible = isinstance(count, int | float) and not isinstance(count, bool)
    return int(count) if plausible and 0 <= count <= 1e12 else 0

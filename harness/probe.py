"""Whether there is such a model, and whether it answers: asked before the first task is."""

import asyncio
from contextlib import suppress
from typing import Any, Final

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig, Model, get_model
from pydantic import ValidationError
from rich.errors import MarkupError
from rich.text import Text
from tenacity import RetryError

from grader.draw.words import printable
from grader.errors import UsageError

_TOLD: Final = 300


def told(error: BaseException) -> str:
    """An error of Inspect's, or of a model's client, in one line without markup."""
    words = str(error.message) if isinstance(error, PrerequisiteError) else str(error)
    with suppress(MarkupError):
        words = Text.from_markup(words).plain
    return printable(" ".join(words.split()).removeprefix("ERROR: "))[:_TOLD]


def check_config(config: dict[str, Any]) -> None:
    """Raise ``UsageError`` for options of generation that Inspect does not know."""
    try:
        GenerateConfig(**config)
    except ValidationError as error:
        raise UsageError(f"-G: {told(Exception(error.errors()[0]['msg']))}") from None


def made(name: str, base_url: str | None, arguments: dict[str, Any]) -> Model:
    """The model; raises ``UsageError`` for a name, a package or a key that is not there."""
    try:
        return get_model(name, base_url=base_url, memoize=False, **arguments)
    except (PrerequisiteError, ValueError, TypeError) as error:
        raise UsageError(f"--model {name}: {told(error)}") from None


def problem(model: Model, seconds: int) -> str:
    """Ask one short question; what is wrong, empty if nothing."""

    async def ask() -> None:
        config = GenerateConfig(max_tokens=16, max_retries=1, timeout=seconds)
        async with asyncio.timeout(seconds):
            await model.generate("Reply with the word ready.", config=config)

    try:
        asyncio.run(ask())
    except KeyboardInterrupt:
        raise
    except TimeoutError:
        return f"no reply in {seconds} s (--probe-timeout)"
    except Exception as found:
        # Whatever a provider raises: its own words say it best.
        error: BaseException = found
        while isinstance(error, RetryError):
            error = error.last_attempt.exception() or Exception("no reply")
        return f"{type(error).__name__}: {told(error)}"
    return ""

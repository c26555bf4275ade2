"""The model of a run as Inspect gives it, and its faults in one line each."""

from contextlib import suppress
from typing import Any, Final

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage, get_model
from pydantic import ValidationError
from rich.errors import MarkupError
from rich.text import Text

from grader.draw.words import printable
from grader.errors import UsageError

_MOST_CHARACTERS: Final = 300
_MOCK: Final = "mockllm/"
_MOCK_REPLY: Final = "Default output from mockllm/model"


def one_line(error: BaseException) -> str:
    """Return an error of Inspect's, or of a model's client, as one line without markup."""
    words = str(error.message) if isinstance(error, PrerequisiteError) else str(error)
    with suppress(MarkupError):
        words = Text.from_markup(words).plain
    return printable(" ".join(words.split()).removeprefix("ERROR: "))[:_MOST_CHARACTERS]


def check_config(config: dict[str, Any]) -> None:
    """Raise ``UsageError`` for options of generation that Inspect does not know."""
    try:
        GenerateConfig(**config)
    except ValidationError as error:
        raise UsageError(f"-G: {one_line(Exception(error.errors()[0]['msg']))}") from None


def model_settings(name: str, base_url: str | None, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the model as the arguments ``model``, ``model_base_url``, ``model_args`` of Inspect.

    Raises ``UsageError`` for a name, a package or a key that is not there.
    """
    if name.startswith(_MOCK):
        arguments = {"custom_outputs": mock_reply, **arguments}
    try:
        get_model(name, base_url=base_url, memoize=False, **arguments)
    except (PrerequisiteError, ValueError, TypeError) as error:
        raise UsageError(f"--model {name}: {one_line(error)}") from None
    return {"model": name, "model_base_url": base_url, "model_args": arguments}


def mock_reply(messages: list[Any], tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
    """Return the mock model's one reply with its tokens counted, four characters as one.

    By itself Inspect counts them with a tokenizer, which it fetches from the network.
    """
    output = ModelOutput.from_content(f"{_MOCK}model", _MOCK_REPLY)
    given, written = sum(len(m.text) for m in messages) // 4, len(_MOCK_REPLY) // 4
    output.usage = ModelUsage(
        input_tokens=given, output_tokens=written, total_tokens=given + written
    )
    return output

"""The model of a run as Inspect gives it, its prices, and its faults in one line each."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import yaml
from inspect_ai.model import (
    GenerateConfig,
    ModelCost,
    ModelInfo,
    ModelOutput,
    ModelUsage,
    get_model,
    get_model_info,
    set_model_info,
)
from pydantic import ValidationError
from rich.errors import MarkupError
from rich.text import Text

from grader.errors import UsageError
from grader.io.names import did_you_mean
from grader.pages.words import printable

_MOST_CHARACTERS: Final = 300
_MOCK: Final = "mockllm/"
_MOCK_REPLY: Final = "Default output from mockllm/model"
_COSTS: Final = "--model-cost-config"


def is_of_inspect(error: BaseException) -> bool:
    """Return whether an error is of a class of Inspect's own: what it needs is not there."""
    return type(error).__module__.partition(".")[0] == "inspect_ai"


def one_line(error: BaseException) -> str:
    """Return an error of Inspect's, or of a model's client, as one line without markup."""
    # The errors of Inspect's own say what is missing in ``message``, and have no arguments.
    words = str(getattr(error, "message", None) or error)
    with suppress(MarkupError):
        words = Text.from_markup(words).plain
    return printable(" ".join(words.split()).removeprefix("ERROR: "))[:_MOST_CHARACTERS]


def check_config(config: dict[str, Any]) -> None:
    """Raise ``UsageError`` for options of generation that Inspect does not know."""
    try:
        GenerateConfig(**config)
    except ValidationError as error:
        raise UsageError(f"-G: {one_line(Exception(error.errors()[0]['msg']))}") from None


def model_settings(name: str, base_url: str | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the model as the arguments ``model``, ``model_base_url``, ``model_args`` of Inspect.

    Raises ``UsageError`` for a name, a package or a key that is not there.
    """
    if name.startswith(_MOCK):
        arguments = {"custom_outputs": mock_reply, **arguments}
    try:
        get_model(name, base_url=base_url, memoize=False, **arguments)
    except Exception as error:
        if not (is_of_inspect(error) or isinstance(error, ValueError | TypeError)):
            raise
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


def prices(path: str, used: frozenset[str]) -> dict[str, ModelCost]:
    """Return the prices in a file of YAML or JSON: model to dollars per million tokens.

    A model that Inspect has never heard of, such as a local one, is made known to it; of those that
    are ``used`` one at least must be named. Raises ``UsageError``.
    """
    try:
        given = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{_COSTS} {path}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise UsageError(f"{_COSTS} {path}: is neither YAML nor JSON") from None
    if not isinstance(given, dict):
        raise UsageError(f"{_COSTS} {path}: write the prices under each model's name")
    found = {str(name): _price(f"{path}: {name}", price) for name, price in given.items()}
    if not used & found.keys():
        near = did_you_mean(min(used), found)
        raise UsageError(f"{_COSTS} {path}: has no {' nor '.join(sorted(used))}{near}")
    for name in found:
        if get_model_info(name) is None:
            set_model_info(name, ModelInfo())
    return found


def _price(where: str, price: object) -> ModelCost:
    try:
        return ModelCost.model_validate(price)
    except ValidationError as error:
        first = error.errors()[0]
        member = ".".join(map(str, first["loc"])) or "price"
        raise UsageError(
            f"{_COSTS} {where}: {member}: {first['msg']}; give "
            f"{', '.join(ModelCost.model_fields)}, each in dollars per million tokens"
        ) from None

"""Inspect's mock model (``mockllm/model``) with counted tokens.

By itself it counts them with a tokenizer, which it fetches from the network.
"""

from typing import Any, Final

from inspect_ai.model import ModelOutput, ModelUsage

_NAME: Final = "mockllm/"
_REPLY: Final = "Default output from mockllm/model"


def is_mock(model: str) -> bool:
    """Whether a name is that of the mock model."""
    return model.startswith(_NAME)


def mocked(messages: list[Any], tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
    """The mock model's one reply; four characters count as a token."""
    output = ModelOutput.from_content(_NAME + "model", _REPLY)
    asked, said = sum(len(m.text) for m in messages) // 4, len(_REPLY) // 4
    output.usage = ModelUsage(input_tokens=asked, output_tokens=said, total_tokens=asked + said)
    return output

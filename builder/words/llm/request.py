"""What one scene hands to the language model path: how to ask, and pairs to start from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from builder.words.llm.settings import Settings


@dataclass(frozen=True, slots=True)
class Seed:
    """Names for two nodes, by node, and a field that they come from (or nothing)."""

    names: tuple[tuple[str, str], ...]
    hint: str = ""

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> "Seed":
        """A seed from what ``dataclasses.asdict`` made of it."""
        return Seed(tuple((node, name) for node, name in record["names"]), record["hint"])


@dataclass(frozen=True, slots=True)
class Request:
    """How a language model is asked for the words of a scene, and known causal pairs for it.

    ``where`` is the place of the settings in a split file, for messages.
    """

    settings: Settings
    where: str
    seeds: tuple[Seed, ...] = ()

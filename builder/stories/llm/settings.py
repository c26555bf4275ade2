"""The ``llm`` table of a track that tells scenes by a language model."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass as checked

from builder.splits.settings import STRICT, Fault, Text, Variable
from grader.io.jsonio import clip

PLACES: Final = ("endpoint", "key_env", "transcripts", "causenet")
"""Keys that belong to one machine: neither manifest nor world rows show them."""

_Tries = Annotated[int, Field(ge=1, le=50)]


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise Fault(f'must be a day such as "2026-11-22", not {clip(text)}') from None


@checked(frozen=True, slots=True, config=STRICT)
class Budgets:
    """How often things may be tried for one scene, before it is replaced.

    ``seeds``, ``mapping`` and ``story`` are R, T and S of Algorithm 1 (R = 0: no seeds);
    ``repairs`` counts re-asks for one reply that is no usable JSON, ``calls`` all requests.
    """

    seeds: Annotated[int, Field(ge=0, le=50)] = 5
    mapping: _Tries = 6
    story: _Tries = 6
    repairs: Annotated[int, Field(ge=0, le=10)] = 2
    calls: Annotated[int, Field(ge=4, le=2000)] = 150


@checked(frozen=True, slots=True, config=STRICT)
class Settings:
    """Which model to ask, where, and within which limits.

    The variable ``key_env`` holds the key. ``seconds`` is the time limit of one request,
    ``retries`` how often the client repeats one that met 429, 5xx or a time-out, ``reply_tokens``
    the cap on one reply (0: not sent). Without ``causenet`` (a path) seeds come from the knowledge
    graph. ``told_on`` is the day on which the stories were told, for the card.
    """

    model: Annotated[Text, Field(description="the model's name at the endpoint")]
    endpoint: str = ""
    key_env: Variable = "OPENAI_API_KEY"
    transcripts: Text = "llm-transcripts"
    causenet: Text | None = None
    seconds: Annotated[float, Field(ge=0.01, le=86_400)] = 120.0
    retries: Annotated[int, Field(ge=0, le=20)] = 5
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    reply_tokens: Annotated[int, Field(ge=0, le=200_000)] = 6000
    json_mode: bool = False
    seeding_required: bool = False
    told_on: Annotated[str, AfterValidator(_day)] | Literal[""] = ""
    budgets: Annotated[Budgets, Field(description="a table such as { mapping = 6, story = 6 }")] = (
        Budgets()
    )

    def without_places(self) -> "Settings":
        """Return the settings for a world row: those in ``PLACES`` are set to their defaults."""
        default = Settings(self.model)
        return replace(self, **{name: getattr(default, name) for name in PLACES})


def table_without_places(table: Mapping[str, object]) -> dict[str, object]:
    """Return a track's table of a split file, the keys in ``PLACES`` left out of its ``llm``."""
    llm = table.get("llm")
    if not isinstance(llm, Mapping):
        return dict(table)
    return {**table, "llm": {key: llm[key] for key in llm if key not in PLACES}}


def _check_places(settings: Settings) -> Settings:
    """Return the settings. Raises ``Fault`` for an endpoint that is no http(s) URL or holds a
    secret, and for transcripts in a public folder."""
    try:
        parts = urlsplit(settings.endpoint)
        is_plain = parts.scheme in ("http", "https") and bool(parts.hostname)
        has_secret = bool(parts.query or parts.username or parts.password)
    except ValueError:
        is_plain = has_secret = False
    if has_secret:
        raise Fault("holds a user, password or query; put the key into key_env", "endpoint")
    if not is_plain:
        raise Fault("must be an http(s) URL such as http://127.0.0.1:8000/v1", "endpoint")
    folder = Path(settings.transcripts)
    around = (folder.resolve(), *folder.resolve().parents)
    published = (path.name == "public" and (path / "manifest.json").is_file() for path in around)
    if "public" in folder.parts or any(published):
        raise Fault(
            f"{folder} lies in a public folder; a transcript tells the truth, name a private one",
            "transcripts",
        )
    return settings


LlmTable = Annotated[Settings, AfterValidator(_check_places)]
"""The table as a split file has it."""

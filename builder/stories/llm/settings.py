"""The ``llm`` table of a track that tells scenes by a language model; what a scene gets of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass as checked

from builder.splits.settings import STRICT, Fault
from builder.splits.values import Text, Variable
from grader.errors import UsageError
from grader.io.jsonio import clip

PROVIDERS: Final = ("endpoint", "endpoint_env")
"""Keys that say who is asked: exactly one of them is given."""

PLACES: Final = (*PROVIDERS, "key_env", "transcripts", "causenet")
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

    ``seeds``, ``mapping`` and ``story`` are R, T and S of the paper's Algorithm 1 (R = 0: no
    seeds); ``repairs`` counts re-asks for one reply that is not the JSON asked for, ``calls`` all
    requests together.
    """

    seeds: Annotated[int, Field(ge=0, le=50)] = 5
    mapping: _Tries = 6
    story: _Tries = 6
    repairs: Annotated[int, Field(ge=0, le=10)] = 2
    calls: Annotated[int, Field(ge=4, le=2000)] = 150


@checked(frozen=True, slots=True, config=STRICT)
class Settings:
    """Which model to ask, where and how patiently.

    ``endpoint`` or the variable ``endpoint_env`` gives the address, the variable ``key_env`` the
    key. ``seconds`` is the time limit of one request, ``retries`` how often the client repeats one
    that met 429, 5xx or a time-out, ``per_minute`` the largest number of requests of all workers
    together (0: no limit), ``reply_tokens`` the cap on one reply (0: not sent). ``causenet`` is the
    path of a CauseNet file; without it, seeds come from the knowledge graph. ``told_on`` is the day
    on which the stories were told, for the card. A blank text is one that is not said.
    """

    model: Annotated[Text, Field(description="the model's name at the endpoint")]
    endpoint: str = ""
    endpoint_env: Variable | Literal[""] = ""
    key_env: Variable = "OPENAI_API_KEY"
    transcripts: Text = "llm-transcripts"
    causenet: Text | None = None
    seconds: Annotated[float, Field(ge=0.01, le=86_400)] = 120.0
    retries: Annotated[int, Field(ge=0, le=20)] = 5
    per_minute: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    reply_tokens: Annotated[int, Field(ge=0, le=200_000)] = 6000
    json_mode: bool = False
    seeding_required: bool = False
    merged_audit: bool = True
    told_on: Annotated[str, AfterValidator(_day)] | Literal[""] = ""
    budgets: Annotated[Budgets, Field(description="a table such as { mapping = 6, story = 6 }")] = (
        Budgets()
    )

    def without_places(self) -> "Settings":
        """The settings that a world row may show."""
        default = Settings(self.model)
        return replace(self, **{name: getattr(default, name) for name in PLACES})

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> "Settings":
        """Settings from what ``dataclasses.asdict`` made of them."""
        return Settings(**{**record, "budgets": Budgets(**record["budgets"])})


@dataclass(frozen=True, slots=True)
class Seed:
    """Names for two nodes, by node, cause first, and a field that they come from (or nothing);
    ``support`` is how often CauseNet found the pair, 0 where that is not known."""

    names: tuple[tuple[str, str], ...]
    hint: str = ""
    support: int = 0

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> "Seed":
        """A seed from what ``dataclasses.asdict`` made of it."""
        names = tuple((node, name) for node, name in record["names"])
        return Seed(names, record["hint"], record.get("support", 0))


@dataclass(frozen=True, slots=True)
class Request:
    """How a language model is asked for the words of a scene, and known causal pairs for it.

    ``where`` is the place of the settings in a split file, for messages.
    """

    settings: Settings
    where: str
    seeds: tuple[Seed, ...] = ()


def published(table: Mapping[str, object]) -> dict[str, object]:
    """A track's table of a split file without the places that its ``llm`` table names."""
    llm = table.get("llm")
    if not isinstance(llm, Mapping):
        return dict(table)
    return {**table, "llm": {key: llm[key] for key in llm if key not in PLACES}}


def is_public(folder: Path) -> bool:
    """Whether a folder is called public on its way, or lies on the public side of a release."""
    real = folder.resolve()
    sides = [path for path in (real, *real.parents) if path.name == "public"]
    return "public" in folder.parts or any((path / "manifest.json").is_file() for path in sides)


def check_endpoint(endpoint: str, where: str) -> None:
    """Raises ``UsageError`` for an address that is no plain http(s) URL."""
    if problem := _endpoint_problem(endpoint):
        raise UsageError(f"{where}: {problem}")


def _endpoint_problem(endpoint: str) -> str:
    """What is wrong with an address, or nothing."""
    try:
        parts = urlsplit(endpoint)
        plain = parts.scheme in ("http", "https") and bool(parts.hostname)
        secret = bool(parts.query or parts.username or parts.password)
    except ValueError:
        plain = secret = False
    if secret:
        return "holds a user, password or query; put the key into key_env"
    return "" if plain else "must be an http(s) URL such as http://127.0.0.1:8000/v1"


def _check_places(settings: Settings) -> Settings:
    if sum(bool(getattr(settings, key)) for key in PROVIDERS) != 1:
        what = "give one of endpoint and endpoint_env, such as endpoint"
        raise Fault(f'{what} = "http://127.0.0.1:8000/v1"', "endpoint")
    if settings.endpoint and (problem := _endpoint_problem(settings.endpoint)):
        raise Fault(problem, "endpoint")
    if is_public(Path(settings.transcripts)):
        raise Fault(
            f"{settings.transcripts} lies in a public folder; a transcript tells the truth, name a "
            "private one",
            "transcripts",
        )
    return settings


LlmTable = Annotated[Settings, AfterValidator(_check_places)]
"""The table as a split file has it."""

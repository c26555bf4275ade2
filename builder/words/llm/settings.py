"""The ``llm`` table of a track that tells scenes by a language model; what a scene gets of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from builder.settings import TomlTable
from grader.errors import UsageError

_LONGEST_WAIT: Final = 86_400.0

_BUDGETS: Final = {
    "seeds": (0, 50),
    "mapping": (1, 50),
    "story": (1, 50),
    "repairs": (0, 10),
    "calls": (4, 2000),
}
"""Least and largest number by name."""

_KEYS: Final[Mapping[str, Callable[[TomlTable, str], Any]]] = {
    "seconds": lambda table, key: table.number(key, 0.01, _LONGEST_WAIT),
    "per_minute": lambda table, key: table.number(key, 0.0, 1e6),
    "temperature": lambda table, key: table.number(key, 0.0, 2.0),
    "retries": lambda table, key: table.whole(key, 0, 20),
    "reply_tokens": lambda table, key: table.whole(key, 0, 200_000),
    **dict.fromkeys(("json_mode", "seeding_required", "merged_audit"), TomlTable.flag),
    **dict.fromkeys(("endpoint", "transcripts", "causenet"), TomlTable.text),
    "told_on": lambda table, key: _day(table, key),
    **dict.fromkeys(("endpoint_env", "key_env"), TomlTable.variable),
}
"""How each key but the model and the budgets is read."""

PROVIDERS: Final = ("endpoint", "endpoint_env")
"""Keys that say who is asked: exactly one of them is given."""

PLACES: Final = (*PROVIDERS, "key_env", "transcripts", "causenet")
"""Keys that belong to one machine: neither manifest nor world rows show them."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """How often things may be tried for one scene, before it is replaced.

    ``seeds``, ``mapping`` and ``story`` are R, T and S of the paper's Algorithm 1 (R = 0: no
    seeds); ``repairs`` counts re-asks for one reply that is not the JSON asked for, ``calls`` all
    requests together.
    """

    seeds: int = 5
    mapping: int = 6
    story: int = 6
    repairs: int = 2
    calls: int = 150


@dataclass(frozen=True, slots=True)
class Settings:
    """Which model to ask, where and how patiently.

    ``endpoint`` or the variable ``endpoint_env`` gives the address, the variable ``key_env`` the
    key. ``seconds`` is the time limit of one request, ``retries`` how often the client repeats one
    that met 429, 5xx or a time-out, ``per_minute`` the largest number of requests of all workers
    together (0: no limit), ``reply_tokens`` the cap on one reply (0: not sent). ``causenet`` is the
    path of a CauseNet file; without it, seeds come from the knowledge graph. ``told_on`` is the day
    on which the stories were told, for the card.
    """

    model: str
    endpoint: str = ""
    endpoint_env: str = ""
    key_env: str = "OPENAI_API_KEY"
    transcripts: str = "llm-transcripts"
    causenet: str | None = None
    seconds: float = 120.0
    retries: int = 5
    per_minute: float = 0.0
    temperature: float | None = None
    reply_tokens: int = 6000
    json_mode: bool = False
    seeding_required: bool = False
    merged_audit: bool = True
    told_on: str = ""
    budgets: Budgets = Budgets()

    def without_places(self) -> "Settings":
        """The settings that a world row may show."""
        default = Settings(self.model)
        return replace(self, **{name: getattr(default, name) for name in PLACES})

    @staticmethod
    def from_json(record: Mapping[str, object]) -> "Settings":
        """Settings from what ``dataclasses.asdict`` made of them."""
        values = dict(record)
        budgets = values.pop("budgets")
        assert isinstance(budgets, Mapping)
        return Settings(**values, budgets=Budgets(**budgets))  # type: ignore[arg-type]


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


def settings_for(words: str, table: TomlTable) -> Settings | None:
    """The settings in a track's table: there exactly when its ``words`` are ``llm``.

    Raises :class:`UsageError` naming the key and the fix.
    """
    if words == "llm":
        what = 'a table such as { endpoint = "…", model = "…" }'
        return parse_settings(table.table("llm", what=what))
    if "llm" in table:
        raise table.problem("llm", 'serves words = "llm" alone; set that, or remove the table')
    return None


def parse_settings(table: TomlTable) -> Settings:
    """The checked table; raises :class:`UsageError` naming the key and the fix."""
    table.only(*Settings.__slots__)
    budgets = table.table("budgets", {}, "a table such as { mapping = 6, story = 6 }")
    budgets.only(*_BUDGETS)
    found: dict[str, Any] = {"model": table.text("model", "the model's name at the endpoint")}
    found |= {key: _KEYS[key](table, key) for key in table.values if key in _KEYS}
    tries = {key: budgets.whole(key, *_BUDGETS[key]) for key in budgets.values}
    settings = Settings(**found, budgets=Budgets(**tries))
    _check_places(settings, table)
    return settings


def published(table: Mapping[str, object]) -> dict[str, object]:
    """A track's table of a split file without the places that its ``llm`` table names."""
    llm = table.get("llm")
    if not isinstance(llm, Mapping):
        return dict(table)
    return {**table, "llm": {key: llm[key] for key in llm if key not in PLACES}}


def _check_places(settings: Settings, table: TomlTable) -> None:
    if sum(bool(getattr(settings, key)) for key in PROVIDERS) != 1:
        raise table.problem(
            "endpoint",
            'give one of endpoint and endpoint_env, such as endpoint = "http://127.0.0.1:8000/v1"',
        )
    if settings.endpoint:
        check_endpoint(settings.endpoint, f"{table.where}endpoint")
    if is_public(Path(settings.transcripts)):
        raise table.problem(
            "transcripts",
            f"{settings.transcripts} lies in a public folder; a transcript tells the truth, name "
            "a private one",
        )


def is_public(folder: Path) -> bool:
    """Whether a folder is called public on its way, or lies on the public side of a release."""
    real = folder.resolve()
    sides = [path for path in (real, *real.parents) if path.name == "public"]
    return "public" in folder.parts or any((path / "manifest.json").is_file() for path in sides)


def _day(table: TomlTable, key: str) -> str:
    text: str = table.text(key)
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise table.wrong(key, 'a day such as "2026-11-22"') from None


def check_endpoint(endpoint: str, where: str) -> None:
    """Raises ``UsageError`` for an address that is no plain http(s) URL."""
    try:
        parts = urlsplit(endpoint)
        plain = parts.scheme in ("http", "https") and bool(parts.hostname)
        secret = bool(parts.query or parts.username or parts.password)
    except ValueError:
        plain = secret = False
    if secret:
        raise UsageError(f"{where}: holds a user, password or query; put the key into key_env")
    if not plain:
        raise UsageError(f"{where}: must be an http(s) URL such as http://127.0.0.1:8000/v1")

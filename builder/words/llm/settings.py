"""The ``[splits.<name>.causalds.llm]`` table of a split file."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import Final
from urllib.parse import urlsplit

from grader.errors import UsageError
from grader.names import did_you_mean

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BUDGETS: Final = {
    "seeds": (0, 50),
    "mapping": (1, 50),
    "story": (1, 50),
    "repairs": (0, 10),
    "calls": (4, 2000),
}
"""Least and largest budget by name."""

PLACES: Final = ("endpoint", "endpoint_env", "key_env", "transcripts", "causenet")
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
    together (0: no limit), ``reply_tokens`` the cap on one reply (0: not sent). ``causenet`` is
    the path of a CauseNet file; without it, seeds come from the knowledge graph.
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


def settings_for(words: object, table: Mapping[str, object], where: str) -> Settings | None:
    """The settings of a causalds table: there exactly when its ``words`` are ``llm``.

    Raises :class:`UsageError` naming the key and the fix.
    """
    if words == "llm":
        return parse_settings(table.get("llm"), f"{where}.llm")
    if "llm" in table:
        raise UsageError(f'{where}.llm: serves words = "llm" alone; set that, or remove the table')
    return None


def parse_settings(value: object, where: str) -> Settings:
    """The checked table; ``where`` is its place in the split file.

    Raises :class:`UsageError` naming the key and the fix.
    """
    if not isinstance(value, Mapping):
        raise UsageError(f'{where}: must be a table such as {{ endpoint = "…", model = "…" }}')
    _only(value, tuple(Settings.__slots__), where)
    model = _text(value, "model", where, "the model's name at the endpoint")
    number = {
        "seconds": (0.01, 3600.0),
        "per_minute": (0.0, 1e6),
        "temperature": (0.0, 2.0),
    }
    whole = {"retries": (0, 20), "reply_tokens": (0, 200_000)}
    found: dict[str, object] = {"model": model}
    for key in value:
        if key in number:
            found[key] = _number(value[key], number[key], f"{where}.{key}")
        elif key in whole:
            found[key] = _whole(value[key], whole[key], f"{where}.{key}")
        elif key in ("json_mode", "seeding_required", "merged_audit"):
            if not isinstance(value[key], bool):
                raise UsageError(f"{where}.{key}: must be true or false, not {value[key]!r}")
            found[key] = value[key]
        elif key in PLACES:
            found[key] = _text(value, key, where, "text")
    settings = Settings(**found)  # type: ignore[arg-type]
    budgets = _budgets(value.get("budgets", {}), f"{where}.budgets")
    _check_places(settings, where)
    return replace(settings, budgets=budgets)


def published(table: Mapping[str, object]) -> dict[str, object]:
    """A track's table of a split file without the places that its ``llm`` table names."""
    llm = table.get("llm")
    if not isinstance(llm, Mapping):
        return dict(table)
    return {**table, "llm": {key: llm[key] for key in llm if key not in PLACES}}


def record(settings: Settings) -> dict[str, object]:
    """The settings as plain JSON members, for a world row."""
    return asdict(settings.without_places())


def _check_places(settings: Settings, where: str) -> None:
    if bool(settings.endpoint) == bool(settings.endpoint_env):
        raise UsageError(
            f"{where}.endpoint: give one of endpoint and endpoint_env, such as "
            'endpoint = "http://127.0.0.1:8000/v1"'
        )
    if settings.endpoint:
        check_endpoint(settings.endpoint, f"{where}.endpoint")
    for key in ("endpoint_env", "key_env"):
        name = getattr(settings, key)
        if name and not _VARIABLE.fullmatch(name):
            # The text is not repeated: who writes a key here must not find it in a log.
            raise UsageError(
                f"{where}.{key}: must be the name of an environment variable, not a value"
            )
    if "public" in PurePath(settings.transcripts).parts:
        raise UsageError(
            f"{where}.transcripts: {settings.transcripts} lies in a public folder; transcripts "
            "tell the truth, name a private one"
        )


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


def _budgets(value: object, where: str) -> Budgets:
    if not isinstance(value, Mapping):
        raise UsageError(f"{where}: must be a table such as {{ mapping = 6, story = 6 }}")
    _only(value, tuple(_BUDGETS), where)
    return Budgets(**{key: _whole(value[key], _BUDGETS[key], f"{where}.{key}") for key in value})


def _only(table: Mapping[str, object], known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}.{key}: unknown key{did_you_mean(key, known)}")


def _text(table: Mapping[str, object], key: str, where: str, hint: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f'{where}.{key}: must be {hint}, as in {key} = "..."')
    return value


def _whole(value: object, bounds: tuple[int, int], where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(f"{where}: must be a whole number, not {value!r}")
    return int(_number(value, bounds, where))


def _number(value: object, bounds: tuple[float, float], where: str) -> float:
    low, high = bounds
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not good or not math.isfinite(float(value)) or not low <= float(value) <= high:  # type: ignore[arg-type]
        raise UsageError(f"{where}: must be a number from {low:g} to {high:g}, not {value!r}")
    return float(value)  # type: ignore[arg-type]

"""The ``[splits.<name>.causalds]`` table of a split file, checked before any work starts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from builder.causal import MOTIFS
from grader.errors import UsageError
from grader.names import did_you_mean

VIEWS: Final = ("clean",)
"""The observation views that can be built."""

_DEFAULT_ROWS: Final = {"train": 16000, "test": 4000}
_FEWEST_ROWS: Final = {"train": 50, "test": 20}
_MOST_ROWS: Final = 1_000_000
_MOST_SCENES: Final = 1_000_000
_KEYS: Final = ("scenes", "rows", "motifs", "treatment_binary", "outcome_binary", "views")


@dataclass(frozen=True, slots=True)
class Config:
    """How many scenes, of what size and make.

    ``motifs`` are weights by motif name, in the order of ``MOTIFS``; ``treatment_binary`` and
    ``outcome_binary`` are the shares of scenes whose treatment or outcome is binary.
    """

    scenes: int
    train: int
    test: int
    motifs: tuple[tuple[str, float], ...]
    treatment_binary: float
    outcome_binary: float
    views: tuple[str, ...]


def parse_config(table: Mapping[str, object], where: str) -> Config:
    """The checked table; ``where`` is its place in the split file.

    Raises :class:`UsageError` naming the key and the fix for an unknown or missing key, a value of
    the wrong type or outside its range, an unknown motif, and weights that are all zero.
    """
    _refuse_unknown(table, _KEYS, where)
    if "scenes" not in table:
        raise UsageError(
            f"{where}.scenes: missing; say how many scenes to build, as in scenes = 36"
        )
    rows = _rows(table.get("rows", _DEFAULT_ROWS), f"{where}.rows")
    return Config(
        scenes=_whole(table["scenes"], 1, _MOST_SCENES, f"{where}.scenes"),
        train=rows["train"],
        test=rows["test"],
        motifs=_motifs(table.get("motifs"), f"{where}.motifs"),
        treatment_binary=_share(table.get("treatment_binary", 0.75), f"{where}.treatment_binary"),
        outcome_binary=_share(table.get("outcome_binary", 0.4), f"{where}.outcome_binary"),
        views=_views(table.get("views", list(VIEWS)), f"{where}.views"),
    )


def _rows(value: object, where: str) -> dict[str, int]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{where}: must be a table such as {{ train = 2000, test = 500 }}")
    _refuse_unknown(value, tuple(_DEFAULT_ROWS), where)
    return {
        part: _whole(value.get(part, default), _FEWEST_ROWS[part], _MOST_ROWS, f"{where}.{part}")
        for part, default in _DEFAULT_ROWS.items()
    }


def _motifs(value: object, where: str) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, Mapping) or not value:
        raise UsageError(
            f"{where}: must be a table of weights by motif, such as {{ chain = 1, fork = 2 }}"
        )
    _refuse_unknown(value, tuple(MOTIFS), where)
    weights = {name: _weight(weight, f"{where}.{name}") for name, weight in value.items()}
    if not any(weights.values()):
        raise UsageError(f"{where}: all weights are zero; give at least one motif a positive one")
    return tuple((name, weights[name]) for name in MOTIFS if weights.get(name))


def _views(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
        raise UsageError(f'{where}: must be a list of views such as ["clean"]')
    for view in value:
        if view not in VIEWS:
            raise UsageError(f"{where}: unknown view '{view}'{did_you_mean(view, VIEWS)}")
    if len(set(value)) != len(value):
        raise UsageError(f"{where}: a view is listed twice; list each once")
    return tuple(value)


def _refuse_unknown(table: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}.{key}: unknown key{did_you_mean(key, known)}")


def _whole(value: object, low: int, high: int, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UsageError(f"{where}: must be a whole number from {low} to {high}, not {value!r}")
    return value


def _weight(value: object, where: str) -> float:
    number = _number(value)
    if number is None or number < 0 or not math.isfinite(number):
        raise UsageError(f"{where}: must be a weight of 0 or more, not {value!r}")
    return number


def _share(value: object, where: str) -> float:
    number = _number(value)
    if number is None or not 0 <= number <= 1:
        raise UsageError(f"{where}: must be a share from 0 to 1, not {value!r}")
    return number


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)

"""An exam file: how an exam is composed (paper A.7, A.8).

``kind`` is one of

- ``composed``: one task a scene; its family given the scene's structure, its variant given the
  family, its view given the family, each tilted by the difficulty;
- ``balanced``: every variant equally often and, inside it, every answer;
- ``views``: the matched observation-layer ablation, the same tasks under every view;
- ``tellings``: the matched verbalisation-swap ablation, the same tasks under every telling.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from builder.causal import MOTIFS, PLANTED
from builder.causalds.plan.views import VIEWS
from grader.errors import UsageError
from grader.names import did_you_mean
from grader.variants.causalds import CAUSALDS

Kind = Literal["composed", "balanced", "views", "tellings"]

GRAFTED: Final = "grafted"
"""The structure of every scene with a graft, whatever its host."""
OTHERWISE: Final = "otherwise"
"""The row of structures that have none of their own."""

FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    family: tuple(v.name for v in CAUSALDS if v.family == family)
    for family in dict.fromkeys(v.family for v in CAUSALDS)
}
"""Variants by family."""

Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ExamModel:
    """A parsed exam file.

    ``families`` maps a structure to weights of families, ``variants`` a family to weights of its
    variants, ``views`` a family to weights of views; a family without a row is uniform.
    ``difficulty`` d in [0, 1] tilts all three with the strengths ``rung``, ``variant`` and
    ``view``; 0.5 changes nothing.
    """

    kind: Kind
    tasks: int
    difficulty: float = 0.5
    strengths: tuple[float, float, float] = (1.0, 1.0, 1.0)
    families: Mapping[str, Weights] | None = None
    variants: Mapping[str, Weights] | None = None
    views: Mapping[str, Weights] | None = None


def parse_exam(table: Mapping[str, object], where: str) -> ExamModel:
    """The checked exam; raises ``UsageError`` naming the key and the fix."""
    known = ("kind", "tasks", "difficulty", "strength", "families", "variants", "views")
    _refuse_unknown(table, known, where)
    kinds: tuple[Kind, ...] = get_args(Kind)
    told = table.get("kind")
    kind = next((known for known in kinds if known == told), None)
    if kind is None:
        raise UsageError(f"{where}.kind: must be one of {', '.join(kinds)}, not {told!r}")
    tasks = table.get("tasks")
    if not isinstance(tasks, int) or isinstance(tasks, bool) or tasks < 1:
        raise UsageError(f"{where}.tasks: must be a positive whole number, not {tasks!r}")
    if kind != "composed":
        for key in ("difficulty", "strength", "families", "variants", "views"):
            if key in table:
                raise UsageError(f"{where}.{key}: a {kind} exam has no such setting; remove it")
        return ExamModel(kind, tasks)
    strength = _table(table.get("strength", {}), f"{where}.strength")
    _refuse_unknown(strength, ("rung", "variant", "view"), f"{where}.strength")
    return ExamModel(
        "composed",
        tasks,
        _number(table.get("difficulty", 0.5), 0.0, 1.0, f"{where}.difficulty"),
        (
            _number(strength.get("rung", 1.0), 0.0, 10.0, f"{where}.strength.rung"),
            _number(strength.get("variant", 1.0), 0.0, 10.0, f"{where}.strength.variant"),
            _number(strength.get("view", 1.0), 0.0, 10.0, f"{where}.strength.view"),
        ),
        _rows(table.get("families"), _STRUCTURES, tuple(FAMILIES), f"{where}.families"),
        _variants(table.get("variants", {}), f"{where}.variants"),
        _rows(table.get("views"), tuple(FAMILIES), tuple(VIEWS), f"{where}.views"),
    )


_STRUCTURES: Final = (*MOTIFS, *PLANTED, GRAFTED, OTHERWISE)


def _rows(
    value: object, keys: tuple[str, ...], columns: tuple[str, ...], where: str
) -> dict[str, Weights]:
    """A list of {of = [keys], weights = {column = weight}}; every key at most once."""
    if not isinstance(value, list) or not value:
        raise UsageError(f'{where}: must be a list of {{ of = ["{keys[0]}"], weights = {{…}} }}')
    found: dict[str, Weights] = {}
    for number, item in enumerate(value):
        place = f"{where}[{number}]"
        row = _table(item, place)
        _refuse_unknown(row, ("of", "weights"), place)
        of = row.get("of")
        if not isinstance(of, list) or not of:
            raise UsageError(f"{place}.of: must be a list of names, such as ['{keys[0]}']")
        weights = _weights(row.get("weights"), columns, f"{place}.weights")
        for key in of:
            if key not in keys:
                raise UsageError(f"{place}.of: unknown name '{key}'{did_you_mean(str(key), keys)}")
            if key in found:
                raise UsageError(f"{place}.of: '{key}' has a row already; name it once")
            found[key] = weights
    return found


def _variants(value: object, where: str) -> dict[str, Weights]:
    table = _table(value, where)
    _refuse_unknown(table, tuple(FAMILIES), where)
    return {
        family: _weights(weights, FAMILIES[family], f"{where}.{family}")
        for family, weights in table.items()
    }


def _weights(value: object, known: tuple[str, ...], where: str) -> Weights:
    table = _table(value, where)
    _refuse_unknown(table, known, where)
    weights = {name: _number(w, 0.0, 1e9, f"{where}.{name}") for name, w in table.items()}
    if not any(weights.values()):
        raise UsageError(f"{where}: no weight is positive; give at least one")
    return weights


def _table(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{where}: must be a table")
    return value


def _refuse_unknown(table: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}.{key}: unknown key{did_you_mean(key, known)}")


def _number(value: object, low: float, high: float, where: str) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not low <= float(value) <= high:  # type: ignore[arg-type]
        raise UsageError(f"{where}: must be a number from {low:g} to {high:g}, not {value!r}")
    return float(value)  # type: ignore[arg-type]

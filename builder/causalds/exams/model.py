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

from builder.causal.motifs import MOTIFS, PLANTED
from builder.causalds.plan.views import VIEWS
from builder.settings import TomlTable
from grader.tracks.causalds.variants import CAUSALDS

Kind = Literal["composed", "balanced", "views", "tellings"]

GRAFTED: Final = "grafted"
"""The structure of every scene with a graft, whatever its host."""
OTHERWISE: Final = "otherwise"
"""The row of structures that have none of their own."""

FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    family: tuple(v.name for v in CAUSALDS if v.family == family and not v.by_name)
    for family in dict.fromkeys(v.family for v in CAUSALDS)
}
"""The paper's variants by family; others are asked by exams that name them."""

Weights = Mapping[str, float]

_STRUCTURES: Final = (*MOTIFS, *PLANTED, GRAFTED, OTHERWISE)
_MOST_TASKS: Final = 1_000_000
_STRONGEST: Final = 10.0


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


def parse_exam(table: TomlTable) -> ExamModel:
    """The checked exam; raises ``UsageError`` naming the key and the fix."""
    composed = ("difficulty", "strength", "families", "variants", "views")
    table.only("kind", "tasks", *composed)
    kinds: tuple[Kind, ...] = get_args(Kind)
    kind = table.choice("kind", kinds)
    tasks = table.whole("tasks", 1, _MOST_TASKS)
    if kind != "composed":
        for key in composed:
            if key in table:
                raise table.problem(key, f"a {kind} exam has no such setting; remove it")
        return ExamModel(kind, tasks)
    strength = table.table("strength", {})
    strength.only("rung", "variant", "view")
    variants = table.table("variants", {})
    variants.only(*FAMILIES)
    return ExamModel(
        "composed",
        tasks,
        table.share("difficulty", 0.5),
        (
            strength.number("rung", 0.0, _STRONGEST, 1.0),
            strength.number("variant", 0.0, _STRONGEST, 1.0),
            strength.number("view", 0.0, _STRONGEST, 1.0),
        ),
        _rows(table, "families", _STRUCTURES, tuple(FAMILIES)),
        {family: variants.weights(family, FAMILIES[family]) for family in variants.values},
        _rows(table, "views", tuple(FAMILIES), tuple(VIEWS)),
    )


def _rows(
    table: TomlTable, key: str, keys: tuple[str, ...], columns: tuple[str, ...]
) -> dict[str, Weights]:
    """A list of {of = [keys], weights = {column = weight}}; every key at most once."""
    found: dict[str, Weights] = {}
    for row in table.tables(key, f'a list of {{ of = ["{keys[0]}"], weights = {{…}} }}'):
        row.only("of", "weights")
        weights = row.weights("weights", columns)
        for name in row.names("of", keys):
            if name in found:
                raise row.problem("of", f"'{name}' has a row already; name it once")
            found[name] = weights
    return found

"""An exam file: how an exam is composed (paper A.7, A.8).

``kind`` is one of

- ``composed``: one task a scene; its family given the scene's structure, its variant given the
  family, its view given the family, each tilted by the difficulty;
- ``balanced``: every variant equally often and, inside it, every answer;
- ``views``: the matched observation-layer ablation, the same tasks under every view;
- ``tellings``: the matched verbalisation-swap ablation, the same tasks under every telling (both
  may be restricted, ``only``: A.13 asks identifiable targets from data, numbers alone).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal, get_args

from builder.causal.motifs import MOTIFS, PLANTED
from builder.causalds.plan.views import VIEWS
from builder.settings import TomlTable
from grader.model import InputMode
from grader.tracks import variant as variant_of
from grader.tracks.causalds.variants import CAUSALDS

Kind = Literal["composed", "balanced", "views", "tellings"]

GRAFTED: Final = "grafted"
"""The structure of every scene with a graft, whatever its host."""
OTHERWISE: Final = "otherwise"
"""The row of structures that have none of their own."""

FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    family: tuple(v.name for v in CAUSALDS if v.family == family)
    for family in dict.fromkeys(v.family for v in CAUSALDS)
}
"""The variants by family."""

Weights = Mapping[str, float]

_STRUCTURES: Final = (*MOTIFS, *PLANTED, GRAFTED, OTHERWISE)
_MOST_TASKS: Final = 1_000_000
_MATCHED: Final = ("variants", "identifiable", "input_mode")
_STRONGEST: Final = 10.0


@dataclass(frozen=True, slots=True)
class Only:
    """What a matched exam is restricted to: patterns of ``family.variant`` (None: all of them),
    targets that are identifiable or are not, and an input mode."""

    variants: tuple[str, ...] | None = None
    identifiable: bool | None = None
    input_mode: InputMode | None = None

    def admits(self, key: str, abstains: bool) -> bool:
        """Whether a variant's task has a place, where abstaining is due or is not."""
        named = self.variants is None or any(fnmatchcase(key, one) for one in self.variants)
        mode = variant_of("causalds", key).shape.input_mode
        return (
            named and self.identifiable in (None, not abstains) and self.input_mode in (None, mode)
        )


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
    only: Only | None = None


def parse_exam(table: TomlTable) -> ExamModel:
    """The checked exam; raises ``UsageError`` naming the key and the fix."""
    composed = ("difficulty", "strength", "families", "variants", "views")
    table.only("kind", "tasks", *composed, *_MATCHED)
    kinds: tuple[Kind, ...] = get_args(Kind)
    kind = table.choice("kind", kinds)
    tasks = table.whole("tasks", 1, _MOST_TASKS)
    if kind in ("views", "tellings"):
        for key in composed:
            if key in table and key not in _MATCHED:
                raise table.problem(key, f"a {kind} exam has no such setting; remove it")
        return ExamModel(kind, tasks, only=_only(table))
    if kind != "composed":
        for key in (*composed, *_MATCHED):
            if key in table:
                raise table.problem(key, f"a {kind} exam has no such setting; remove it")
        return ExamModel(kind, tasks)
    strength = table.table("strength", {})
    strength.only("rung", "variant", "view")
    for key in _MATCHED:
        if key in table and key != "variants":
            raise table.problem(key, "a composed exam has no such setting; remove it")
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
        _variants(table),
        _rows(table, "views", tuple(FAMILIES), tuple(VIEWS)),
    )


def _only(table: TomlTable) -> Only | None:
    """What a matched exam is restricted to; ``None`` where nothing is said."""
    if not any(key in table for key in _MATCHED):
        return None
    patterns = None
    if "variants" in table:
        patterns = tuple(table.texts("variants"))
        for pattern in patterns:
            if not any(
                fnmatchcase(f"{family}.{name}", pattern)
                for family, names in FAMILIES.items()
                for name in names
            ):
                raise table.problem("variants", f"{pattern!r} fits no family.variant")
    return Only(
        patterns,
        table.flag("identifiable") if "identifiable" in table else None,
        table.choice("input_mode", get_args(InputMode)) if "input_mode" in table else None,
    )


def _variants(table: TomlTable) -> dict[str, Weights]:
    variants = table.table("variants", {})
    variants.only(*FAMILIES)
    return {family: variants.weights(family, FAMILIES[family]) for family in variants.values}


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

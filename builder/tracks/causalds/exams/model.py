"""Read an exam file: how an exam is composed (paper A.7, A.8).

``kind`` is one of

- ``composed``: one task a scene. Its family is drawn given the scene's structure, its variant and
  its view given the family, each tilted by the difficulty.
- ``balanced``: every variant equally often and, inside it, every answer.
- ``views``: the matched observation-layer ablation, the same tasks under every view.
- ``tellings``: the matched verbalisation-swap ablation, the same tasks under every telling. Both
  ablations may be restricted: A.13 asks identifiable targets from data, numbers alone.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from builder.graphs.motifs import MOTIFS, PLANTED
from builder.splits.settings import (
    Fault,
    Share,
    TomlModel,
    TomlTable,
    Weight,
    check,
    check_keys,
    check_positive,
    some_of,
    weights_of,
)
from builder.tracks.causalds.design.eligibility import KEYS, VARIANTS
from builder.tracks.causalds.design.scene_plan import VIEWS
from grader.scoring.model import InputMode
from grader.tracks.causalds.shapes import CAUSALDS

Kind = Literal["composed", "balanced", "views", "tellings"]

GRAFTED: Final = "grafted"
"""The structure of every scene with a graft, whatever its host."""
OTHERWISE: Final = "otherwise"
"""The row for structures that have none of their own."""

FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    family: tuple(v.name for v in CAUSALDS if v.family == family)
    for family in dict.fromkeys(v.family for v in CAUSALDS)
}
"""The names of variants by family."""

Weights = Mapping[str, float]

_STRUCTURES: Final = (*MOTIFS, *PLANTED, GRAFTED, OTHERWISE)
_Strength = Annotated[float, Field(ge=0, le=10)]


class FamilyRow(TomlModel):
    """The weights of families for scenes of the structures in ``of``."""

    of: Annotated[tuple[str, ...], some_of(_STRUCTURES)]
    weights: Annotated[dict[str, Weight], weights_of(FAMILIES)]


class ViewRow(TomlModel):
    """The weights of views for the families in ``of``."""

    of: Annotated[tuple[str, ...], some_of(tuple(FAMILIES))]
    weights: Annotated[dict[str, Weight], weights_of(VIEWS)]


class Strength(TomlModel):
    """How strongly difficulty tilts families (by ``rung``), variants and views. 0 is not at all."""

    rung: _Strength = 1.0
    variant: _Strength = 1.0
    view: _Strength = 1.0


def _check_once(rows: tuple[FamilyRow | ViewRow, ...]) -> tuple[FamilyRow | ViewRow, ...]:
    """Return the rows. Raises :class:`Fault` where two of them are for the same name."""
    seen: set[str] = set()
    for place, row in enumerate(rows):
        for name in row.of:
            if name in seen:
                raise Fault(f"'{name}' has a row already; name it once", f"{place}.of")
            seen.add(name)
    return rows


def _check_variants(rows: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return weights by family. Raises :class:`Fault` for unknown names and all-zero families."""
    check_keys(rows, FAMILIES)
    for family, weights in rows.items():
        check_keys(weights, FAMILIES[family], f"{family}.")
        check_positive(weights, family)
    return rows


Count = Annotated[int, Field(ge=0, le=1_000_000)]


def _check_counts(rows: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    check_keys(rows, (*MOTIFS, *PLANTED, *(f"{GRAFTED}_{k}" for k in (1, 2, 3))))
    for structure, counts in rows.items():
        check_keys(counts, FAMILIES, f"{structure}.")
    return rows


def _check_patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in patterns:
        if not any(fnmatchcase(key, pattern) for key in KEYS):
            raise Fault(f"{pattern!r} fits no family.variant")
    return patterns


class ExamModel(TomlModel):
    """The members that every exam file has. A balanced exam has no others."""

    kind: Kind
    tasks: int = Field(ge=1, le=1_000_000)


class ComposedExam(ExamModel):
    """The file of a composed exam (``docs/causalds-exams.md``). ``families`` are weights given the
    structure, ``variants`` and ``views`` given the family; ``difficulty`` tilts all three. In place
    of ``families``, ``counts`` are numbers of tasks by structure (a motif, or ``grafted_<k>``) and
    family, and ``unidentifiable`` (None: any) that of tasks without an identifiable ATE."""

    kind: Literal["composed"]
    difficulty: Share = 0.5
    strength: Strength = Strength()
    families: Annotated[tuple[FamilyRow, ...], AfterValidator(_check_once)] = Field(
        default=(), description='a list of { of = ["chain"], weights = {…} }'
    )
    counts: Annotated[dict[str, dict[str, Count]], AfterValidator(_check_counts)] = Field(
        default_factory=dict, description="tables of numbers of tasks by structure and family"
    )
    unidentifiable: int | None = Field(default=None, ge=0)
    variants: Annotated[dict[str, dict[str, Weight]], AfterValidator(_check_variants)] = Field(
        default_factory=dict
    )
    views: Annotated[tuple[ViewRow, ...], AfterValidator(_check_once)] = Field(
        min_length=1, description='a list of { of = ["prediction"], weights = {…} }'
    )

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        """Return the exam. Raises :class:`Fault` for keys that do not go together."""
        total = sum(sum(row.values()) for row in self.counts.values())
        if bool(self.families) == bool(self.counts):
            raise Fault("write either this or counts", "families")
        if self.counts and total != self.tasks:
            raise Fault(f"the counts add up to {total}; write tasks = {total}", "tasks")
        if self.unidentifiable is not None and not self.unidentifiable <= total:
            raise Fault(f"needs counts of as many tasks; they add up to {total}", "unidentifiable")
        return self


class MatchedExam(ExamModel):
    """The file of a matched exam. ``variants`` are patterns of ``family.variant``, ``identifiable``
    restricts to tasks with (True) or without such a target, ``input_mode`` to sources. None:
    any."""

    kind: Literal["views", "tellings"]
    variants: Annotated[tuple[str, ...], AfterValidator(_check_patterns)] | None = Field(
        default=None, min_length=1, description="a list of texts"
    )
    identifiable: bool | None = None
    input_mode: InputMode | None = None

    def admits(self, key: str, abstains: bool | None) -> bool:
        """Tell whether a task is admitted. ``abstains``: is that right (None: not known yet)?"""
        named = self.variants is None or any(fnmatchcase(key, one) for one in self.variants)
        mode = VARIANTS[key].shape.input_mode
        due = abstains is None or self.identifiable in (None, not abstains)
        return named and due and self.input_mode in (None, mode)


class _ExamKind(ExamModel):
    """Any exam file, read for its kind alone."""

    model_config = ConfigDict(extra="ignore")


_MODELS: Final[Mapping[Kind, type[ExamModel]]] = {
    "composed": ComposedExam,
    "balanced": ExamModel,
    "views": MatchedExam,
    "tellings": MatchedExam,
}


def parse_exam(table: TomlTable) -> ExamModel:
    """Return the checked exam. Raises ``UsageError`` that names the key and the remedy."""
    return check(_MODELS[check(_ExamKind, table).kind], table)

"""The pools, the settings of a split, and the plan of each program."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic.dataclasses import dataclass

from builder.splits.seeds import InstancePlan, keyed_specs, plan_stream, random_order
from builder.splits.settings import (
    STRICT,
    Fault,
    Ordered,
    Share,
    TomlModel,
    Weight,
    some_of,
    weights_of,
)
from builder.splits.track import InstanceSpec, TaskPlan
from grader.errors import UsageError

TRACK_NAME: Final = "replayscm"
OPERATORS: Final = ("not", "and", "or", "xor", "iff")

_Variables = Annotated[int, Field(ge=4, le=10)]
_Size = Annotated[int, Field(ge=2, le=40)]
_Depth = Annotated[int, Field(ge=1, le=20)]
_Rows = Annotated[int, Field(ge=2, le=16)]


def _joining(operators: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``operators``; raise Fault if they cannot join two parents."""
    if operators == ("not",):
        raise Fault("one of and, or, xor and iff must join the parents")
    return operators


HELDOUT_WORLDS: Final = 8


def novel_counts(novelty: tuple[float, float]) -> tuple[int, int]:
    """Return how many of the held-out worlds, at least and at most, are a share in ``novelty``."""
    least, most = novelty
    return math.ceil(HELDOUT_WORLDS * least), math.floor(HELDOUT_WORLDS * most)


def _check_novelty(novelty: tuple[float, float]) -> tuple[float, float]:
    """Return ``novelty``; raise Fault if no number of held-out worlds is a share in it."""
    least, most = novel_counts(novelty)
    if least > most:
        raise Fault(f"no number of {HELDOUT_WORLDS} worlds is such a share; write [0.2, 0.72]")
    return novelty


@dataclass(frozen=True, slots=True, config=STRICT)
class Generation:
    """Settings of one cohort of programs. The defaults are those of the paper's mildest stratum.

    ``variables``, ``sizes`` (AST nodes of a mechanism), ``depths`` and ``rows`` (of a world) are
    the least and the most, ``operators`` those that mechanisms are drawn from (ReplaySCM Table
    B.1). ``proposals`` is the number of worlds that the eight training worlds are chosen from. They
    rule out a share of the shortcuts within ``survivor_reduction``, compute each endogenous
    variable in ``scored_worlds`` worlds and ``scored_cells`` cells at least, and set it in
    ``clamped_worlds`` at most; ``assigned_worlds`` of them set values row by row, and
    ``constant_worlds`` one value, at least. ``novelty`` is the least and the largest share of
    held-out worlds on targets new to training. With ``disambiguation`` up to three worlds are added
    that rule out local alternatives (Table B.2).
    """

    variables: Annotated[tuple[_Variables, _Variables], Ordered] = (6, 10)
    operators: Annotated[tuple[str, ...], some_of(OPERATORS), AfterValidator(_joining)] = OPERATORS
    sizes: Annotated[tuple[_Size, _Size], Ordered] = (3, 14)
    depths: Annotated[tuple[_Depth, _Depth], Ordered] = (2, 6)
    rows: Annotated[tuple[_Rows, _Rows], Ordered] = (10, 12)
    proposals: Annotated[int, Field(ge=8, le=2_000)] = 170
    survivor_reduction: Annotated[tuple[Share, Share], Ordered] = (0.75, 0.95)
    scored_worlds: Annotated[int, Field(ge=1, le=8)] = 3
    scored_cells: Annotated[int, Field(ge=1, le=128)] = 33
    assigned_worlds: Annotated[int, Field(ge=0, le=8)] = 3
    constant_worlds: Annotated[int, Field(ge=0, le=8)] = 1
    clamped_worlds: Annotated[int, Field(ge=0, le=11)] = 5
    novelty: Annotated[tuple[Share, Share], Ordered, AfterValidator(_check_novelty)] = (0.20, 0.72)
    disambiguation: bool = True


@dataclass(frozen=True, slots=True, config=STRICT)
class BaseGeneration(Generation):
    """Settings of the cohort that the paper's Tables F.1 to F.5 compare with."""

    disambiguation: bool = False


PAPER: Final = Generation()

STRATA: Final[Mapping[str, Mapping[str, Any]]] = {
    "cells-33": {},
    "cells-40": {
        "proposals": 250, "survivor_reduction": (0.80, 0.95), "scored_worlds": 4,
        "scored_cells": 40,
    },
    "cells-44": {
        "proposals": 340, "survivor_reduction": (0.85, 0.95), "scored_worlds": 4,
        "scored_cells": 44, "assigned_worlds": 4, "constant_worlds": 2, "clamped_worlds": 4,
        "novelty": (0.25, 0.65),
    },
}  # fmt: skip
"""What each stratum demands beyond ``PAPER``: the ends of the ranges of Table B.2, which names no
stratum and does not say which thresholds go together."""

Disclosure = Literal["ordered", "block", "hidden", "hidden_roots"]
Level = Literal["original", "extra", "cex", "certified"]


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool: its short label, the variant that asks it, its disclosure and evidence level."""

    label: str
    variant: str
    disclosure: Disclosure
    level: Level

    @property
    def alternative(self) -> bool:
        """Return whether the task supplies a reference and asks for another program."""
        return self.variant.startswith("alternative.")


POOLS: Final[dict[str, Pool]] = {
    pool.label: pool
    for pool in (
        Pool("Ord-Full", "induction.ordered", "ordered", "original"),
        Pool("Hid-Full", "induction.hidden", "hidden", "original"),
        Pool("Block", "induction.block", "block", "original"),
        Pool("Hid-Roots", "induction.hidden_roots", "hidden_roots", "original"),
        Pool("Alt-Ord", "alternative.alternative_ordered", "ordered", "original"),
        Pool("Alt-Hid", "alternative.alternative_hidden", "hidden", "original"),
        Pool("Ord-Ext", "induction.ordered", "ordered", "extra"),
        Pool("Hid-Ext", "induction.hidden", "hidden", "extra"),
        Pool("Ord-CEx", "induction.ordered", "ordered", "cex"),
        Pool("Hid-CEx", "induction.hidden", "hidden", "cex"),
        Pool("Ord-Cert", "induction.ordered", "ordered", "certified"),
        Pool("Hid-Cert", "induction.hidden", "hidden", "certified"),
    )
}

BASE_POOLS: Final = (
    Pool("Ord-Base", "induction.ordered", "ordered", "original"),
    Pool("Hid-Base", "induction.hidden", "hidden", "original"),
)
"""Programs of another cohort, with which the other pools are compared (Tables F.1 to F.5)."""

_MOST: Final = 100_000


class ProgramSettings(TomlModel):
    """The numbers of records of a split, and how their programs are drawn.

    The paper's pools hold either the matched design (``full`` records in each full pool,
    ``matched`` programs in all pools), or ``per_pool`` records each, every one of a program of its
    own.
    With ``shifted``, inductions have further held-out worlds under other root distributions.
    ``base`` is the number of programs of another cohort. ``generation`` says how programs of the
    paper's pools are drawn, ``base_generation`` how those of the other cohort are. ``strata`` are
    weights by name of ``STRATA``; without any, every program is as these two tables say.
    """

    full: int = Field(default=0, ge=1, le=_MOST)
    matched: int = Field(default=0, ge=0, le=_MOST)
    per_pool: int = Field(default=0, ge=1, le=_MOST)
    shifted: bool = False
    base: int = Field(default=0, ge=1, le=_MOST)
    strata: Annotated[dict[str, Weight], weights_of(STRATA, ordered=True)] = Field(
        default_factory=dict
    )
    generation: Generation = PAPER
    base_generation: BaseGeneration = BaseGeneration()

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        """Return the settings. Raise Fault, naming the key, where they contradict each other."""
        if bool(self.full) == bool(self.per_pool):
            raise Fault(
                "write either full = 250 and matched = 100 (pools that share programs) or "
                "per_pool = 40 (every program in one record)",
                "per_pool" if self.full else "full",
            )
        if self.matched > self.full:
            raise Fault(
                f"{self.matched} is more than full = {self.full}; matched programs are in the full "
                "pools too, so lower it",
                "matched",
            )
        if not self.base and "base_generation" in self.model_fields_set:
            raise Fault("there is no such cohort; write base = 100 too", "base_generation")
        for table in ("generation", "base_generation") if self.strata else ():
            for key in {key: None for stratum in STRATA.values() for key in stratum}:
                if getattr(getattr(self, table), key) != getattr(PAPER, key):
                    raise Fault("the strata set it; remove it, or strata", f"{table}.{key}")
        return self


@dataclass(frozen=True, slots=True)
class ProgramPlan(InstancePlan):
    """The plan of one program: its pools (all of the paper's if ``matched``), whether it has
    ``shifted`` held-out worlds, its ``generation``, and the name of its ``stratum``, "" without."""

    pools: tuple[Pool, ...]
    matched: bool
    shifted: bool = False
    generation: Generation = PAPER
    stratum: str = ""

    def in_stratum(self, name: str) -> "ProgramPlan":
        """Return the plan of the same program in a stratum, unchanged for ""."""
        strict = replace(self.generation, **STRATA.get(name, {}))
        return replace(self, generation=strict, stratum=name)

    @property
    def task_plan(self) -> TaskPlan:
        """Return the plan for the release machinery: one task for each pool."""
        count = len(self.pools)
        if count > 1:
            return TaskPlan((count, count))
        return TaskPlan(levels=(("variant", self.pools[0].variant),))


def plan_programs(
    config: ProgramSettings, split: str, count_root: bytes, private: bool
) -> list[InstanceSpec]:
    """Return a split's instance specs, in an index order that is random and tells no pool. Programs
    of a base cohort follow, which leaves the others the same; with private truth they are asked
    with or without order, in turn. Raises ``UsageError`` for shared programs with private truth."""
    if private and config.full:
        raise UsageError(
            f"splits.{split}.{TRACK_NAME}.full: with private truth every program is in one record "
            "only, or one prompt would give away another; write per_pool = 40 instead"
        )
    plan = partial(ProgramPlan, shifted=config.shifted, generation=config.generation)
    plans = [plan((pool,), False) for pool in POOLS.values() for _ in range(config.per_pool)]
    plans += [plan(tuple(POOLS.values()), True)] * config.matched
    for label in ("Ord-Full", "Hid-Full"):
        plans += [plan((POOLS[label],), False)] * (config.full - config.matched)
    names = _spread(config, len(plans))
    plans = [one.in_stratum(name) for one, name in zip(plans, names, strict=True)]
    plans = random_order(plan_stream(count_root, TRACK_NAME, split, "plan"), plans)
    strata = random_order(
        plan_stream(count_root, TRACK_NAME, split, "base"), _spread(config, config.base)
    )
    for turn, name in enumerate(strata):
        pools = BASE_POOLS[turn % 2 :][:1] if private else BASE_POOLS
        base = replace(plan(pools, False), generation=config.base_generation)
        plans.append(base.in_stratum(name))
    naming = ("program", "program")
    return keyed_specs(plans, (TRACK_NAME, split), naming, count_root, private)


def _spread(config: ProgramSettings, total: int) -> list[str]:
    """Return ``total`` strata (or ""), so that every run has nearly the requested shares."""
    weights = config.strata or {"": 1.0}
    mass, names = sum(weights.values()), list[str]()
    for place in range(1, total + 1):
        lacks = {name: weights[name] * place / mass - names.count(name) for name in weights}
        names.append(max(lacks, key=lambda name: round(lacks[name], 9)))
    return names


def composition(
    config: ProgramSettings, specs: Sequence[InstanceSpec]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return requested and realised numbers of programs by stratum, {} without strata."""
    found = Counter(ProgramPlan.from_json(spec.config_json).stratum for spec in specs)
    mass = sum(config.strata.values())
    table = {
        name: {"requested": round(len(specs) * weight / mass, 2), "realised": found[name]}
        for name, weight in config.strata.items()
    }
    return {"stratum": table} if table else {}

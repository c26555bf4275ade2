"""The pools, the settings of a split, and which program is asked in which pools."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic.dataclasses import dataclass as checked

from builder.splits.instance_keys import keyed_specs, plan_stream
from builder.splits.seeds import shuffled
from builder.splits.settings import STRICT, Fault, TomlModel, TomlTable, check
from builder.splits.track import Asked, InstanceSpec
from builder.splits.values import Ordered, Share, some_of
from grader.errors import UsageError
from grader.io.jsonio import canonical

OPERATORS: Final = ("not", "and", "or", "xor", "iff")

_Variables = Annotated[int, Field(ge=4, le=10)]
_Size = Annotated[int, Field(ge=2, le=40)]
_Depth = Annotated[int, Field(ge=1, le=20)]
_Rows = Annotated[int, Field(ge=2, le=16)]


def _joining(operators: tuple[str, ...]) -> tuple[str, ...]:
    if operators == ("not",):
        raise Fault("one of and, or, xor and iff must join the parents")
    return operators


@checked(frozen=True, slots=True, config=STRICT)
class Generation:
    """Settings of one cohort of programs; by default those of the paper's released records.

    ``variables``, ``sizes`` (AST nodes of a mechanism), ``depths`` and ``rows`` (of a world) are
    the least and the most, ``operators`` those that mechanisms are drawn from (ReplaySCM Table
    B.1). ``proposals`` is the number of worlds that shortcuts are ruled out with, eight for none to
    choose from; a program is kept if that rules out a share of ``survivor_reduction`` of them, if
    each computed variable is computed in ``scored_worlds`` worlds and ``scored_cells`` cells, and
    with ``disambiguation`` up to three worlds are added that rule out local alternatives (Table
    B.2).
    """

    variables: Annotated[tuple[_Variables, _Variables], Ordered] = (6, 10)
    operators: Annotated[tuple[str, ...], some_of(OPERATORS), AfterValidator(_joining)] = OPERATORS
    sizes: Annotated[tuple[_Size, _Size], Ordered] = (3, 14)
    depths: Annotated[tuple[_Depth, _Depth], Ordered] = (2, 6)
    rows: Annotated[tuple[_Rows, _Rows], Ordered] = (10, 12)
    proposals: Annotated[int, Field(ge=8, le=2_000)] = 200
    survivor_reduction: Share = 0.75
    scored_worlds: Annotated[int, Field(ge=1, le=8)] = 3
    scored_cells: Annotated[int, Field(ge=1, le=128)] = 33
    disambiguation: bool = True

    def changes(self) -> dict[str, Any]:
        """What differs from the paper's."""
        usual = asdict(PAPER)
        return {name: value for name, value in asdict(self).items() if value != usual[name]}

    @staticmethod
    def of(changes: Mapping[str, Any]) -> "Generation":
        """The settings of which :meth:`changes` said so."""
        told: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in changes.items()
        }
        return replace(PAPER, **told)


PAPER: Final = Generation()
BASE: Final = Generation(disambiguation=False)
"""The cohort that the paper's Tables F.1 to F.5 compare with."""


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
        """Whether the task supplies a reference and asks for another program."""
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
"""The paper's pools and Certified."""

BASE_POOLS: Final = (
    Pool("Ord-Base", "induction.ordered", "ordered", "original"),
    Pool("Hid-Base", "induction.hidden", "hidden", "original"),
)
"""Programs of another cohort, with which the other pools are compared (Tables F.1 to F.5)."""

EVERY_POOL: Final[dict[str, Pool]] = POOLS | {pool.label: pool for pool in BASE_POOLS}


_MOST: Final = 100_000


class Config(TomlModel):
    """How many records.

    Of the paper's pools either the matched design (``full`` records in each full pool, ``matched``
    programs in all pools), or ``per_pool`` records in every pool, each of a program of its own.
    ``shifted``: inductions have further held-out worlds under other root distributions. ``base``
    programs of another cohort, by default one that is not disambiguated; ``generation`` and
    ``base_generation`` say how those of the paper's pools and those of the other cohort are drawn.
    """

    full: int = Field(default=0, ge=1, le=_MOST)
    matched: int = Field(default=0, ge=0, le=_MOST)
    per_pool: int = Field(default=0, ge=1, le=_MOST)
    shifted: bool = False
    base: int | None = Field(default=None, ge=1, le=_MOST)
    generation: Generation | None = None
    base_generation: Generation | None = None

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        stated = self.model_fields_set
        if "base_generation" in stated and "base" not in stated:
            raise Fault("there is no such cohort; write base = 100 too", "base_generation")
        if "per_pool" in stated and {"full", "matched"} & stated:
            raise Fault(
                "excludes full and matched; keep per_pool (every program in one record) or the "
                "other two (pools that share programs)",
                "per_pool",
            )
        for key in ("full", "matched") if "per_pool" not in stated else ():
            if key not in stated:
                raise Fault(f"missing; give a whole number from {key == 'full':d} to {_MOST}", key)
        if self.matched > self.full:
            raise Fault(
                f"{self.matched} is more than full = {self.full}; matched programs are in the full "
                "pools too, so lower it",
                "matched",
            )
        return self


def parse_config(table: TomlTable) -> Config:
    """The checked table; raises :class:`UsageError` naming the key and the fix."""
    values = dict(table.values)
    if isinstance(told := values.get("base_generation"), Mapping):
        values["base_generation"] = {"disambiguation": BASE.disambiguation, **told}
    return check(Config, replace(table, values=values))


TRACK_NAME: Final = "replayscm"


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """The pools of one program; a ``matched`` program is in all of the paper's.

    ``shifted``: it has held-out worlds under other root distributions; ``generation`` says how it
    is drawn.
    """

    pools: tuple[str, ...]
    matched: bool
    shifted: bool = False
    generation: Generation = PAPER

    @property
    def asked(self) -> Asked:
        """What the release machinery reads of the plan: a task a pool."""
        count = len(self.pools)
        if count > 1:
            return Asked((count, count))
        return Asked(levels=(("variant", EVERY_POOL[self.pools[0]].variant),))

    def to_json(self) -> str:
        """Canonical JSON."""
        asked = self.asked
        shown = {"tasks": asked.tasks, **dict(asked.levels)}
        more = {"shifted": self.shifted, "generation": self.generation.changes()}
        told = {name: value for name, value in more.items() if value}
        return canonical({"pools": self.pools, "matched": self.matched, **told, **shown})

    @staticmethod
    def from_json(text: str) -> "ProgramPlan":
        """What :meth:`to_json` wrote."""
        record = json.loads(text)
        return ProgramPlan(
            tuple(record["pools"]),
            record["matched"],
            record.get("shifted", False),
            Generation.of(record.get("generation", {})),
        )


def plan_programs(
    config: Config, split: str, count_root: bytes, private: bool
) -> list[InstanceSpec]:
    """The instance specs of a split, in index order.

    The order is random, so the index carries no information about the pools; those of a base cohort
    follow, so that the others are the same with and without them.

    Raises ``UsageError`` for shared programs in a private-truth split.
    """
    if private and config.full:
        raise UsageError(
            f"splits.{split}.{TRACK_NAME}.full: with private truth every program is in one record "
            "only, or one prompt would give away another; write per_pool = 40 instead"
        )
    cohort = config.generation or PAPER
    plan = partial(ProgramPlan, shifted=config.shifted, generation=cohort)
    plans = [plan((label,), False) for label in POOLS for _ in range(config.per_pool)]
    plans += [plan(tuple(POOLS), True)] * config.matched
    for label in ("Ord-Full", "Hid-Full"):
        plans += [plan((label,), False)] * (config.full - config.matched)
    plans = shuffled(plan_stream(count_root, TRACK_NAME, split, "plan"), plans)
    plans += _base(config, private)
    place = (TRACK_NAME, split)
    return keyed_specs(plans, place, ("program", "program"), count_root, private)


def _base(config: Config, private: bool) -> Iterator[ProgramPlan]:
    """Plans of the base cohort: each with and without its order, or, where truth is private, one of
    the two in turn."""
    how = config.base_generation or BASE
    for place in range(config.base or 0):
        labels = tuple(
            pool.label for pool in (BASE_POOLS[place % 2 :][:1] if private else BASE_POOLS)
        )
        yield ProgramPlan(labels, False, shifted=config.shifted, generation=how)

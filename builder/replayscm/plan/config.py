"""The ``[splits.<name>.replayscm]`` table of a split file, checked before any work starts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Self

from pydantic import Field, model_validator

from builder.replayscm.make.generation import BASE, Generation
from builder.settings import Fault, TomlModel, TomlTable, check

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

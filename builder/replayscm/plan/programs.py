"""Planning: which program is asked in which pools."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from builder.release.instance_keys import keyed_specs, plan_stream
from builder.replayscm.make import generation
from builder.replayscm.make.generation import PAPER, Generation
from builder.replayscm.plan.config import Config
from builder.replayscm.plan.pools import BASE, EVERY_POOL, POOLS
from builder.seeds import shuffled
from builder.track import Asked, InstanceSpec
from grader.errors import UsageError
from grader.io.jsonio import canonical

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
    how = config.base_generation or generation.BASE
    for place in range(config.base or 0):
        labels = tuple(pool.label for pool in (BASE[place % 2 :][:1] if private else BASE))
        yield ProgramPlan(labels, False, shifted=config.shifted, generation=how)

"""Planning: which program is asked in which pools."""

import json
from dataclasses import dataclass
from typing import Final

from builder.release.instance_keys import keyed_specs, plan_stream
from builder.replayscm.plan.config import Config
from builder.replayscm.plan.pools import POOLS
from builder.seeds import shuffled
from builder.track import Asked, InstanceSpec
from grader.errors import UsageError
from grader.io.jsonio import canonical

TRACK_NAME: Final = "replayscm"


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """The pools of one program; a ``matched`` program is in all of them."""

    pools: tuple[str, ...]
    matched: bool

    @property
    def asked(self) -> Asked:
        """What the release machinery reads of the plan: a task a pool."""
        count = len(self.pools)
        if count > 1:
            return Asked((count, count))
        return Asked(levels=(("variant", POOLS[self.pools[0]].variant),))

    def to_json(self) -> str:
        """Canonical JSON."""
        asked = self.asked
        shown = {"tasks": asked.tasks, **dict(asked.levels)}
        return canonical({"pools": self.pools, "matched": self.matched, **shown})

    @staticmethod
    def from_json(text: str) -> "ProgramPlan":
        """What :meth:`to_json` wrote."""
        record = json.loads(text)
        return ProgramPlan(tuple(record["pools"]), record["matched"])


def plan_programs(
    config: Config, split: str, count_root: bytes, private: bool
) -> list[InstanceSpec]:
    """The instance specs of a split, in index order.

    The order is random, so the index carries no information about the pools.

    Raises ``UsageError`` for shared programs in a private-truth split.
    """
    if private and not config.per_pool:
        raise UsageError(
            f"splits.{split}.{TRACK_NAME}.full: with private truth every program is in one record "
            "only, or one prompt would give away another; write per_pool = 40 instead"
        )
    plans = [ProgramPlan((label,), False) for label in POOLS for _ in range(config.per_pool)]
    plans += [ProgramPlan(tuple(POOLS), True)] * config.matched
    for label in ("Ord-Full", "Hid-Full"):
        plans += [ProgramPlan((label,), False)] * (config.full - config.matched)
    rng = plan_stream(count_root, TRACK_NAME, split, "plan")
    place = (TRACK_NAME, split)
    return keyed_specs(shuffled(rng, plans), place, ("program", "program"), count_root, private)

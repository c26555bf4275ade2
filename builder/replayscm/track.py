"""The replayscm track as the release machinery sees it: parse, plan, build."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import pyarrow as pa

from builder.attempts import Clock, first_accepted
from builder.release.types import Built, InstanceSpec, Row
from builder.replayscm import rows
from builder.replayscm.make.instance import make_instance
from builder.replayscm.plan.config import Config, parse_config
from builder.replayscm.plan.records import TRACK_NAME, ProgramPlan, plan_programs
from builder.seeds import attempt_key
from builder.settings import TomlTable

MAX_ATTEMPTS: Final = 100
"""Tries at one program before the settings are declared infeasible."""


@dataclass(frozen=True, slots=True)
class ReplaySCM:
    """Programs asked in one or all pools; see :class:`builder.release.types.Track`."""

    name: str = TRACK_NAME
    schemas: Mapping[str, pa.Schema] = field(default_factory=lambda: rows.SCHEMAS)
    private_configs: frozenset[str] = rows.PRIVATE_CONFIGS

    def parse(self, table: Mapping[str, object], where: str) -> Config:
        """The checked TOML table; raises ``UsageError`` naming the key."""
        return parse_config(TomlTable(table, f"{where}."))

    def plan(
        self, config: Config, split: str, count_root: bytes, private: bool
    ) -> list[InstanceSpec]:
        """The programs of a split, in index order."""
        return plan_programs(config, split, count_root, private)

    def build(self, spec: InstanceSpec) -> Built:
        """One program with its tasks, as rows; a rejected attempt is replaced by the next.

        Raises ``UsageError`` when none of ``MAX_ATTEMPTS`` will do.
        """
        plan = ProgramPlan.from_json(spec.config_json)
        return first_accepted(
            spec, partial(_try, spec, plan), MAX_ATTEMPTS, "program", "change the seed"
        )


def _try(
    spec: InstanceSpec, plan: ProgramPlan, attempt: int, _: int, clock: Clock
) -> dict[str, list[Row]]:
    instance = make_instance(plan, attempt_key(spec.key, attempt), clock)
    records = instance.records
    with clock("prompts"):
        return {
            "replayscm": [rows.task_row(spec, instance, record) for record in records],
            "replayscm_truth": [
                rows.truth_row(spec, instance, record, plan.matched) for record in records
            ],
            "replayscm_worlds": [rows.world_row(spec, instance, attempt)],
        }


TRACK: Final = ReplaySCM()

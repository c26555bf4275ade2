"""The causalab track as the release machinery sees it: parse, plan, build."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import pyarrow as pa

from builder.attempts import Clock, first_accepted
from builder.causalab import rows
from builder.causalab.make.episode import Parts, draw, episode_parts
from builder.causalab.plan.config import Config, parse_config
from builder.causalab.plan.graphs import TRACK_NAME, GraphPlan, plan_graphs
from builder.importing.causalab.command import Imported, build_imported, is_imported, plan_imported
from builder.release.types import Built, InstanceSpec, Row
from builder.seeds import attempt_key
from builder.settings import TomlTable

MAX_ATTEMPTS: Final = 100
"""Tries at the numbers of one graph before it is declared infeasible."""


@dataclass(frozen=True, slots=True)
class CausaLab:
    """Named graphs with one or several episodes; see :class:`builder.release.types.Track`."""

    name: str = TRACK_NAME
    schemas: Mapping[str, pa.Schema] = field(default_factory=lambda: rows.SCHEMAS)
    private_configs: frozenset[str] = rows.PRIVATE_CONFIGS

    def parse(self, table: Mapping[str, object], where: str) -> Config:
        """The checked TOML table; raises ``UsageError`` naming the key."""
        return parse_config(TomlTable(table, f"{where}."))

    def plan(
        self, config: Config | Imported, split: str, count_root: bytes, private: bool
    ) -> list[InstanceSpec]:
        """The graphs of a split, in index order."""
        if isinstance(config, Imported):
            return plan_imported(config, split, count_root)
        return plan_graphs(config, split, count_root, private)

    def build(self, spec: InstanceSpec) -> Built:
        """One graph with its episodes, as rows; a rejected attempt is replaced by the next.

        Raises ``UsageError`` when none of ``MAX_ATTEMPTS`` will do.
        """
        if is_imported(spec):
            return build_imported(spec)
        plan = GraphPlan.from_json(spec.config_json)
        return first_accepted(
            spec, partial(_try, spec, plan), MAX_ATTEMPTS, "episode", "change the seed"
        )


def _try(
    spec: InstanceSpec, plan: GraphPlan, attempt: int, _: int, clock: Clock
) -> dict[str, list[Row]]:
    with clock("episodes"):
        parts = build_parts(plan, attempt_key(spec.key, attempt))
        names = [rows.task_id(spec, *episode) for episode in plan.episodes]
        found = list(zip(names, parts, strict=True))
        return {
            "causalab": [rows.task_row(spec, *entry) for entry in found],
            "causalab_truth": [rows.truth_row(spec, *entry) for entry in found],
            "causalab_worlds": [rows.world_row(spec, plan, attempt)],
        }


def build_parts(plan: GraphPlan, key: bytes) -> list[Parts]:
    """Both sides of every episode of a graph; raises :class:`builder.attempts.Rejected`."""
    found = []
    for suite, setting in plan.episodes:
        drawn = draw(plan.graph, suite, setting, plan.fixed and setting == "wide", key)
        found.append(episode_parts(plan.graph, suite, setting, drawn, plan.mode))
    return found


TRACK: Final = CausaLab()

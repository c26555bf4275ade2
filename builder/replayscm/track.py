"""The replayscm track as the release machinery sees it: parse, plan, build."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

import pyarrow as pa

from builder.release.types import Built, InstanceSpec
from builder.replayscm import rows
from builder.replayscm.make.generate import Rejected
from builder.replayscm.make.instance import Instance, make_instance
from builder.replayscm.plan.config import Config, parse_config
from builder.replayscm.plan.records import TRACK_NAME, ProgramPlan, plan_programs
from builder.seeds import attempt_key
from builder.settings import TomlTable
from grader.errors import UsageError

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
        rejections: Counter[str] = Counter()
        clock = _Clock()
        for attempt in range(MAX_ATTEMPTS):
            try:
                instance = make_instance(plan, attempt_key(spec.key, attempt), clock)
            except Rejected as rejected:
                rejections[rejected.reason] += 1
                continue
            with clock("prompts"):
                built = _rows(spec, instance, attempt, plan.matched)
            return Built(built, tuple(sorted(rejections.items())), clock.seconds())
        reasons = ", ".join(f"{reason} ({n}x)" for reason, n in sorted(rejections.items()))
        raise UsageError(
            f"{spec.label}: no program in {MAX_ATTEMPTS} attempts: {reasons}; change the seed"
        )


def _rows(
    spec: InstanceSpec, instance: Instance, attempt: int, matched: bool
) -> dict[str, list[dict[str, object]]]:
    return {
        "replayscm": [rows.task_row(spec, instance, record) for record in instance.records],
        "replayscm_truth": [
            rows.truth_row(spec, instance, record, matched) for record in instance.records
        ],
        "replayscm_worlds": [rows.world_row(spec, instance, attempt)],
    }


class _Clock:
    """Adds up the seconds of named stages."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self._seconds[stage] = self._seconds.get(stage, 0.0) + perf_counter() - start

    def seconds(self) -> tuple[tuple[str, float], ...]:
        return tuple(self._seconds.items())


TRACK: Final = ReplaySCM()

"""``python -m benchmarks.causalds``: seconds per scene of splits/main.toml, by stage.

Builds scenes of the full composition with all three views and 20,000 rows in this process, one
core. Shares of random numbers (numpy's generators) and of Parquet (rows to compressed
shards) are of the whole. Absolute times depend on the machine; the reference line is a fixed piece
of numpy work to read them against.
"""

import argparse
import io
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks.built import main_config
from builder.causalds.make import observe, scene
from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.track import TRACK
from builder.release.arrow import table_from_rows
from builder.seeds import stream
from builder.track import InstanceSpec
from grader.io.pipe import exit_with


def main(arguments: Sequence[str] | None = None) -> int:
    """Build some scenes and print where the time goes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.causalds")
    parser.add_argument("--scenes", type=int, default=60)
    scenes = parser.parse_args(arguments).scenes
    with threadpool_limits(1):  # as workers of a build do
        return _measure(scenes)


def _measure(scenes: int) -> int:
    """Builds that many scenes and prints the table."""
    specs = plan_scenes(main_config(), "dev", b"benchmark", False)[:scenes]
    seconds: dict[str, float] = defaultdict(float)
    start, slowest = time.perf_counter(), 0.0
    for spec in specs:
        begun = time.perf_counter()
        built = TRACK.build(spec)
        for stage, spent in built.seconds.items():
            seconds[stage] += spent
        before = time.perf_counter()
        pq.write_table(
            table_from_rows(built.rows["causalds_scenes"], TRACK.tables["causalds_scenes"]),
            io.BytesIO(),
            compression="zstd",
        )
        seconds["parquet"] += time.perf_counter() - before
        slowest = max(slowest, time.perf_counter() - begun)
    whole = time.perf_counter() - start
    table = Table("stage", "seconds per scene", "share", title=f"{len(specs)} scenes, one core")
    for stage, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        table.add_row(stage, f"{spent / len(specs):.4f}", f"{spent / whole:.0%}")
    table.add_row("all", f"{whole / len(specs):.4f}", f"slowest {slowest:.2f} s")
    console = Console()
    console.print(table)
    drawn = _random_share(specs[: max(1, scenes // 4)])
    console.print(f"random numbers: {drawn:.0%} of a build; reference: {_reference():.4f} s")
    return 0


class _Timed:
    """A random generator that adds up the seconds spent in it."""

    spent = 0.0

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._generator, name)

        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return method(*arguments, **named)
            finally:
                _Timed.spent += time.perf_counter() - start

        return timed


def _random_share(specs: Sequence[InstanceSpec]) -> float:
    """Share of building spent inside numpy's generators."""

    def timed(key: bytes, stage: str) -> Any:
        return _Timed(stream(key, stage))

    _Timed.spent, start = 0.0, time.perf_counter()
    with patch.object(scene, "stream", timed), patch.object(observe, "stream", timed):
        for spec in specs:
            TRACK.build(spec)
    return _Timed.spent / (time.perf_counter() - start)


def _reference() -> float:
    """Seconds for a million normal draws, sorted."""
    start = time.perf_counter()
    np.sort(np.random.default_rng(0).standard_normal(1_000_000))
    return time.perf_counter() - start


if __name__ == "__main__":
    exit_with(main)

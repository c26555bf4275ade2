"""``python -m benchmarks.growth``: how a build grows with its scenes, gate included.

Builds releases of so many scenes each (clean view, 200 rows, public truth, an exam of 200 tasks) in
processes of their own and tells time and memory of each, then what one more scene costs by the two
largest, and what a million would. ``--full`` gives scenes the rows and views of
``splits/main.toml``. Memory of the driver is what decides how large a release can be; that of a
worker does not depend on it. Only processor time means something on a machine that does other work
besides.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console
from rich.table import Table

from grader.io.pipe import exit_with

_SPLIT: Final = """
name = "growth"
version = "0.0.0"
[splits.dev]
truth = "public"
seed = "growth"
[splits.dev.causalds]
scenes = {scenes}
rows = {{ train = {train}, test = {test} }}
composition = "full"
treatment_binary = 0.5
outcome_binary = 0.4
views = {views}
[splits.dev.exams.some]
causalds = {{ tasks = 200 }}
"""

_SMALL: Final = {"train": 200, "test": 100, "views": '["clean"]'}
_FULL: Final = {"train": 16000, "test": 4000, "views": '["clean", "proxy", "proxy_hard"]'}

_CHILD: Final = """
import json, resource, sys, time
from builder.cli.main import main
from builder.release.processes import stop
if __name__ == "__main__":
    started = time.perf_counter()
    code = main(["build", *sys.argv[1:], "--quiet"])
    stop()
    own, workers = (resource.getrusage(who) for who in
                    (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    told = {"wall": time.perf_counter() - started, "driver": own.ru_utime + own.ru_stime,
            "workers": workers.ru_utime + workers.ru_stime, "driver_peak": own.ru_maxrss,
            "worker_peak": workers.ru_maxrss}
    print(json.dumps(told))
    sys.exit(code)
"""


@dataclass(frozen=True, slots=True)
class Grown:
    """One build: seconds, peaks in KiB, and the bytes of the release."""

    scenes: int
    wall: float
    driver: float
    workers: float
    driver_peak: int
    worker_peak: int
    bytes: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth")
    parser.add_argument("--scenes", type=int, nargs="+", default=[1250, 5000, 20000])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--full", action="store_true", help="three views of 16,000 rows")
    options = parser.parse_args(arguments)
    shape = _FULL if options.full else _SMALL
    found = [built(scenes, options.workers, shape) for scenes in sorted(options.scenes)]
    names = ("scenes", "wall s", "driver s", "workers s", "driver MB", "largest worker MB", "MB")
    table = Table(*names, box=None)
    for one in found:
        seconds = (f"{value:.0f}" for value in (one.wall, one.driver, one.workers))
        peaks = (f"{value / 1024:.0f}" for value in (one.driver_peak, one.worker_peak))
        table.add_row(str(one.scenes), *seconds, *peaks, f"{one.bytes / 2**20:.1f}")
    console = Console()
    console.print(table)
    if len(found) > 1:
        console.print(_slope(*found[-2:]))
    return 0


def _slope(less: Grown, more: Grown) -> str:
    """What one more scene costs, and a million of them."""
    scenes = more.scenes - less.scenes
    seconds = (more.driver + more.workers - less.driver - less.workers) / scenes
    size = (more.bytes - less.bytes) / scenes
    return (
        f"a scene more: {seconds:.3f} s of processor time, "
        f"{(more.driver_peak - less.driver_peak) / scenes:.1f} KiB of the driver's memory, "
        f"{size / 1024:.1f} KiB of release\n"
        f"a million: {seconds * 1e6 / 3600:.0f} core-hours, {size * 1e6 / 1e12:.2f} TB"
    )


def built(scenes: int, workers: int, shape: Mapping[str, object]) -> Grown:
    """One build in a process of its own; raises ``CalledProcessError``."""
    with TemporaryDirectory(prefix="causal-exams-growth-") as folder:
        split, out, child = (Path(folder) / name for name in ("growth.toml", "out", "child.py"))
        split.write_text(_SPLIT.format(scenes=scenes, **shape), encoding="utf-8")
        child.write_text(_CHILD, encoding="utf-8")
        asked = [str(split), "--out", str(out), "--workers", str(workers)]
        done = subprocess.run(
            [sys.executable, str(child), *asked], check=True, stdout=subprocess.PIPE
        )
        size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        return Grown(scenes, **json.loads(done.stdout.splitlines()[-1]), bytes=size)


if __name__ == "__main__":
    exit_with(main)

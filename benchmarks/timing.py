"""Times: of a call, and of whole processes as ratios to the import of what the grader needs."""

import os
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

REFERENCE: Final = [sys.executable, "-c", "import duckdb, jsonschema"]
ROUNDS: Final = 9
ROOT: Final = Path(__file__).resolve().parent.parent
MAIN: Final = ROOT / "splits" / "main.toml"


def median_seconds(
    function: Callable[[], Any],
    rounds: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Median seconds of a call, by a clock that may be ``time.process_time``."""
    return statistics.median(timeit.repeat(function, timer=clock, repeat=rounds, number=1))


PAIRED: Final = ("seconds", "reference", "ratio (min – max)")
"""Column heads of what :func:`paired` gives."""


def paired(command: list[str]) -> tuple[str, str, str]:
    """Median seconds of ``command`` and of the reference, and their ratio, as text."""
    ours, theirs = [], []
    for _ in range(ROUNDS + 1):
        theirs.append(_seconds(REFERENCE))
        ours.append(_seconds(command))
    ours, theirs = ours[1:], theirs[1:]  # the first pair warms the file cache
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return (
        f"{statistics.median(ours):.3f}",
        f"{statistics.median(theirs):.3f}",
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f} – {max(ratios):.2f})",
    )


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def measured(command: Sequence[str]) -> tuple[float, float, int]:
    """Seconds, seconds of processor time and peak resident bytes of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise subprocess.CalledProcessError(status, command)
    unit = 1 if sys.platform == "darwin" else 1024
    processor = usage.ru_utime + usage.ru_stime
    return time.perf_counter() - start, processor, usage.ru_maxrss * unit

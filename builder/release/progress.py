"""What a person sees while a release is built: bars in a terminal, one line a stage elsewhere."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

LAST_STAGES: Final = ("staging", "checks", "parquet", "gate")
"""The stages that are the same for every track, listed after the track's own."""


TOLD_EVERY: Final = 60
"""Seconds after which a stage says how far it is where no bar shows it, as in a cluster's log."""


class Reporter:
    """Writes messages for people to standard error; standard output stays free for data.

    ``seconds`` collects the processor time of each stage, summed over workers.
    """

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self.quiet = quiet
        self.seconds: dict[str, float] = {}

    def note(self, text: str) -> None:
        """One line of information, unless quiet."""
        if not self.quiet:
            self.console.print(text, markup=False)

    def warn(self, text: str) -> None:
        """One line that even a quiet run shows."""
        self.console.print(f"warning: {text}", markup=False)

    def spend(self, seconds: Mapping[str, float]) -> None:
        """Adds to the time of stages."""
        for stage, spent in seconds.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + spent

    @contextmanager
    def stage(self, title: str, total: int) -> Iterator[Callable[[], None]]:
        """Shows a stage of ``total`` steps; yields the function to call after each step."""
        started = time.perf_counter()
        with Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
            disable=self.quiet or not self.console.is_terminal,
        ) as bar:
            task = bar.add_task(title, total=total)
            told = started

            def advance() -> None:
                nonlocal told
                bar.advance(task)
                now = time.perf_counter()
                if now - told >= TOLD_EVERY and not self.console.is_terminal:
                    told, done = now, bar.tasks[task].completed
                    left = human_time((now - started) * (total - done) / done)
                    self.note(f"{title}: {done:g} of {total}, about {left} left")

            yield advance
        steps = f"{bar.tasks[task].completed:g} of {total}"
        self.note(f"{title}: {steps} in {time.perf_counter() - started:.1f} s")

    def table_of_times(self) -> None:
        """Prints seconds and shares of each stage, summed over workers."""
        if self.quiet or not self.seconds:
            return
        table = Table("stage", title="processor time", title_justify="left", box=None)
        table.add_column("seconds", justify="right")
        table.add_column("share", justify="right")
        total = sum(self.seconds.values())
        for stage in _in_order(self.seconds):
            spent = self.seconds[stage]
            table.add_row(stage, f"{spent:.2f}", f"{spent / total:.0%}" if total else "-")
        self.console.print(table)
        if total:
            checks, gate = (self.seconds.get(stage, 0.0) / total for stage in ("checks", "gate"))
            self.note(
                f"the gate's share: {checks + gate:.0%}, of which {gate:.0%} after all parts were "
                "checked where they were staged"
            )


def _in_order(seconds: Mapping[str, float]) -> Sequence[str]:
    """The track's stages by cost, then the common ones."""
    own = sorted((stage for stage in seconds if stage not in LAST_STAGES), key=seconds.__getitem__)
    return own[::-1] + [stage for stage in LAST_STAGES if stage in seconds]


def human_time(seconds: float) -> str:
    """Seconds for people: ``50 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def human_size(size: float) -> str:
    """Bytes for people: ``8.1 MB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")

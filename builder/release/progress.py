"""What a person sees while a release is built: bars in a terminal, one line a stage elsewhere."""

import time
from collections.abc import Callable, Iterator
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

TOLD_EVERY: Final = 60
"""Seconds after which a stage says how far it is where no bar shows it, as in a cluster's log."""


class Reporter:
    """Writes messages for people to standard error; standard output stays free for data."""

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self.quiet = quiet

    def note(self, text: str) -> None:
        """One line of information, unless quiet."""
        if not self.quiet:
            self.console.print(text, markup=False)

    def warn(self, text: str) -> None:
        """One line that even a quiet run shows."""
        self.console.print(f"warning: {text}", markup=False)

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

"""Show people the progress of a build: bars in a terminal, and a line for each finished stage."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import Progress
from rich.text import Text

from grader.pages.terminal import console


class Reporter:
    """Write messages for people to standard error; standard output stays free for data. With
    ``quiet`` only warnings and results are written."""

    def __init__(self, quiet: bool = False) -> None:
        self.console = console(stderr=True, soft_wrap=True)
        self.quiet = quiet

    def note(self, text: str) -> None:
        """Write one line of information, unless ``quiet``."""
        if not self.quiet:
            self.console.print(text)

    def result(self, text: str) -> None:
        """Write one line that even a quiet run shows."""
        self.console.print(text)

    def warn(self, text: str) -> None:
        """Write a warning, which even a quiet run shows, as one line."""
        self.result(f"warning: {text}")

    @contextmanager
    def working(self) -> Iterator[Callable[[str], None]]:
        """Yield a function that writes one line as :meth:`note` does; in a terminal that line also
        turns below, until the next one."""
        if self.quiet or not self.console.is_terminal:
            yield self.note
            return
        with self.console.status("") as turning:

            def tell(text: str) -> None:
                self.note(text)
                turning.update(Text(text))

            yield tell

    @contextmanager
    def stage(self, title: str, total: int) -> Iterator[Callable[[], None]]:
        """Show a stage of ``total`` steps as a bar in a terminal, elsewhere write a line when it
        begins, and write its time at the end. Yield the function to call after each step."""
        started = time.perf_counter()
        if not self.console.is_terminal:
            self.note(f"{title}: {total} to do")
        hidden = self.quiet or not self.console.is_terminal
        with Progress(console=self.console, transient=True, disable=hidden) as bar:
            task = bar.add_task(title, total=total)
            yield lambda: bar.advance(task)
        steps = f"{bar.tasks[task].completed:g} of {total}"
        self.note(f"{title}: {steps} in {time.perf_counter() - started:.1f} s")

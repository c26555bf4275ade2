"""The end of a process in which Inspect and DuckDB were together."""

import atexit
import os
from contextlib import suppress
from functools import cache


@cache
def end_quietly() -> None:
    """What Inspect keeps to the end, DuckDB's binding would complain about on a page of its own,
    when Python has run everything else: nothing is said from there on."""
    atexit.register(_silence)


def _silence() -> None:
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

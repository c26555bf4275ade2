"""The process of a command: its processors, and its end when it is interrupted, or its output has
no reader or no room."""

import errno
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NoReturn

UNUSABLE: Final = 2
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


def processors() -> int:
    """Count the processors this process may use: in a container or under ``taskset`` not all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def exit_with(main: Callable[[], int]) -> NoReturn:
    """End the process with the exit code that ``main`` returns; silently with 0 where the reader of
    its output has gone.

    What is still buffered is written here, since Python would complain about a closed pipe only
    after the last line of ours. An output that was closed from the start, or cannot be written,
    is one line and exit code 2: what was asked for is not there.
    """
    if sys.stderr is None:
        sys.stderr = io.StringIO()  # nobody hears what goes there
    if sys.stdout is None:
        print("error: standard output is closed; send it somewhere, > /dev/null", file=sys.stderr)
        sys.exit(UNUSABLE)
    code: int | str | None
    try:
        try:
            code = main()
        except SystemExit as end:
            # argparse has said all it had to; rich ends a program itself when its reader has gone.
            code = 0 if isinstance(end.__context__, BrokenPipeError) else end.code
        sys.stdout.flush()
    except OSError as error:
        code = 0 if isinstance(error, BrokenPipeError) else UNUSABLE
        if code == UNUSABLE:
            if not is_unwritable(error):
                raise
            with suppress(OSError):  # the same disk may hold both
                print(f"error: output: {error.strerror}; send it elsewhere", file=sys.stderr)
        # What is still buffered goes nowhere, so that Python has nothing to complain about.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def is_unwritable(error: BaseException) -> bool:
    """Whether ``error`` says that an output stream, not a file with a name, cannot be written."""
    return isinstance(error, OSError) and error.filename is None and error.errno in _NO_ROOM


def is_interrupt(error: BaseException) -> bool:
    """Whether ``error`` or one of its causes is Ctrl-C. Inside a query DuckDB makes another
    exception of it."""
    cause: BaseException | None = error
    while cause is not None:
        stopped = isinstance(cause, RuntimeError) and str(cause) == "Query interrupted"
        named = type(cause).__name__ == "InterruptException"  # DuckDB's own
        if stopped or named or isinstance(cause, KeyboardInterrupt):
            return True
        cause = cause.__cause__ or cause.__context__
    return False

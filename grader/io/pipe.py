"""The end of a command whose reader may have gone: ``… | head``."""

import os
import sys
from collections.abc import Callable
from typing import NoReturn


def exit_with(main: Callable[[], int]) -> NoReturn:
    """Ends the process with what ``main`` returns; quietly where nobody reads the rest of it.

    What is still buffered is written here, since Python would complain about a closed pipe only
    after the last line of ours.
    """
    code: int | str | None
    try:
        try:
            code = main()
        except SystemExit as end:
            # argparse has said all it had to; rich ends a program itself when its reader has gone.
            code = 0 if isinstance(end.__context__, BrokenPipeError) else end.code
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)

"""What can happen to an item on its way through a worker, on any engine."""

import pickle
import traceback
from typing import Final

TRIES: Final = 3
"""An item whose worker is lost so often is taken for the reason."""

AHEAD: Final = 2
"""Items handed out ahead per worker: enough to keep it busy, few enough to hold in memory."""


class InstanceFailed(Exception):
    """An unexpected error, in our own code, while building one instance.

    ``label`` is ``track/split/index``; ``details`` the traceback, as text so that it survives the
    way out of a worker process.
    """

    def __init__(self, label: str, summary: str, details: str) -> None:
        super().__init__(label, summary, details)
        self.label = label
        self.summary = summary
        self.details = details


class WorkerDied(Exception):
    """A worker ended without a word, again and again at one item, as when memory runs out."""


def died(label: str, reason: str = "") -> WorkerDied:
    """The error that names the item at which workers die."""
    why = f" ({reason})" if reason else ""
    return WorkerDied(
        f"a worker process died {TRIES} times at {label}{why}; finished parts are kept: run the "
        "same command again, with fewer --workers if memory ran out"
    )


def tellable(error: Exception) -> Exception:
    """The error as another process can be told of it: itself, or its text. One that cannot be told
    looks like a death."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # pickling runs the error's own code, which may raise anything: it is told no
        return RuntimeError("".join(traceback.format_exception(error)))
    return error

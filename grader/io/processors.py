"""The number of processes that may work at once."""

import os


def processors() -> int:
    """Count the processors this process may use: in a container or under ``taskset`` not all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""How many processes may work at once."""

import os


def processors() -> int:
    """How many processors this process may use: in a container or under ``taskset`` not all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

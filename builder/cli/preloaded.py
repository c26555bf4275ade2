"""What workers need, imported once for all of them by the process that they are forked from."""

import gc

gc.disable()  # nothing of what is imported here is ever garbage

import pyarrow as pa  # noqa: E402
import scipy.stats  # noqa: E402, F401 - every truth is integrated with it

import builder.gate.part_check  # noqa: E402
import builder.release.staging  # noqa: E402, F401
from builder.tracks import TRACKS  # noqa: E402

for _track in TRACKS.values():  # a track is imported when it is looked up
    pass
pa.array([])  # the first conversion in a process loads libraries
gc.freeze()  # no worker looks for garbage in it, or copies its pages by doing so
gc.enable()

"""What workers need, imported once for all of them by the process that they are forked from."""

import pyarrow as pa
import scipy.stats  # noqa: F401 - every truth is integrated with it

import builder.gate.part_check
import builder.release.staging  # noqa: F401
from builder.tracks import TRACKS

for _track in TRACKS.values():  # a track is imported when it is looked up
    pass
pa.array([])  # the first conversion in a process loads libraries

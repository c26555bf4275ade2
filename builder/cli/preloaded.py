"""What workers need, imported once for all of them by the process that they are forked from."""

import gc

gc.disable()  # nothing of what is imported here is ever garbage

import scipy.stats  # noqa: E402, F401 - every truth is integrated with it

import builder.gate.part_check  # noqa: E402
import builder.release.staging  # noqa: E402, F401
from builder.release.arrow import convert_without_pandas  # noqa: E402
from builder.tracks import TRACKS  # noqa: E402

for _track in TRACKS.values():  # a track is imported when it is looked up
    pass
convert_without_pandas()
gc.enable()

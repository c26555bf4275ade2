"""What workers need, imported once for all of them by the process that they are forked from."""

import gc
import sys
from importlib.abc import MetaPathFinder

gc.disable()  # nothing of what is imported here is ever garbage

import pyarrow as pa  # noqa: E402
import scipy.stats  # noqa: E402, F401 - every truth is integrated with it

import builder.gate.part_check  # noqa: E402
import builder.release.staging  # noqa: E402, F401
from builder.tracks import TRACKS  # noqa: E402


class _WithoutPandas(MetaPathFinder):
    """Finds no pandas, wherever it is."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("not while pyarrow asks")


for _track in TRACKS.values():  # a track is imported when it is looked up
    pass
# At its first conversion pyarrow looks whether there is pandas, and loads it: a quarter of a second
# for which all workers would wait. None of them has a data frame.
sys.meta_path.insert(0, _WithoutPandas())
pa.array([])
del sys.meta_path[0]
gc.enable()

"""The reference systems of the track causalds."""

from functools import partial
from typing import Final

from baselines.causalds import informed, naive
from baselines.taking import TrackSystems, from_scenes

SYSTEMS: Final = TrackSystems(
    naive=from_scenes(naive.make_solver),
    informed=from_scenes(informed.make_solver),
    own={
        "double-sampling": (
            "informed, with estimates corrected by the calibration rows",
            from_scenes(partial(informed.make_solver, corrected=True)),
        )
    },
)

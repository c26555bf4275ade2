"""The reference systems of the track causalds."""

from functools import partial
from typing import Final

from baselines.causalds import informed_analyst, naive_analyst
from baselines.exam import TrackSystems, from_scenes

SYSTEMS: Final = TrackSystems(
    naive=from_scenes(naive_analyst.make_solver),
    informed=from_scenes(informed_analyst.make_solver),
    own={
        "double-sampling": (
            "informed, with estimates corrected by the calibration rows",
            from_scenes(partial(informed_analyst.make_solver, corrected=True)),
        )
    },
)

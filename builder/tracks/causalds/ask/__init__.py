"""What can be asked of a scene: one function per variant of ``grader.tracks``."""

from typing import Final

# Importing a module of askers registers them.
from builder.tracks.causalds.ask import (  # noqa: F401
    adjustment,
    association,
    collider,
    effects,
    identification,
    prediction,
    sketch,
)
from builder.tracks.causalds.ask.registry import in_spec_order

ASKERS: Final = in_spec_order()
"""Asker by variant key, in the order of ``grader.tracks.VARIANTS``."""

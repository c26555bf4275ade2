"""Ask questions of a scene, by one function per variant of ``grader.tracks``."""

from typing import Final

# Importing a module of askers registers them.
from builder.tracks.causalds.ask import association, effects  # noqa: F401
from builder.tracks.causalds.ask.wording import REGISTERED
from builder.tracks.causalds.design.eligibility import KEYS, one_each

ASKERS: Final = one_each(REGISTERED, KEYS, "asker", "a module of builder/tracks/causalds/ask/")
"""Asker by variant key, in the order of ``grader.tracks.VARIANTS``."""

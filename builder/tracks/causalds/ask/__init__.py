"""Ask questions of a scene, by one function per variant of ``grader.tracks``."""

from typing import Final

import numpy as np

# Importing a module of askers registers them.
from builder.tracks.causalds.ask import association, effects, graph  # noqa: F401
from builder.tracks.causalds.ask.wording import REGISTERED, Question
from builder.tracks.causalds.design.eligibility import KEYS, one_each
from builder.tracks.causalds.make.scene import Scene
from grader.errors import UsageError, error_place

ASKERS: Final = one_each(REGISTERED, KEYS, "asker", "a module of builder/tracks/causalds/ask/")
"""Asker by variant key, in the order of ``grader.tracks.VARIANTS``."""


def questions_of(key: str, scene: Scene, rng: np.random.Generator) -> list[Question]:
    """Return the questions that the asker of a variant yields for a scene. Raises ``UsageError``
    with file and line where the asker fails: it may be one that a user is writing."""
    try:
        return list(ASKERS[key](scene, rng))
    except Exception as error:
        raise UsageError(
            f"{error_place(error)}: the asker of {key} raised {type(error).__name__}: {error}; "
            "mend it there, or report it if it is not yours"
        ) from error

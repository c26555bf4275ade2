"""One asker per variant, registered against ``grader.tracks.VARIANTS``.

An asker looks at a scene and yields its questions with their truths: one, several that name
different variables or estimands, or none where the scene cannot be asked this (a label too close to
its boundary, say). Which scenes it is asked of is said by ``design.eligibility``.
The second derivation of its truths (``check.tasks``) is kept apart, so that one mistake cannot be
made in both places at once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from builder.equations.quantities import Quantity
from builder.tracks.causalds.design.eligibility import KEYS, one_each
from builder.tracks.causalds.make.scene import Scene


@dataclass(frozen=True, slots=True)
class Truth:
    """What the grader needs: see ``causalds_truth`` in docs/release-format.md.

    ``quantity`` is the number asked for, None where there is none or abstaining is right.
    """

    target: Mapping[str, object]
    quantity: Quantity | None = None
    should_abstain: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """One task of a scene, ready to be put into a prompt.

    ``question`` and ``answer`` (the answer format) are Markdown; ``inputs`` becomes
    ``inputs_json``. ``detail`` tells the questions of one variant apart: the node or the estimand
    that this one names, "" where there is only one.
    """

    question: str
    answer: str
    inputs: Mapping[str, object]
    truth: Truth
    detail: str = ""


Ask = Callable[[Scene, np.random.Generator], Iterator[Question]]
"""(scene, generator of orders) -> its questions; a prediction's inputs get the view's columns."""


_FOUND: Final[dict[str, Ask]] = {}


def asks(key: str) -> Callable[[Ask], Ask]:
    """Register the decorated function as the asker of the variant ``key``."""

    def register(ask: Ask) -> Ask:
        if key in _FOUND:
            raise ValueError(f"two askers for {key}")
        _FOUND[key] = ask
        return ask

    return register


def in_spec_order() -> dict[str, Ask]:
    """The registered askers in the order of ``VARIANTS``."""
    return one_each(_FOUND, KEYS, "asker", "a module of builder/tracks/causalds/ask/")

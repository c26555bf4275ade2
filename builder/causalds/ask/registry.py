"""One asker per variant, registered against ``grader.tracks.VARIANTS``.

An asker looks at a scene and yields its questions with their truths: one, several that name
different variables or estimands, or none where the scene cannot be asked this (a label too close to
its boundary, say). With it stands all else that composing an exam needs to know of the variant. The
second derivation of its truths (``check.tasks``) is kept apart, so that one mistake cannot be made
in both places at once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from builder.causal.motifs import Motif
from builder.causalds.complete import KEYS, one_each
from builder.causalds.make.scene import Scene
from builder.causalds.scene_plan import ScenePlan
from builder.scm.quantities import Quantity

ENDS: Final = frozenset({"treatment", "outcome"})
LEVELS: Final = ENDS | {"x0", "x1"}

Hosts = Callable[[Motif, ScenePlan], bool]
"""(graph with its ends, plan) -> whether such a scene can be asked the variant at all."""

Classes = Callable[[Motif, ScenePlan], tuple[str, ...]]
"""(graph with its ends, plan) -> the classes of answers that such a scene can have."""


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


@dataclass(frozen=True, slots=True)
class Asker:
    """How one variant is asked, and of which scenes.

    ``rank`` orders the variants of a family, 0 the easiest (an editorial order: paper A.8).
    ``inputs`` are the members of its ``inputs_json``: nothing else about a task is public by
    design. ``hosts`` and ``classes`` say what the graph and the kinds alone decide, so that
    planning knows it before any world is drawn: whether a scene can be asked the variant, and, if
    so, which classes (``exams.candidates``) its answer can have. A class that also depends on the
    numbers may turn out to be rare.
    """

    key: str
    ask: Ask
    rank: int
    inputs: frozenset[str]
    classes: Classes
    hosts: Hosts

    def can_host(self, plan: ScenePlan) -> bool:
        """Whether a scene of this plan can be asked the variant."""
        return self.hosts(plan.structure.query, plan)

    def possible_classes(self, plan: ScenePlan) -> tuple[str, ...]:
        """The classes of answers in scenes of this plan, which must be able to host the variant."""
        return self.classes(plan.structure.query, plan)


_FOUND: Final[dict[str, Asker]] = {}


def any_scene(motif: Motif, plan: ScenePlan) -> bool:
    """Every scene can be asked this."""
    return True


def asks(
    key: str,
    *,
    rank: int,
    inputs: frozenset[str],
    classes: Classes,
    hosts: Hosts = any_scene,
) -> Callable[[Ask], Ask]:
    """Registers the decorated function as the asker of the variant ``key``."""

    def register(ask: Ask) -> Ask:
        if key in _FOUND:
            raise ValueError(f"two askers for {key}")
        _FOUND[key] = Asker(key, ask, rank, inputs, classes, hosts)
        return ask

    return register


def in_spec_order() -> dict[str, Asker]:
    """The registered askers in the order of ``VARIANTS``."""
    return one_each(_FOUND, KEYS, "asker", "a module of builder/causalds/ask/")

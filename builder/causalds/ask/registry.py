"""One asker per variant, registered against ``grader.spec.VARIANTS``.

An asker looks at a scene and returns the question with its truth, or None where the scene cannot
be asked this (a label too close to its boundary, say). What depends on the graph and the kinds
alone is stated by ``hosts``, so that planning knows it before any world is drawn.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from builder.causal import Motif
from builder.causalds.scene import Scene
from builder.scm import Quantity
from builder.words import Kind
from grader.spec import VARIANTS

Hosts = Callable[[Motif, Kind], bool]
"""(motif, kind of the outcome) -> whether such a scene can be asked the variant at all."""


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
    ``inputs_json``.
    """

    question: str
    answer: str
    inputs: Mapping[str, object]
    truth: Truth


Ask = Callable[[Scene, np.random.Generator], Question | None]
"""(scene, generator of orders) -> the question; a prediction's inputs get the view's columns."""


@dataclass(frozen=True, slots=True)
class Asker:
    """How one variant is asked, and of which scenes."""

    key: str
    hosts: Hosts
    ask: Ask


_FOUND: dict[str, Asker] = {}


def any_scene(motif: Motif, outcome_kind: Kind) -> bool:
    """Every scene can be asked this."""
    return True


def directed_path(motif: Motif, outcome_kind: Kind) -> bool:
    """A directed path leads from treatment to outcome."""
    return motif.outcome in motif.graph.descendants(motif.treatment)


def continuous_outcome(motif: Motif, outcome_kind: Kind) -> bool:
    """The outcome is continuous."""
    return outcome_kind == "continuous"


def asks(key: str, hosts: Hosts = any_scene) -> Callable[[Ask], Ask]:
    """Registers the decorated function as the asker of the variant ``key``."""

    def register(ask: Ask) -> Ask:
        if key in _FOUND:
            raise ValueError(f"two askers for {key}")
        _FOUND[key] = Asker(key, hosts, ask)
        return ask

    return register


def in_spec_order() -> dict[str, Asker]:
    """The registered askers in the order of ``VARIANTS``; the suite names a variant without one."""
    return {v.key: _FOUND[v.key] for v in VARIANTS if v.track == "causalds" and v.key in _FOUND}

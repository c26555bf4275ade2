"""One asker per variant, registered against ``grader.spec.VARIANTS``.

An asker looks at a scene and yields its questions with their truths: one, several that name
different variables or estimands, or none where the scene cannot be asked this (a label too close to
its boundary, say). What depends on the graph and the kinds alone is stated by ``hosts``, so that
planning knows it before any world is drawn.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from builder.causal import Motif
from builder.causalds.make.scene import Scene
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


def other_variable(motif: Motif, outcome_kind: Kind) -> bool:
    """Some variable beside treatment and outcome is observed."""
    return len(motif.graph.observed) > 2


def two_other_variables(motif: Motif, outcome_kind: Kind) -> bool:
    """Two variables beside treatment and outcome are observed."""
    return len(motif.graph.observed) > 3


def mediated(motif: Motif, outcome_kind: Kind) -> bool:
    """A directed path of two steps or more leads from treatment to outcome."""
    return bool(motif.graph.mediators(motif.treatment, motif.outcome))


def mediated_and_direct(motif: Motif, outcome_kind: Kind) -> bool:
    """The treatment affects the outcome directly and through some other variable."""
    direct = motif.treatment in motif.graph.parents(motif.outcome)
    return direct and mediated(motif, outcome_kind)


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

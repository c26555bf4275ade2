"""The formula of an effect, from the story alone (ours; rung 2).

What is asked for is P(y | do(x)) as a functional of the distribution of the measured variables; the
answer is graded by its value on random models of the graph.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from builder.causal.graph import LatentDAG
from builder.causal.identification import identify_distribution
from builder.causal.motifs import Motif
from builder.causal.notation import notation, parts
from builder.causal.proof.estimand import Hedge
from builder.causal.proof.expression import Expression
from builder.causalds.ask.association import ends
from builder.causalds.ask.identification import measured
from builder.causalds.ask.registry import ENDS, Question, Truth, asks
from builder.causalds.ask.wording import (
    IDENTIFIABLE,
    NAMES,
    RIGHT_OR_WRONG,
    any_order,
    bold,
    fenced,
    fields,
    reading,
)
from builder.causalds.make.models import has_models, models_of
from builder.causalds.make.scene import Scene
from builder.causalds.plan.types import ScenePlan
from builder.texts import Texts
from grader.io.jsonio import canonical
from grader.tracks.causalds.estimand.language import MAX_NODES, MAX_TEXT

_TEXTS = Texts(__file__)


@lru_cache(maxsize=1024)
def _expression(graph: LatentDAG, x: str, y: str) -> Expression | None:
    """P(y | do(x)) by the ID algorithm; None where it is not identifiable."""
    found = identify_distribution(graph, x, y)
    return None if isinstance(found, Hedge) else found


def _writable(motif: Motif, plan: ScenePlan) -> bool:
    """The graph has models, and the right answer is no longer than an answer may be."""
    found = _expression(*motif.effect) if has_models(motif.graph) else None
    return has_models(motif.graph) and (found is None or parts(found) <= MAX_NODES)


def _classes(motif: Motif, plan: ScenePlan) -> tuple[str, ...]:
    return ("abstain",) if _expression(*motif.effect) is None else ("value",)


@asks(
    "identification.estimand_formula",
    rank=6,
    inputs=ENDS | {"observed"},
    classes=_classes,
    hosts=_writable,
)
def estimand_formula(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The interventional distribution as a functional of the observed one."""
    truth = _truth(scene)
    formula = truth.target["formula"]
    if isinstance(formula, str) and len(formula) > MAX_TEXT:
        return
    observed = any_order(rng, scene.observed)
    x, y = scene.treatment, scene.outcome
    question = _TEXTS(
        "question",
        measured=measured(observed),
        x=bold(x),
        y=bold(y),
        x_name=x.name,
        y_name=y.name,
        reading=reading(scene),
        identifiable=IDENTIFIABLE,
    )
    cause, between, effect = NAMES
    example = fenced("", _TEXTS("example.formula", x=cause, m=between, y=effect))
    grammar = _TEXTS(
        "grammar", x=cause, m=between, y=effect, example=example, x_name=x.name, y_name=y.name
    )
    yield Question(
        question=f"{question}\n\n{grammar}",
        answer=f"{fields({'formula': '<formula>'})}\n\n{_TEXTS('answer')} {RIGHT_OR_WRONG}",
        inputs={**ends(scene), "observed": observed},
        truth=truth,
    )


def _truth(scene: Scene) -> Truth:
    motif = scene.motif
    found = _expression(*motif.effect)
    if found is None:
        return Truth({"formula": None, "effects": []}, should_abstain=True)
    models = models_of(*motif.effect, canonical(scene.world.to_json()))
    effects = [[list(row) for row in table] for table in models.effects]
    return Truth({"formula": notation(found, scene.name), "effects": effects}, models=models)

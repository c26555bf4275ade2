"""Ask for predictions, and about the association of treatment and outcome (paper 3.4 and A.9).

In the questions about colliders the named variable is one, or affected by one, in some and not in
others, so that every answer is common: otherwise "the association is there" and "there is no bias"
would nearly always be right. Of each kind it is the first in table order, which is random and the
same in every view and every telling of a scene.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from builder.equations.quantities import (
    STRUCTURAL_ZERO,
    Quantity,
    association_margin,
    clear_largest_change,
    clear_sign,
)
from builder.release.arrow import round_truth
from builder.splits.seeds import stream
from builder.tracks.causalds.ask.wording import (
    Question,
    Truth,
    any_order,
    asks,
    bold,
    bullets,
    ends,
    number,
    percent,
)
from builder.tracks.causalds.design.eligibility import MOST_NAMED, path_openers, seems_to_open
from builder.tracks.causalds.make.scene import Scene
from grader.tracks.causalds.shapes import PREDICTION_ALPHA

_ALONE: Final = 0.25
"""The share of scenes asked about an association that is there, of those that have no other."""


@asks("association.sign_only")
def sign_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the sign of the population correlation, unless it lies inside its margin."""
    label, margin = clear_label(scene, scene.truths.association)
    if label is not None:
        slots = {"symbol": "r", "margin": margin}
        yield Question(ends(scene), Truth({"accepted": _spellings(label)}), slots=slots)


@asks("association.effect_size_point")
def effect_size_point(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the population correlation as a number."""
    yield Question(ends(scene), Truth(quantity=scene.truths.association))


@asks("association.sign_before_after")
def sign_before_after(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the signs of the correlation and of the partial correlation, for each of up to three
    variables given. Not asked where a sign lies inside its margin."""
    before, least_before = clear_label(scene, scene.truths.association)
    for node in scene.other_nodes[:MOST_NAMED]:
        after, least_after = clear_label(scene, scene.truths.partial[node], node)
        if before is None or after is None:
            continue
        accepted = {"accepted_before": _spellings(before), "accepted_after": _spellings(after)}
        slots = {"symbol": "it", "margin": least_before, "margin_s": least_after}
        yield _question_given(scene, node, Truth(accepted), **slots)


@asks("association.delta_point")
def delta_point(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for partial correlation minus correlation as a number, given up to three variables."""
    for node in scene.other_nodes[:MOST_NAMED]:
        yield _question_given(scene, node, Truth(quantity=scene.truths.change[node]))


@asks("association.delta_sign_only")
def delta_sign_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the sign of the change given each of up to three variables, where it is clear."""
    for node in scene.other_nodes[:MOST_NAMED]:
        label, margin = clear_label(scene, scene.truths.change[node], node)
        if label is not None:
            yield _question_given(scene, node, Truth({"accepted": [label]}), margin_s=margin)


@asks("association.argmax_change")
def argmax_change(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask which of the first three other variables changes the association most, if one leads."""
    nodes = scene.other_nodes[:MOST_NAMED]
    margin = _margin(scene, *nodes)
    winner = clear_largest_change({node: scene.truths.change[node] for node in nodes}, margin)
    if winner is None:
        return
    candidates = any_order(rng, [scene.name(node) for node in nodes])
    slots = {"z": "Z", "candidates": bullets(candidates), "margin_s": number(margin)}
    truth = Truth({"accepted": [scene.name(winner)]})
    yield Question({**ends(scene), "candidates": candidates}, truth, slots=slots)


@asks("collider_phenomenon.induced_association_boolean")
def induced_association_boolean(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask whether treatment and outcome are associated given a named variable. It is one given
    which they are not, and one that opens a path. Of the scenes with only the latter, public-truth
    splits ask a quarter: otherwise "they are" would be right five times in six."""
    unassociated = [n for n in scene.other_nodes if scene.truths.partial[n] == STRUCTURAL_ZERO][:1]
    if not unassociated and scene.plan.questions.variant is None and not _asked_alone(scene):
        return
    for node in (*path_openers(scene.motif, scene.other_nodes)[:1], *unassociated):
        sign, margin = clear_label(scene, scene.truths.partial[node], node)
        if sign is not None:
            truth = Truth({"accepted": [sign != "0"]})
            yield _question_given(scene, node, truth, "variable", margin_s=margin)


@asks("collider_phenomenon.induced_association_sign_only")
def induced_association_sign_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the sign of the partial correlation given a path opener and given another node, each
    where it is clear of its margin."""
    for node in _one_of_each(scene):
        label, margin = clear_label(scene, scene.truths.partial[node], node)
        if label is not None:
            truth = Truth({"accepted": _spellings(label)})
            yield _question_given(scene, node, truth, "variable", symbol="s", margin_s=margin)


@asks("collider_phenomenon.induced_association_strength_point")
def induced_association_strength(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the partial correlation given a path opener and given another node, as a number."""
    for node in _one_of_each(scene):
        truth = Truth(quantity=scene.truths.partial[node])
        yield _question_given(scene, node, truth, "variable")


@asks("bias_diagnostic.collider_bias_boolean")
def collider_bias_boolean(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask whether controlling for a named variable opens a non-causal path. Questions are about up
    to three variables that do, where there are any, else about one that might seem to."""
    openers = path_openers(scene.motif, scene.other_nodes)
    seeming = [node for node in scene.other_nodes if seems_to_open(scene.motif, node)]
    for node in openers[:MOST_NAMED] or seeming[:1]:
        yield _question_given(scene, node, Truth({"accepted": [node in openers]}), "variable")


def _question_given(
    scene: Scene, node: str, truth: Truth, member: str = "conditioning_var", **slots: str
) -> Question:
    return Question({**ends(scene), member: scene.name(node)}, truth, node, slots)


def _asked_alone(scene: Scene) -> bool:
    """Tell whether a scene is of the ``_ALONE`` share, by chance alone, alike in all views."""
    return bool(stream(scene.key, "association alone").random() < _ALONE)


def _one_of_each(scene: Scene) -> list[str]:
    """Return the first node that opens a path X to Y and the first that does not, if any."""
    openers = path_openers(scene.motif, scene.other_nodes)
    rest = [node for node in scene.other_nodes if node not in openers]
    return [*openers[:1], *rest[:1]]


def clear_label(scene: Scene, quantity: Quantity, *named: str) -> tuple[str | None, str]:
    """Return the label of a sign (None inside its margin) and the margin as printed."""
    margin = _margin(scene, *named)
    return clear_sign(quantity, margin), number(margin)


def _margin(scene: Scene, *named: str) -> float:
    """Return an association's margin: wider if X, Y or a node ``named`` is only measured."""
    nodes = {scene.motif.treatment, scene.motif.outcome, *named}
    return association_margin(measured=bool(nodes & scene.replaced))


def _spellings(sign: str) -> list[str]:
    """Return the accepted labels of a sign. An exact 0 may be called "unknown", as in the paper."""
    return ["0", "unknown"] if sign == "0" else [sign]


@asks("prediction.point_predictor")
def point_predictor(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for a number for every held-out row: the outcome, or its probability of being 1."""
    example = "0.31\n0.87" if scene.outcome.kind == "binary" else "0.42\n-1.05"
    yield _prediction(
        scene,
        {},
        {"header": "prediction", "example": example},
        words=f"prediction.of_{scene.outcome.kind}",
    )


@asks("prediction.prediction_interval")
def prediction_interval(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for a number and a central 90% interval for every held-out row."""
    slots = {
        "header": "prediction,lower,upper",
        "example": "0.42,-0.90,1.74\n-1.05,-2.37,0.27",
        "level": percent(1 - PREDICTION_ALPHA),
        "tail": percent(PREDICTION_ALPHA / 2),
        "penalty": number(2 / PREDICTION_ALPHA),
    }
    yield _prediction(scene, {"alpha": PREDICTION_ALPHA}, slots)


def _prediction(
    scene: Scene, inputs: Mapping[str, object], slots: Mapping[str, str], words: str = ""
) -> Question:
    """Return a question about the held-out outcomes. Its truth is their kind, number and sd; the
    labels themselves are in ``causalds_labels``."""
    kind, rows = scene.outcome.kind, scene.plan.equations.test
    measured = scene.motif.outcome in scene.replaced
    sd = float(scene.rows[scene.motif.outcome][-rows:].astype(np.float64).std())
    return Question(
        {
            "outcome": scene.outcome.name,
            "outcome_kind": kind,
            "columns": list(map(scene.name, scene.rows)),
            "rows": rows,
            **inputs,
        },
        Truth({"kind": kind, "sd": round_truth(sd), "rows": rows}),
        slots={
            "rows": f"{rows:,}",
            "sources": "`data.parquet`" + " and `calibration.parquet`" * measured,
            "held_back": f"the measurements of {bold(scene.outcome)}" if measured else "that one",
            **slots,
        },
        words=words,
    )

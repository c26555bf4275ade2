"""Association between treatment and outcome, how it changes when a third variable is taken into
account, and what conditioning on that one opens (rungs 1 and 2; paper 3.4 and A.9).

In the questions about colliders the named variable is one, or affected by one, in some and not in
others, and each variant chooses so that every answer is common: otherwise "the association is
there" and "there is no bias" would nearly always be right. Of each kind it is the first in table
order, which is random and the same in every view and every telling of a scene.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from builder.equations.margins import (
    association_margin,
    clear_largest_change,
    clear_sign,
    is_structural_zero,
)
from builder.equations.quantities import Quantity
from builder.splits.seeds import stream
from builder.tracks.causalds.ask.wording import (
    LABEL,
    NAMES,
    NUMBER,
    RIGHT_OR_WRONG,
    TRUTH_VALUE,
    Question,
    Truth,
    any_order,
    asks,
    bold,
    bullets,
    either,
    ends,
    fields,
    listed,
    number,
    reading,
    record,
    rely,
)
from builder.tracks.causalds.design.eligibility import MOST_NAMED, opens_path, seems_to_open
from builder.tracks.causalds.make.scene import Scene

_ALONE: Final = 0.25
"""The share of scenes asked about an association that is there, of those that have no other."""

_LABELS: Final = f"The three labels are {either(['+', '-', '0'])}."
_SIGN: Final = f"{fields({'sign': LABEL})}\n\n{_LABELS} {RIGHT_OR_WRONG}"
_NO_EFFECT: Final = "It is no estimate of a causal effect."

_PARTIAL: Final = (
    "the linear partial correlation of the two given {z} in the same population: the correlation "
    "of what remains of each when its best linear prediction from {z} is taken off, "
    "(r - a b) / sqrt((1 - a²)(1 - b²)) with a and b the correlations of either with {z}. It is "
    "this number that counts, whether or not relations are linear."
)


@asks("association.sign_only")
def sign_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The sign of the population correlation, where an honest analyst can tell it."""
    label, margin = clear_association(scene)
    if label is not None:
        yield Question(
            f"{_how(scene)} Report its sign:\n\n{_signs(scene, 'r')}\n\n{rely(('r', margin))}",
            _SIGN,
            ends(scene),
            Truth({"accepted": _spellings(label)}),
        )


@asks("association.effect_size_point")
def effect_size_point(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The population correlation as a number."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    yield Question(
        f"How strongly are {x} and {y} associated? {correlation(scene)} Estimate r. A single "
        "number from -1 to 1 is wanted; it is no estimate of a causal effect.",
        f"{fields({'value': NUMBER})}\n\nScored by |your value - r|, relative to 1 + |r|.",
        ends(scene),
        Truth(quantity=scene.truths.association),
    )


@asks("association.sign_before_after")
def sign_before_after(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Both signs: of the correlation and of the partial correlation given a named variable."""
    before, least_before = clear_association(scene)
    for node in scene.other_nodes[:MOST_NAMED]:
        after, least_after = _clear(scene, scene.truths.partial[node], node)
        if before is None or after is None:
            continue
        form = {"sign_before": LABEL, "sign_after": LABEL}
        yield _given(
            scene,
            node,
            "Report the sign of r (before) and the sign of s (after):\n\n"
            f"{_signs(scene, 'it')}\n\n{rely(('r', least_before), ('s', least_after))}",
            f"{fields(form)}\n\n{_LABELS} Right if both signs are; nothing between.",
            Truth({"accepted_before": _spellings(before), "accepted_after": _spellings(after)}),
        )


@asks("association.delta_point")
def delta_point(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The change of the association as a number."""
    for node in scene.other_nodes[:MOST_NAMED]:
        yield _given(
            scene,
            node,
            f"Estimate the change s - r, a single number from -2 to 2. {_NO_EFFECT}",
            f"{fields({'delta': NUMBER})}\n\n"
            "Scored by |your delta - (s - r)|, relative to 1 + |s - r|.",
            Truth(quantity=scene.truths.change[node]),
        )


@asks("association.delta_sign_only")
def delta_sign_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The sign of the change of the association."""
    labels = {
        "+": "if s - r is positive",
        "-": "if s - r is negative",
        "0": "if s - r is exactly 0: taking the third variable into account changes nothing",
    }
    for node in scene.other_nodes[:MOST_NAMED]:
        label, margin = _clear(scene, scene.truths.change[node], node)
        if label is not None:
            yield _given(
                scene,
                node,
                f"Report the sign of the change s - r:\n\n{listed(labels)}\n\n"
                f"{rely(('s - r', margin))}",
                _SIGN,
                Truth({"accepted": [label]}),
            )


@asks("association.argmax_change")
def argmax_change(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The variable that changes the association most."""
    nodes = scene.other_nodes[:MOST_NAMED]
    margin = _margin(scene, *nodes)
    winner = clear_largest_change({node: scene.truths.change[node] for node in nodes}, margin)
    if winner is None:
        return
    candidates = any_order(rng, [scene.name(node) for node in nodes])
    yield Question(
        f"{_how(scene)} For another variable Z, let s(Z) be {_PARTIAL.format(z='Z')}\n\nThese are "
        f"the candidates for Z (in no particular order):\n\n{bullets(candidates)}\n\nFor which of "
        "them is |s(Z) - r| largest? You may rely on this: it beats the second by at least "
        f"{number(margin)}.",
        fields(
            {"conditioning_var": NAMES[0]},
            f", the candidate's name exactly as listed (here {NAMES[0]} stands for it)",
        )
        + f"\n\n{RIGHT_OR_WRONG}",
        {**ends(scene), "candidates": candidates},
        Truth({"accepted": [scene.name(winner)]}),
    )


@asks("collider_phenomenon.induced_association_boolean")
def induced_association_boolean(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether treatment and outcome are associated given a named variable: one given which they
    are not, and one that opens a path. Of scenes that have only the latter, five times as many as
    have the former, public-truth splits ask a quarter: otherwise "they are" would be right more
    than five times in six. Private exams plan their answers."""
    unassociated = [n for n in scene.other_nodes if is_structural_zero(scene.truths.partial[n])][:1]
    if not unassociated and scene.plan.questions.variant is None and not _asked_alone(scene):
        return
    for node in (*_openers(scene)[:1], *unassociated):
        sign, margin = _clear(scene, scene.truths.partial[node], node)
        if sign is not None:
            yield _induced(
                scene,
                node,
                "Is there such an association: does s differ from 0?\n\n" + rely(("s", margin)),
                f"{fields({'association_present': TRUTH_VALUE})}\n\n{RIGHT_OR_WRONG}",
                Truth({"accepted": [sign != "0"]}),
            )


@asks("collider_phenomenon.induced_association_sign_only")
def induced_association_sign_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The sign of the partial correlation given a named variable."""
    for node in _one_of_each(scene):
        label, margin = _clear(scene, scene.truths.partial[node], node)
        if label is not None:
            yield _induced(
                scene,
                node,
                f"Report the sign of s:\n\n{_signs(scene, 's')}\n\n{rely(('s', margin))}",
                _SIGN,
                Truth({"accepted": _spellings(label)}),
            )


@asks("collider_phenomenon.induced_association_strength_point")
def induced_association_strength(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The partial correlation given a named variable, as a number."""
    for node in _one_of_each(scene):
        yield _induced(
            scene,
            node,
            f"Estimate s, a single number from -1 to 1. {_NO_EFFECT}",
            f"{fields({'value': NUMBER})}\n\nScored by |your value - s|, relative to 1 + |s|.",
            Truth(quantity=scene.truths.partial[node]),
        )


@asks("bias_diagnostic.collider_bias_boolean")
def collider_bias_boolean(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether controlling for a named variable opens a non-causal path: about those that do, where
    there are any, else about one that might seem to."""
    openers = _openers(scene)
    seeming = [node for node in scene.other_nodes if seems_to_open(scene.motif, node)]
    x_name, y_name = scene.treatment.name, scene.outcome.name
    for node in openers[:MOST_NAMED] or seeming[:1]:
        z = bold(scene.variables[node])
        question = (
            f"Someone wants to learn the effect of {bold(scene.treatment)} on "
            f"{bold(scene.outcome)} and controls for {z}, and for nothing else. Does this "
            "introduce collider bias?\n\n"
            "Collider bias means here: among the paths between the two variables, that is the "
            "routes along direct effects in whichever direction and through any variables, "
            f"measured or not, some path that is not a chain of effects from {x_name} to "
            f"{y_name} is blocked while nothing is controlled for and open once {z} is. A path "
            "is open if each variable inside it at which two of its effects meet (a collider) "
            "is controlled for or affects, directly or through others, one that is, and no "
            "other variable inside it is controlled for. Cutting off part of the effect "
            f"itself, by controlling for something on a chain of effects from {x_name} to "
            f"{y_name}, is another mistake and does not count.\n\n{reading(scene)}"
        )
        answer = f"{fields({'bias_present': TRUTH_VALUE})}\n\n{RIGHT_OR_WRONG}"
        inputs = {**ends(scene), "variable": scene.name(node)}
        yield Question(question, answer, inputs, Truth({"accepted": [node in openers]}), node)


def _asked_alone(scene: Scene) -> bool:
    """Whether a scene is one of the ``_ALONE``: by chance, as whatever else decided, such as the
    order of a table, would tell the answer; in all of its views alike, which exams may match."""
    return bool(stream(scene.key, "association alone").random() < _ALONE)


def _openers(scene: Scene) -> list[str]:
    """The nodes that open a path between treatment and outcome."""
    return [node for node in scene.other_nodes if opens_path(scene.motif, node)]


def _one_of_each(scene: Scene) -> list[str]:
    """One node that opens a path between treatment and outcome and one that does not."""
    openers = _openers(scene)
    rest = [node for node in scene.other_nodes if node not in openers]
    return [*openers[:1], *rest[:1]]


def _how(scene: Scene) -> str:
    x, y = bold(scene.treatment), bold(scene.outcome)
    return f"How are {x} and {y} associated? {correlation(scene)}"


def _given(scene: Scene, node: str, ask: str, answer: str, truth: Truth) -> Question:
    """A question about the association before and after a node is taken into account."""
    text = f"{_how(scene)} {_partial(scene, node)}\n\n{ask}"
    inputs = {**ends(scene), "conditioning_var": scene.name(node)}
    return Question(text, answer, inputs, truth, node)


def _induced(scene: Scene, node: str, ask: str, answer: str, truth: Truth) -> Question:
    """A question about the association once a node is taken into account."""
    x, y, z = (bold(one) for one in (scene.treatment, scene.outcome, scene.variables[node]))
    text = (
        f"Are {x} and {y} associated once {z} is taken into account? {correlation(scene)} "
        f"{_partial(scene, node)}\n\n{ask}"
    )
    return Question(text, answer, {**ends(scene), "variable": scene.name(node)}, truth, node)


def _partial(scene: Scene, node: str) -> str:
    return f"Let s be {_PARTIAL.format(z=bold(scene.variables[node]))}"


def correlation(scene: Scene) -> str:
    """What r is."""
    return (
        "Let r be the Pearson correlation of the two (binary values taken as 0 and 1) in the "
        f"population that the rows are drawn from: the data show a sample of it, one "
        f"{record(scene)} per row, without any intervention."
    )


def clear_association(scene: Scene) -> tuple[str | None, str]:
    """The label of the correlation's sign, None inside its margin, and the margin as printed."""
    return _clear(scene, scene.truths.association)


def _clear(scene: Scene, quantity: Quantity, *named: str) -> tuple[str | None, str]:
    margin = _margin(scene, *named)
    return clear_sign(quantity, margin), number(margin)


def _margin(scene: Scene, *named: str) -> float:
    """The margin of an association's label, wider where treatment, outcome or one of the nodes
    ``named`` is seen through measurements only."""
    nodes = {scene.motif.treatment, scene.motif.outcome, *named}
    return association_margin(measured=bool(nodes & scene.measured))


def _spellings(sign: str) -> list[str]:
    """The accepted labels of an association's sign: the reference calls exactly 0 "unknown"."""
    return ["0", "unknown"] if sign == "0" else [sign]


def _signs(scene: Scene, symbol: str) -> str:
    """The three labels of an association's sign."""
    x, y = scene.treatment.name, scene.outcome.name
    return listed(
        {
            "+": f"if {symbol} is positive: high values of {x} tend to go with high values of {y}",
            "-": f"if {symbol} is negative: high values of {x} tend to go with low values of {y}",
            "0": f"if {symbol} is exactly 0",
        }
    )

"""Hold a question with its truth, and put it into words: the prompt of a task (paper A.16.2).

An asker reads a scene and yields its questions with their truths: one, several that name different
variables or estimands, or none where the scene cannot be asked this (a label too close to its
boundary, say). ``design.eligibility`` says which scenes it is asked of. The second derivation of
its truths (``check.tasks``) is kept apart, so that one mistake cannot be made in both places at
once. Words are in wording.toml and in the table of variants.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Final

import numpy as np

from builder.equations.quantities import Quantity
from builder.splits.seeds import random_order
from builder.stories.texts import Texts
from builder.stories.types import Variable
from builder.tracks.causalds.make.observe import Observation
from builder.tracks.causalds.make.scene import Scene
from grader.errors import UsageError
from grader.scoring.shape import Variant
from grader.tracks.causalds import shapes

_TEXTS: Final = Texts(__file__)
_VARIANTS: Final = Texts(str(Path(shapes.__file__).with_name("variants.py")))
"""The table of variants, whose rows hold the question and the form of its answer."""

_ROW: Final = "grader/tracks/causalds/variants.toml"
"""That table's place, for messages."""

_DEEPEST: Final = 4
"""The most levels at which shared texts hold one another."""

_UNWRITTEN: Final = "TODO: "
"""How each text of a new variant begins until its author has written it (show/scaffold.toml)."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The right answer to a question: ``target`` is the ``target_json`` of ``causalds_truth``,
    ``quantity`` the number asked for, None where none is or abstaining is right."""

    target: Mapping[str, object] = field(default_factory=dict)
    quantity: Quantity | None = None
    should_abstain: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """One task of a scene, ready to be put into a prompt.

    ``inputs`` becomes ``inputs_json``. ``detail`` tells the questions of one variant apart: it is
    the node or the estimand that this one names, "" where there is only one. Its words stand in
    the table of variants, or in wording.toml under ``words`` where several variants share them.
    ``slots`` are what they are filled with beside the slots of every scene.
    """

    inputs: Mapping[str, object]
    truth: Truth
    detail: str = ""
    slots: Mapping[str, object] = field(default_factory=dict)
    words: str = ""


Ask = Callable[[Scene, np.random.Generator], Iterator[Question]]
"""(scene, generator of orders) -> its questions. A prediction's inputs get the view's columns."""

REGISTERED: Final[dict[str, Ask]] = {}
"""Asker by variant key, in the order in which modules are imported."""


def asks(key: str) -> Callable[[Ask], Ask]:
    """Return a decorator that registers an asker of ``key``, ``ValueError`` for a second one."""

    def register(ask: Ask) -> Ask:
        if key in REGISTERED:
            raise ValueError(f"two askers for {key}")
        REGISTERED[key] = ask
        return ask

    return register


def ends(scene: Scene) -> dict[str, object]:
    """Return the inputs that name treatment and outcome, by story name."""
    return {"treatment": scene.treatment.name, "outcome": scene.outcome.name}


def _fill_text(text: str, slots: Mapping[str, object]) -> str:
    """Return a text, shared texts and then slots filled. Raises ``KeyError`` for a missing slot."""
    for _ in range(_DEEPEST):
        text = Template(text).safe_substitute(_TEXTS["shared"])
    return Template(text).substitute(slots)


def scene_slots(scene: Scene) -> dict[str, str]:
    """Return the slots that any question's words may use, empty where only some fill them."""
    x, y = scene.treatment, scene.outcome
    levels = [number(level) for level in scene.truths.levels]
    if x.states is not None:
        states = zip(levels, x.states, strict=True)
        levels = [f"{level} ({x.mention} {state})" for level, state in states]
    return {
        "x": bold(x),
        "y": bold(y),
        "x_name": x.name,
        "y_name": y.name,
        "record": scene.narration.telling.record,
        "levels": f"x0 = {levels[0]} and x1 = {levels[1]}",
        "two_states": _TEXTS("condition.two_states") if _has_binary_column(scene) else "",
        "cross_world": "",
    }


def effect_slots(scene: Scene, name: str) -> dict[str, str]:
    """Return the slots for what an effect ("ATE", "ETT", "NDE" or "NIE") is and what identifies
    it."""
    return {
        "name": name,
        "effect": _fill_text(_TEXTS[f"shared.{name}"], scene_slots(scene)),
        "cross_world": _TEXTS("condition.cross_world") if name in ("NDE", "NIE") else "",
    }


def bold(variable: Variable) -> str:
    """Return a variable's name in bold type."""
    return f"**{variable.name}**"


def number(value: float) -> str:
    """Return a number as prompts print it: at most six significant digits, no trailing zeros."""
    return f"{value:g}"


def percent(share: float) -> str:
    """Return a share (0 to 1) in percent, with the sign %."""
    return f"{100 * share:g}%"


def any_order(rng: np.random.Generator, names: Iterable[str]) -> list[str]:
    """Return the names in an order that depends on them and ``rng`` alone, so not on the graph."""
    return random_order(rng, sorted(names))


def bullets(names: Sequence[str]) -> str:
    """Return names as a Markdown list, one line each."""
    return "\n".join(f"- {name}" for name in names)


def _has_binary_column(scene: Scene) -> bool:
    return any(scene.variables[node].kind == "binary" for node in scene.rows)


def write_prompt(
    scene: Scene, shown: Observation, variant: Variant, question: Question, answer_file: str
) -> str:
    """Return a prompt as Markdown: files, background, data, measurements, scale, question, answer,
    answer file. A task of the story alone has no data, measurements or scale."""
    sections = [
        ("Files", _files(scene, shown, variant)),
        ("Background", scene.narration.telling.story),
    ]
    if variant.shape.input_mode == "data":
        sections.append(("Data", _data(scene, shown)))
        if shown.bundles:
            sections.append(("Measurements", _measurements(scene, shown)))
        scale = _TEXTS("scale.text") + _TEXTS("scale.binary") * _has_binary_column(scene)
        sections.append(("Scale", scale))
    kind = "CSV" if variant.shape.suffix == ".csv" else "JSON"
    words = _TEXTS[question.words] if question.words else _VARIANTS[variant.key]
    slots = {**scene_slots(scene), **question.slots}
    if question.detail in scene.variables:
        slots["z"] = bold(scene.variables[question.detail])
    sections += [
        *zip(("Question", "Answer"), _question_and_answer(variant, words, slots), strict=True),
        ("Answer file", _TEXTS("answer.file", file=answer_file, kind=kind)),
    ]
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections)
    return f"# Task\n\n{_TEXTS(f'introduction.{variant.shape.input_mode}')}\n\n{body}\n"


def refuse_unwritten(variants: Iterable[Variant] = shapes.CAUSALDS) -> None:
    """Raise ``UsageError`` for a variant whose rule, question or answer is still the template's."""
    for variant in variants:
        texts = (variant.rule, *_VARIANTS[variant.key].values())
        if any(_UNWRITTEN in str(text) for text in texts):
            what = "still has the template's text; write what it says after TODO"
            raise UsageError(f"{_ROW}: [{variant.key}] {what}")


def _question_and_answer(
    variant: Variant, words: Mapping[str, str], slots: Mapping[str, object]
) -> tuple[str, str]:
    """Return question and form of its answer, slots filled; ``UsageError`` if one has no value."""
    try:
        return _fill_text(words["question"], slots), _fill_text(words["answer"], slots)
    except (KeyError, ValueError) as error:
        what = f"a $slot without value ({error}); give it in the asker's Question(slots=…)"
        raise UsageError(
            f"{_ROW}: [{variant.key}] has {what}, or write $$ for a dollar sign"
        ) from None


def _files(scene: Scene, shown: Observation, variant: Variant) -> str:
    """Return the text that lists the files of a task."""
    files = [_TEXTS("files.reading")]
    if variant.shape.input_mode == "data":
        files.append(_TEXTS("files.data", rows=f"{scene.plan.equations.train:,}"))
        files.append(_TEXTS("files.columns"))
        if shown.bundles:
            files.append(_TEXTS("files.calibration", rows=f"{len(shown.chosen):,}"))
    if variant.family == "prediction":
        files.append(_TEXTS("files.test", rows=f"{scene.plan.equations.test:,}"))
    files.append(_TEXTS("files.answer"))
    return _TEXTS("files.text", files=bullets(files))


def _data(scene: Scene, shown: Observation) -> str:
    """Return the text on the data: what a row is and what the columns are, in table order."""
    columns = [
        _TEXTS("data.measurement", column=one.name, kind=one.kind, variable=scene.name(one.node))
        if one.measures
        else _column(scene.variables[one.node])
        for one in shown.columns
    ]
    rows, record = f"{scene.plan.equations.train:,}", scene.narration.telling.record
    text = _TEXTS("data.text", rows=rows, record=record, columns=bullets(columns))
    return text + (_TEXTS("data.never_measured") if scene.motif.graph.latent else "")


def _measurements(scene: Scene, shown: Observation) -> str:
    """Return the text on the columns of each replaced variable, and on the calibration rows."""
    nodes = sorted((node for node in scene.rows if node in shown.bundles), key=scene.name)
    measured = [
        f"{_column(scene.variables[node])}: {len(shown.bundles[node].measurements)} columns"
        for node in nodes
    ]
    record, rows = scene.narration.telling.record, f"{len(shown.chosen):,}"
    text = _TEXTS("measurements.text", measurements=bullets(measured), record=record)
    names = ", ".join(map(scene.name, nodes))
    return text + _TEXTS("measurements.calibration", rows=rows, variables=names)


def _column(variable: Variable) -> str:
    """Return a line on a column that shows a variable itself, with its meaning of 0 and 1."""
    if variable.states is None:
        return _TEXTS("data.continuous", variable=variable.name)
    (zero, one), it = variable.states, "they" if variable.plural else "it"
    return _TEXTS("data.binary", variable=variable.name, it=it, one=one, zero=zero)

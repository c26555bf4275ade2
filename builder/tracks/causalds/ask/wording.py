"""A question with its truth, the phrases that several questions share, so that each rule is put in
words once, and the complete prompt of a task: the parts of paper A.16.2 in our own words.

An asker looks at a scene and yields its questions with their truths: one, several that name
different variables or estimands, or none where the scene cannot be asked this (a label too close to
its boundary, say). Which scenes it is asked of is said by ``design.eligibility``. The second
derivation of its truths (``check.tasks``) is kept apart, so that one mistake cannot be made in both
places at once.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from builder.equations.quantities import Quantity
from builder.splits.seeds import random_order
from builder.stories.texts import Texts
from builder.stories.types import Variable
from builder.tracks.causalds.make.observe import Observation
from builder.tracks.causalds.make.scene import Scene
from grader.scoring.shape import Variant

_TEXTS: Final = Texts(__file__)


@dataclass(frozen=True, slots=True)
class Truth:
    """What the grader needs: see ``causalds_truth`` in docs/release-format.md. ``quantity`` is the
    number asked for, None where there is none or abstaining is right."""

    target: Mapping[str, object] = field(default_factory=dict)
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

REGISTERED: Final[dict[str, Ask]] = {}
"""Asker by variant key, in the order in which modules are imported."""


def asks(key: str) -> Callable[[Ask], Ask]:
    """Register the decorated function as the asker of the variant ``key``."""

    def register(ask: Ask) -> Ask:
        if key in REGISTERED:
            raise ValueError(f"two askers for {key}")
        REGISTERED[key] = ask
        return ask

    return register


def ends(scene: Scene) -> dict[str, object]:
    """The inputs that name treatment and outcome."""
    return {"treatment": scene.treatment.name, "outcome": scene.outcome.name}


IDENTIFIABLE: Final = (
    "*Identifiable* means: fixed by the joint distribution of the measured variables, in the same "
    "way in every model that agrees with the background. It may be assumed that every value of a "
    "variable can occur whatever the values of the others are (positivity). Functional forms "
    "(linearity, say), equal effects for everyone and monotone effects may not be assumed. Nor may "
    "it be assumed that measured variables tell enough about one that was never measured to stand "
    "in for it (as proxies or negative controls)."
)
"""Nonparametric identifiability."""

_CROSS_WORLD: Final = (
    " What moves a variable beside its direct causes (its error) may be assumed to be independent "
    "of the errors of all other variables."
)
"""What natural effects need besides: they compare what no one unit can show."""

_READING: Final = (
    "Read the background as a complete account of the direct effects among the variables it "
    "names: where it tells of no direct effect there is none, and nothing it leaves out affects "
    "two of them."
)
_TWO_STATES: Final = (
    " A variable with two states affects others only through which of the two holds, its value of "
    "0 or 1, never through anything finer behind it."
)


def reading(scene: Scene) -> str:
    """What licenses conclusions from a story to a graph."""
    binary = any(scene.variables[node].kind == "binary" for node in scene.columns)
    return _READING + (_TWO_STATES if binary else "")


def identifiable(name: str) -> str:
    """What it is for the effect of this name to be identifiable."""
    return IDENTIFIABLE + (_CROSS_WORLD if name in ("NDE", "NIE") else "")


def zero_effect(scene: Scene, name: str) -> str:
    """That an effect which the graph makes 0 is identifiable, after a space; nothing of the NIE,
    which is asked about only where something lies between."""
    if name == "NIE":
        return ""
    x, y = scene.treatment.name, scene.outcome.name
    direct, any_chain = (
        f"{x} has no direct effect on {y}",
        f"no chain of effects leads from {x} to {y}",
    )
    why = direct if name == "NDE" else any_chain
    return f" If {why}, the {name} must be 0 and counts as identifiable."


def bold(variable: Variable) -> str:
    """A variable's name in bold type."""
    return f"**{variable.name}**"


def number(value: float) -> str:
    """A number as prompts print it: no more digits than it has."""
    return f"{value:g}"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:g}%"


def fenced(language: str, text: str) -> str:
    """A fenced code block."""
    return f"```{language}\n{text}\n```"


NUMBER: Final = "<number>"
COUNT: Final = "<whole number>"
TRUTH_VALUE: Final = "<true or false>"
LABEL: Final = "<label>"
NAMES: Final = ("Moon dust", "Ring tilt", "Comet tail")
"""What stands for answers in examples: blanks, and names of another world. An example that might be
right would be an answer; one that is never right would tell what is."""


def fields(form: Mapping[str, object], what: str = "") -> str:
    """The members of an answer, what they are, and its form, its blanks where the content goes."""
    *first, last = [f"`{name}`" for name in form]
    names = f"fields {', '.join(first)} and {last}" if first else f"field {last}"
    text = json.dumps(form, ensure_ascii=False)
    for blank in (NUMBER, COUNT, TRUTH_VALUE):
        text = text.replace(f'"{blank}"', blank)
    return f"A JSON object with the {names}{what}:\n\n{fenced('json', text)}"


def listed(labels: Mapping[str, str]) -> str:
    """Labels with what each of them says, as a Markdown list."""
    lines = [f'- `"{label}"` {meaning};' for label, meaning in labels.items()]
    return "\n".join([*lines[:-1], lines[-1].removesuffix(";") + "."])


def either(labels: Iterable[str]) -> str:
    """Labels in a row: `"a"`, `"b"` and `"c"`."""
    *first, last = [f'`"{label}"`' for label in labels]
    return f"{', '.join(first)} and {last}"


def record(scene: Scene) -> str:
    """What one row is called."""
    return scene.narration.telling.record


def rely(*promises: tuple[str, str]) -> str:
    """The promise that no label is borderline: of each number its margin."""
    (what, margin), *more = promises
    told = [
        f"{what} is either exactly 0 or at least {margin}",
        *(f"{other} either exactly 0 or at least {least}" for other, least in more),
    ]
    return f"You may rely on this: {', and '.join(told)}{',' * bool(more)} in absolute value."


RIGHT_OR_WRONG: Final = "Right or wrong, nothing between."


def any_order(rng: np.random.Generator, names: Iterable[str]) -> list[str]:
    """The names in a seeded order that has nothing to do with the graph."""
    ordered = sorted(names)
    return random_order(rng, ordered)


def bullets(names: Sequence[str]) -> str:
    """Names as a Markdown list."""
    return "\n".join(f"- {name}" for name in names)


def levels(scene: Scene) -> str:
    """The two treatment levels in words, with the states' meaning where the treatment is binary."""
    x0, x1 = (number(level) for level in scene.truths.levels)
    states = scene.treatment.states
    if states is None:
        return f"x0 = {x0} and x1 = {x1}"
    name = scene.treatment.mention
    return f"x0 = {x0} ({name} {states[0]}) and x1 = {x1} ({name} {states[1]})"


def write_prompt(
    scene: Scene, shown: Observation, variant: Variant, question: Question, answer_file: str
) -> str:
    """Markdown: files, background, data, measurements, scale, question, answer and its file."""
    sections = [
        ("Files", _files(scene, shown, variant)),
        ("Background", scene.narration.telling.story),
    ]
    if variant.shape.input_mode == "data":
        sections.append(("Data", _data(scene, shown)))
        if shown.bundles:
            sections.append(("Measurements", _measurements(scene, shown)))
        binary = any(scene.variables[node].kind == "binary" for node in scene.columns)
        scale = _TEXTS("scale.text") + (_TEXTS("scale.binary") if binary else "")
        sections.append(("Scale", scale))
    kind = "CSV" if variant.shape.suffix == ".csv" else "JSON"
    sections += [
        ("Question", question.question),
        ("Answer", question.answer),
        ("Answer file", _TEXTS("answer.file", file=answer_file, kind=kind)),
    ]
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections)
    return f"# Task\n\n{_TEXTS(f'introduction.{variant.shape.input_mode}')}\n\n{body}\n"


def _files(scene: Scene, shown: Observation, variant: Variant) -> str:
    files = [_TEXTS("files.story")]
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
    """What a row is and what the columns are, in table order."""
    columns = [
        _TEXTS(
            "data.measurement",
            column=column.name,
            kind=column.kind,
            variable=scene.name(column.node),
        )
        if column.measures
        else _column(scene.variables[column.node])
        for column in shown.columns
    ]
    rows = f"{scene.plan.equations.train:,}"
    text = _TEXTS("data.text", rows=rows, record=record(scene), columns=bullets(columns))
    return text + (_TEXTS("data.never_measured") if scene.motif.graph.latent else "")


def _measurements(scene: Scene, shown: Observation) -> str:
    """The measurement note, in full."""
    nodes = sorted((node for node in scene.columns if node in shown.bundles), key=scene.name)
    listed = [
        f"{_column(scene.variables[node])}: {', '.join(shown.columns_of(node))}" for node in nodes
    ]
    text = _TEXTS("measurements.text", measurements=bullets(listed), record=record(scene))
    names = ", ".join(scene.name(node) for node in nodes)
    rows = f"{len(shown.chosen):,}"
    return text + _TEXTS("measurements.calibration", rows=rows, variables=names)


def _column(variable: Variable) -> str:
    if variable.states is None:
        return _TEXTS("data.continuous", variable=variable.name)
    (zero, one), it = variable.states, variable.pronoun
    return _TEXTS("data.binary", variable=variable.name, it=it, one=one, zero=zero)

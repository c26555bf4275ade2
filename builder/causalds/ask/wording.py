"""Phrases that several questions share, so that each rule is put in words once."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from builder.causalds.make.scene import Scene
from builder.seeds import shuffled
from builder.words.types import Variable

READING: Final = (
    "Read the background as a complete account of the direct effects among the variables it "
    "names: where it tells of no direct effect there is none, and nothing it leaves out affects "
    "two of them."
)
"""What licenses conclusions from a story to a graph."""

IDENTIFIABLE: Final = (
    "*Identifiable* means: fixed by the joint distribution of the measured variables, in the same "
    "way in every model that agrees with the background. Functional forms (linearity, say), "
    "equal effects for everyone and monotone effects may not be assumed."
)
"""Nonparametric identifiability."""


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


def example(answer: object) -> str:
    """An example answer as a fenced JSON block."""
    return fenced("json", json.dumps(answer, ensure_ascii=False))


def fields(form: Mapping[str, object], what: str = "") -> str:
    """The members of an answer, what they are, and an example."""
    *first, last = [f"`{name}`" for name in form]
    names = f"fields {', '.join(first)} and {last}" if first else f"field {last}"
    return f"A JSON object with the {names}{what}:\n\n{example(form)}"


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


def rely(what: str, margin: str) -> str:
    """The promise that no label is borderline."""
    return (
        f"You may rely on this: {what} is either exactly 0 or at least {margin} in absolute value."
    )


RIGHT_OR_WRONG: Final = "Right or wrong, nothing between."

TRUE_OR_FALSE: Final = ", true or false"

SIGN_LABELS: Final = f"The three labels are {either(['+', '-', 'unknown'])}."
"""Of an association, which is "unknown" where it is exactly 0."""


def any_order(rng: np.random.Generator, names: Iterable[str]) -> list[str]:
    """The names in a seeded order that has nothing to do with the graph."""
    ordered = sorted(names)
    return shuffled(rng, ordered)


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

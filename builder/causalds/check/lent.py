"""What the prompt of one task prints of what another task about the same scene asks for."""

import re
from collections.abc import Iterator
from typing import Final

from grader.io.jsonio import canonical
from grader.shape import Task

_SETS: Final = ("set", "sets", "names")
"""The kinds of answers that are lists of names."""

_STATED: Final = ("observed", "available", "candidates")
"""Lists that say nothing: all that is measured, or variables picked whatever the graph."""

_LIST: Final = re.compile(r"(?:^- .+\n?)+", re.MULTILINE)


def lends(shown: Task, asked: Task) -> Iterator[str]:
    """Every other list of names in the question of ``shown``, as an answer to ``asked``."""
    if asked.shape.kind not in _SETS:
        return
    stated = [set(shown.inputs[key]) for key in _STATED if key in shown.inputs]
    for block in _LIST.findall(shown.prompt.partition("\n## Question\n")[2]):
        listed = {line.removeprefix("- ") for line in block.splitlines()}
        names = [name for name in asked.inputs["available"] if name in listed]
        if names and listed not in stated:
            yield canonical({asked.shape.field: [names] if asked.shape.kind == "sets" else names})

"""ReplaySCM: Boolean programs induced from intervention worlds, graded by replay."""

import re
from collections.abc import Mapping
from typing import Any, Final

from grader.pages.graph import Explanation, Graph, proofs
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.scoring.track import Track
from grader.tracks.replayscm.proof import problem_of
from grader.tracks.replayscm.report import summarise
from grader.tracks.replayscm.shapes import REPLAYSCM
from grader.tracks.replayscm.tables import SPECIFICATION, sections

_NAME: Final = re.compile(r"[A-Za-z]\w*")


def look(task: Task, truth: Truth, world: Mapping[str, Any]) -> Explanation:
    """The hidden program as a graph of what its formulas mention, and whether it is determined."""
    program: Mapping[str, str] = truth.target["gold"]
    variables = list(task.inputs.get("variables") or [*truth.target["roots"], *program])
    edges = [
        (name, child)
        for child, formula in program.items()
        for name in dict.fromkeys(_NAME.findall(formula))
        if name in variables
    ]
    determined = (
        "determine every held-out cell" if truth.target["determined"] else "leave some open"
    )
    facts = [(child, formula) for child, formula in sorted(program.items())]
    facts.append(("the training worlds", determined))
    return Explanation(Graph(variables, edges), {}, facts, proofs(__file__)["program"])


TRACK: Final = Track(
    name="replayscm",
    variants=REPLAYSCM,
    summarise=summarise,
    certify=problem_of,
    look=look,
    tables=SPECIFICATION.in_terminal,
    sections=sections,
)

"""The constant answers that floors are the best of, and the records that they are graded on."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from builder.replayscm.make.generation import PAPER
from builder.replayscm.plan.config import Config
from grader.io.jsonio import canonical
from grader.model import Truth
from grader.shape import Task

_FORMULAS: Final = {
    "the first root": "{0}",
    "not the first root": "(not {0})",
    "0": "(xor {0} {0})",
    "1": "(iff {0} {0})",
    "the first two roots, both": "(and {0} {1})",
    "the first two roots, either": "(or {0} {1})",
    "the first two roots, one": "(xor {0} {1})",
}


def twin(config: Config, tasks: int) -> Config:
    """Return the settings of the records that floors are measured on: ``tasks`` in each pool, with
    no effort to choose their evidence, which constants do not look at."""
    generation = config.generation or PAPER
    quick = replace(generation, proposals=8, disambiguation=False)
    return Config(per_pool=tasks, generation=quick)


def constants(task: Task, _: Truth) -> Iterator[tuple[str, str]]:
    """Yield each constant answer to a record, its name and text: every mechanism the same formula
    of the first roots; of alternatives, the last mechanism of the reference so replaced."""
    names = list(task.inputs["variables"])
    roots = list(task.inputs["roots"] or names[:3])
    children = [name for name in names if name not in roots]
    for name, formula in _FORMULAS.items():
        text = formula.format(*roots)
        answer: dict[str, Any] = {"mechanisms": dict.fromkeys(children, text)}
        if task.shape.kind == "alternative":
            last = {**task.inputs["reference"], children[-1]: text}
            witness = dict.fromkeys(roots[1:], 0)
            experiment = {"variable": roots[0], "value": 1}
            answer = {"mechanisms": last, "intervention": experiment, "witness": witness}
        elif task.shape.name == "roots_mechanisms":
            answer["roots"] = roots
        yield f"always {name}", canonical(answer)

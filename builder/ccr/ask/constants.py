"""The constant answers that floors are the best of, and the contexts that they are graded on."""

from collections.abc import Iterator, Sequence
from typing import Final

from builder.ccr.plan.config import Config
from builder.ccr.plan.contexts import VARIANTS_OF
from builder.track import Graded, InstanceSpec, planned_variants
from grader.io.jsonio import canonical
from grader.model import Truth
from grader.shape import Task
from grader.tracks.ccr.contexts import evaluate_context

_WORLDS: Final = ("factual", "do_true", "do_false")
_WORDS: Final = ("inconsistent", "insufficient")
_SHARES: Final = tuple(step / 20 for step in range(21))
_NUMBERS: Final = (*_SHARES, *(-share for share in _SHARES[1:]), 1.5, 2.0)


def twin(config: Config, tasks: int) -> Config:
    """Return the settings of the contexts that floors are measured on: ``tasks`` of each variant,
    simulated contexts of both sizes in the split's own shares."""
    counts = dict(config.counts)
    wanted = {name: tasks * bool(count) * len(VARIANTS_OF[name]) for name, count in counts.items()}
    if simulated := counts["simulation"] + counts["long"]:
        wanted["long"] = round(tasks * counts["long"] / simulated)
        wanted["simulation"] = tasks - wanted["long"]
    return config.model_copy(update=wanted)


def variants_of(spec: InstanceSpec) -> list[str]:
    """Return the variants that a context is asked; simulated ones are asked about all pairs."""
    return planned_variants(spec) or ["simulation.pair"]


def constants(task: Task, _: Truth) -> Iterator[tuple[str, str]]:
    """Yield each constant answer to a task: its name, the same for all tasks of a variant, and its
    text."""
    match task.shape.kind:
        case "units":
            units = int(task.inputs["units"])
            for share in _SHARES:
                moved = [place < round(share * units) for place in range(units)]
                effect = {"factual": moved, "do_true": moved, "do_false": [False] * units}
                yield f"the cause moves {share:.0%} of the units", canonical(effect)
            yield "always yes", canonical({world: [True] * units for world in _WORLDS})
        case "quantities":
            names = sorted(task.inputs["quantities"])
            for value in _NUMBERS:
                told = {"quantities": dict.fromkeys(names, value)}
                yield f"always {value:g}", canonical(told)
        case "deduction":
            for answer in (*_WORDS, *_NUMBERS):
                named = answer if isinstance(answer, str) else f"{answer:g}"
                yield f"always {named}", canonical({"value": answer})
        case other:
            raise ValueError(f"no constant answer of kind {other}")


def whole(graded: Sequence[Graded]) -> float | None:
    """Return the points of a context that is asked about in full, else None: the share of its
    compositions that are valid and consistent."""
    scores = [score for _, _, score in graded if score.family == "simulation"]
    if not scores:
        return None
    truths = {score.task_id: truth for truth, _, score in graded}
    checked = {score.task_id: found for _, found, score in graded}
    result = evaluate_context(scores, truths, checked)
    return None if result is None else result.share

"""Every way of answering without a look at story, data or values, for the floors of an exam.

Numbers and intervals come from fixed grids; names are those that an answer may hold, never the ones
that are right.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final, assert_never

from builder.causalds.exams.model import ExamModel
from builder.causalds.plan.config import Config
from builder.causalds.plan.views import CLEAN
from builder.words.verbalise import DEFAULT
from grader.io.jsonio import canonical
from grader.model import Truth
from grader.shape import Task

_NUMBERS: Final = (0.0, *(sign * size for size in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5)
                          for sign in (1, -1)))  # fmt: skip
_CENTRES: Final = (0.0, 0.25, -0.25, 0.5, -0.5, 1.0, -1.0)
_HALVES: Final = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
_LARGEST_COUNT: Final = 8
_PREDICTED: Final = (0.0, 0.5, -0.5, 1.0, -1.0)
_CHANCES: Final = (0.5, 0.3, 0.4, 0.6, 0.7)

_SCENES: Final = 200
_BUNDLES: Final = 50
_SPARE: Final = 30
"""Not every scene has names in a second domain, so that it can be told again."""
_ROWS: Final = (50, 200)
"""Training and held-out rows of a twin's scenes. Constants see no row; of held-out labels their
points need the spread alone, whose chance deviation averages out over scenes."""

Policy = tuple[str, Sequence[str]]


def twin(config: Config, model: ExamModel | None, asked: frozenset[str]) -> Config:
    """A batch of a twin: the composition as it is, few rows, all views; told again only where an
    exam compares tellings."""
    told = model is not None and model.kind == "tellings"
    return replace(
        config,
        scenes=_BUNDLES + _SPARE if told else _SCENES,
        train=_ROWS[0],
        test=_ROWS[1],
        views=(CLEAN,) if told else config.views,
        diagnostics=False,
        exams=(),
        words=DEFAULT,
        tellings=_BUNDLES if told else 0,
        llm=None,
    )


def policies(task: Task, truth: Truth) -> Iterator[Policy]:
    """The policies for a task by name, each with its answers. ``truth`` lends the names that the
    story tells, nothing else."""
    if task.shape.kind == "predictions":
        yield from _predictions(task)
        return
    for name, contents in _contents(task, truth):
        yield name, [canonical({**_demanded(task), **content}) for content in contents]


def _demanded(task: Task) -> dict[str, object]:
    """What an answer must repeat of its question."""
    key = "conditioning_var"
    return {key: task.inputs[key]} if key in task.inputs else {}


def _contents(task: Task, truth: Truth) -> Iterator[tuple[str, Sequence[Mapping[str, object]]]]:
    shape = task.shape
    kind, field = shape.kind, shape.field

    def each(*values: object) -> Iterator[tuple[str, Sequence[Mapping[str, object]]]]:
        for value in values:
            yield f"always {_told(value)}", [{field: value}]

    match kind:
        case "sign" | "label":
            yield from each(*shape.labels)
        case "signs":
            for before, after in product(shape.labels, repeat=2):
                yield (
                    f"always {before}, then {after}",
                    [{"sign_before": before, "sign_after": after}],
                )
        case "boolean":
            yield from each(True, False)
        case "count":
            yield from each(*range(_LARGEST_COUNT + 1), *shape.labels)
        case "name":
            candidates = sorted(task.inputs["candidates"])
            yield "a random candidate", [{field: name} for name in candidates]
        case "number":
            yield from each(*_NUMBERS)
        case "interval":
            for centre, half in product(_CENTRES, _HALVES):
                low, high = centre - half, centre + half
                content = {field: centre, "ci_lower": low, "ci_upper": high}
                yield f"always {centre:g} ± {half:g}", [content]
        case "edges":
            yield "no edge", [{field: []}]
            yield "every pair", [{field: _every_edge(task, sorted(truth.target["nodes"]))}]
        case "set" | "sets" | "names":
            names = sorted(task.inputs["available"])
            wrapped = kind == "sets"
            yield "none", [{field: [[]] if wrapped else []}]
            yield "all", [{field: [names] if wrapped else names}]
            yield from each(*shape.labels)
        case "predictions" | "units" | "quantities" | "deduction" | "program" | "alternative":
            raise ValueError(f"{task.task_id}: no policy for answers of kind {kind}")
        case "session":
            raise ValueError(f"{task.task_id}: no policy for answers of kind {kind}")
        case _:
            assert_never(kind)
    if shape.abstainable and shape.abstention is None:
        yield "always abstain", [{field: None}]


def _told(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _every_edge(task: Task, names: Sequence[str]) -> list[dict[str, str]]:
    """Every ordered pair where direction counts, every pair where it does not."""
    directed = task.shape.name == "edges"
    ends = ("from", "to") if directed else ("a", "b")
    pairs = ((a, b) for a, b in product(names, repeat=2) if (a != b if directed else a < b))
    return [dict(zip(ends, pair, strict=True)) for pair in pairs]


def _predictions(task: Task) -> Iterator[Policy]:
    """Constant columns, one number for continuous outcomes and one for binary ones."""
    rows = int(task.inputs["rows"])
    if task.shape.pool == "nrel_interval":
        for centre, half in product(_PREDICTED, _HALVES):
            line = f"{centre!r},{centre - half!r},{centre + half!r}"
            yield f"always {centre:g} ± {half:g}", [_csv("prediction,lower,upper", line, rows)]
        return
    binary = task.inputs["outcome_kind"] == "binary"
    for number, chance in product(_PREDICTED, _CHANCES):
        told = _csv("prediction", repr(chance if binary else number), rows)
        yield f"always {number:g}, of a binary outcome {chance:g}", [told]


def _csv(header: str, line: str, rows: int) -> str:
    return "\n".join([header, *[line] * rows]) + "\n"

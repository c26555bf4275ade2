"""List the constant answers that floors are the best of, and plan the scenes they are graded on.

Numbers and intervals come from fixed grids. Names are those that an answer may hold, never the ones
that are right.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations, product
from typing import Final, assert_never

from builder.splits.track import InstanceSpec
from builder.stories.verbalise import DEFAULT
from builder.tracks.causalds.design.eligibility import hosted_variants
from builder.tracks.causalds.design.scene_plan import CLEAN, ScenePlan
from builder.tracks.causalds.plan.config import RowCounts, SceneSettings
from grader.io.jsonio import canonical_json
from grader.scoring.model import Truth
from grader.scoring.shape import Task

_NUMBERS: Final = (
    0.0,
    *(sign * size for size in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5) for sign in (1, -1)),
)
_CENTRES: Final = (0.0, 0.25, -0.25, 0.5, -0.5, 1.0, -1.0)
_HALVES: Final = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
_LARGEST_COUNT: Final = 8
_PREDICTED: Final = (0.0, 0.5, -0.5, 1.0, -1.0)
_CHANCES: Final = (0.5, 0.3, 0.4, 0.6, 0.7)

_ROWS: Final = RowCounts(train=50, test=200)
"""Training and held-out rows of a twin's scenes. Constants see no row. Of held-out labels their
points need the spread alone, whose chance deviation averages out over scenes."""
_SCENES_OF_A_TASK: Final = 12
"""Scenes planned for each task that floors need: a twelfth of them hosts the rarest variant."""


def twin(config: SceneSettings, tasks: int) -> SceneSettings:
    """Return the settings of the floors' scenes, twelve for each of ``tasks`` of a variant. They
    keep the composition but have few rows and clean tables, since constants look at none."""
    return config.model_copy(
        update={
            "scenes": _SCENES_OF_A_TASK * tasks,
            "rows": _ROWS,
            "views": (CLEAN.name,),
            "outcome_measured": 0.0,
            "diagnostics": False,
            "exams": (),
            "words": DEFAULT,
            "tellings": 0,
            "llm": None,
            "stored_scenes": (),
        }
    )


def variants_of(spec: InstanceSpec) -> list[str]:
    """Return the keys of the variants that a scene is asked, as far as its plan decides that."""
    return hosted_variants(ScenePlan.from_json(spec.config_json))


def constants(task: Task, truth: Truth) -> Iterator[tuple[str, str]]:
    """Yield each constant answer to a task: its name, the same for all tasks of a variant, and the
    text of its file (JSON or CSV). ``truth`` lends the names that the story tells, nothing else."""
    if task.shape.kind == "predictions":
        yield from _predictions(task)
        return
    for name, content in _contents(task, truth):
        yield name, canonical_json(content)


def _contents(task: Task, truth: Truth) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the name and the members of each constant answer that is a JSON object."""
    shape = task.shape
    kind, field = shape.kind, shape.field

    def always(*values: object) -> Iterator[tuple[str, Mapping[str, object]]]:
        for value in values:
            yield f"always {_as_text(value)}", {field: value}

    match kind:
        case "sign" | "label":
            yield from always(*shape.labels)
        case "signs":
            for before, after in product(shape.labels, repeat=2):
                content = {"sign_before": before, "sign_after": after}
                yield f"always {before}, then {after}", content
        case "boolean":
            yield from always(True, False)
        case "count":
            yield from always(*range(_LARGEST_COUNT + 1), *shape.labels)
        case "name":
            candidates = task.inputs["candidates"]
            yield "the first candidate", {field: candidates[0]}
            yield "the last candidate", {field: candidates[-1]}
        case "number":
            yield from always(*_NUMBERS)
        case "interval":
            for centre, half in product(_CENTRES, _HALVES):
                low, high = centre - half, centre + half
                ends = {field: centre, "ci_lower": low, "ci_upper": high}
                yield f"always {centre:g} ± {half:g}", ends
        case "edges":
            yield "no edge", {field: []}
            yield "every pair", {field: _every_edge(task, sorted(truth.target["nodes"]))}
        case "set" | "sets" | "names":
            names = sorted(task.inputs["available"])
            wrapped = kind == "sets"
            yield "none", {field: [[]] if wrapped else []}
            yield "all", {field: [names] if wrapped else names}
            yield from always(*shape.labels)
        case (
            "predictions"
            | "units"
            | "quantities"
            | "deduction"
            | "program"
            | "alternative"
            | "session"
        ):
            raise ValueError(f"{task.task_id}: no constant answer of kind {kind}")
        case _:
            assert_never(kind)
    if shape.abstainable and shape.abstention is None:
        yield "always abstain", {field: None}


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _every_edge(task: Task, names: Sequence[str]) -> list[dict[str, str]]:
    """Return every ordered pair of names as an edge, or unordered if direction does not count."""
    if task.shape.name == "edges":
        return [{"from": a, "to": b} for a, b in permutations(names, 2)]
    return [{"a": a, "b": b} for a, b in combinations(names, 2)]


def _predictions(task: Task) -> Iterator[tuple[str, str]]:
    """Yield name and CSV text of each constant prediction: intervals, or numbers and chances."""
    rows = int(task.inputs["rows"])
    if task.shape.pool == "nrel_interval":
        for centre, half in product(_PREDICTED, _HALVES):
            line = f"{centre!r},{centre - half!r},{centre + half!r}"
            yield f"always {centre:g} ± {half:g}", _csv("prediction,lower,upper", line, rows)
        return
    binary = task.inputs["outcome_kind"] == "binary"
    for number, chance in product(_PREDICTED, _CHANCES):
        told = _csv("prediction", repr(chance if binary else number), rows)
        yield f"always {number:g}, of a binary outcome {chance:g}", told


def _csv(header: str, line: str, rows: int) -> str:
    return "\n".join([header, *[line] * rows]) + "\n"

"""What the gate checks in the rows of a part: references, and the specification of variants.

Every check takes what was read and returns problems as one-line strings; none means it holds.
"""

from collections.abc import Iterator

from builder.release.tables import SplitTables
from builder.splits.track import SceneRow, TaskRow, Track
from grader.scoring.shape import Variant
from grader.tracks import variant as variant_of


def reference_problems(track: Track, table: SplitTables) -> Iterator[str]:
    """Rows refer to rows that exist; of whole instances."""
    for task in table.tasks.values():
        truth = table.truth.get(task.task_id)
        if track.scenes and (task.instance_id, task.view) not in table.scenes:
            yield f"{task.task_id}: no scene {task.instance_id} in view {task.view}"
        if truth is None or truth["instance_id"] != task.instance_id:
            yield f"{task.task_id}: no truth, or one about another instance"
    for extra in sorted(table.truth.keys() - table.tasks.keys()):
        yield f"{extra}: a truth without a task"


def spec_problems(track: Track, table: SplitTables) -> list[str]:
    """Every task row is what the grader's specification says of its variant."""
    problems = []
    for task in table.tasks.values():
        try:
            spec = variant_of(table.track, task.key)
        except KeyError:
            problems.append(f"{task.task_id}: unknown variant {task.key}")
            continue
        scene = table.scenes.get((task.instance_id, task.view))
        found = [*_row_problems(track, task, spec)]
        if scene is not None:
            found += _scene_problems(task, scene, table.private)
            found += track.shown(task, scene, table.private)
        problems += [f"{task.task_id} ({task.key}): {problem}" for problem in found]
    return problems


def _row_problems(track: Track, task: TaskRow, spec: Variant) -> Iterator[str]:
    expected = {
        "track": (task.track, spec.track),
        "rung": (task.rung, spec.rung),
        "input_mode": (task.input_mode, spec.shape.input_mode),
        "answer_schema": (task.answer_schema, spec.shape.name),
        "answer_file": (task.answer_file, task.task_id + spec.shape.suffix),
        "inputs_json": (sorted(task.inputs), sorted(track.inputs(spec))),
    }
    for column, (found, wanted) in expected.items():
        if found != wanted:
            yield f"{column} is {found}, not {wanted}"
    if task.answer_file not in task.prompt:
        yield "the prompt does not name the answer file"


def _scene_problems(task: TaskRow, scene: SceneRow, private: bool) -> Iterator[str]:
    """What the prompt and the scene's tables have to do with each other."""
    if scene.story not in task.prompt:
        yield "the prompt does not hold the story"
    if list(scene.data_columns) != [name for name, _ in scene.columns]:
        yield "the data's columns are not those declared"
    if task.input_mode == "data" and scene.rows[0] == 0:
        yield "a data task without data"
    if private and task.input_mode == "story" and scene.data_columns:
        yield "a private story task ships data"

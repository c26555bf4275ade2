"""What the gate checks in a release's own rows: ids, prompts, exams, specification, secrecy.

Every check takes what was read and returns problems as one-line strings; none means it holds.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from builder.gate.roll import Roll
from builder.gate.tables import SceneRow, SplitTables, TaskRow
from builder.track import Track
from builder.tracks import TRACKS
from grader.shape import Variant
from grader.tracks import variant as variant_of


def id_problems(found: Sequence[Roll], raw: Mapping[str, pa.ChunkedArray]) -> list[str]:
    """No id twice, within a config or between configs; no instance without a world.

    ``raw`` are the ids of every config and split as read, duplicates included.
    """
    problems = []
    for place, ids in raw.items():
        if len(ids) > 1 and not pc.all(pc.less(ids[:-1], ids[1:])).as_py():
            problems += [f"{place}: {name} appears {n} times" for name, n in _repeated(ids)]
            listed = ids.to_pylist()
            if listed != sorted(listed):
                problems.append(f"{place}: rows are not sorted by id")
    used = [_digits(roll.tasks["task_id"].unique()) for roll in found]
    used += [_digits(_instances(roll)) for roll in found]
    problems += [f"id {name} is used {n} times" for name, n in _repeated(_chained(used))]
    for roll in found:
        shown, worlds = _instances(roll), roll.worlds.unique()
        for one, other in ((shown, worlds), (worlds, shown)):
            alone = one.filter(pc.invert(pc.is_in(one, other))).to_pylist()
            problems += [
                f"{name}: an instance without a world, or a world without an instance"
                for name in alone
            ]
    return problems


def _repeated(ids: pa.ChunkedArray) -> list[tuple[str, int]]:
    if pc.count_distinct(ids).as_py() == len(ids):
        return []
    counted = ids.value_counts().to_pylist()
    return sorted((one["values"], one["counts"]) for one in counted if one["counts"] > 1)


def _chained(arrays: Sequence[pa.Array]) -> pa.ChunkedArray:
    return pa.chunked_array(arrays, pa.string())


def _digits(names: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(names, "^.*-", "")


def _instances(roll: Roll) -> pa.Array:
    """The instances as the public side shows them."""
    shown = roll.scenes if TRACKS[roll.track].scenes else roll.tasks
    return shown["instance_id"].unique()


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


def prompt_problems(parts: Iterable[Sequence[Sequence[str]]]) -> list[str]:
    """No prompt is in two parts: each names its prompts by their hashes, with a task of each."""
    seen: dict[bytes, str] = {}
    problems = []
    for prompts in parts:
        for mark, task_id in prompts:
            other = seen.setdefault(bytes.fromhex(mark), task_id)
            if other != task_id:
                problems.append(f"{task_id} and {other}: the same prompt")
    return problems


def exam_problems(roll: Roll) -> list[str]:
    """Exams name existing tasks, each once; in a private split each task is in one exam only."""
    problems = []
    members: dict[str, list[tuple[int, str]]] = {}
    for exam, position, task_id in roll.exams:
        members.setdefault(exam, []).append((position, task_id))
    for exam, entries in members.items():
        positions = [position for position, _ in entries]
        ids = pa.array([task_id for _, task_id in entries], pa.string())
        unknown = ids.filter(pc.invert(pc.is_in(ids, roll.tasks["task_id"].unique())))
        problems += [f"exam {exam}: no task {name}" for name in unknown.to_pylist()]
        if len(ids.unique()) < len(ids) or len(set(positions)) < len(positions):
            problems.append(f"exam {exam}: a task or a position appears twice")
    if roll.private:
        problems += _private_exam_problems(roll)
    return problems


def _private_exam_problems(roll: Roll) -> Iterator[str]:
    """One hidden world, one task, one exam: one row must not give away another."""
    exams = Counter(task_id for _, _, task_id in roll.exams)
    of = dict(zip(*(column.to_pylist() for column in roll.tasks.columns), strict=True))
    for task_id in of:
        if exams[task_id] != 1:
            yield f"{task_id}: in {exams[task_id]} exams of a private split, not 1"
    if TRACKS[roll.track].protocol:
        yield from _torn_protocols(roll, of)
        return
    asked = Counter(of.values())
    for instance in sorted(_instances(roll).to_pylist()):
        if asked[instance] != 1:
            yield f"{instance}: {asked[instance]} tasks in a private split, not 1"
    for instance, count in Counter(roll.scenes["instance_id"].to_pylist()).items():
        if count > 1:
            yield f"{instance}: {count} views in a private split, not 1"


def _torn_protocols(roll: Roll, of: Mapping[str, str]) -> Iterator[str]:
    """All tasks of an instance are in one exam: one exam must not give away another's."""
    places: dict[str, set[str]] = {}
    for exam, _, task_id in roll.exams:
        if task_id in of:
            places.setdefault(of[task_id], set()).add(exam)
    for instance, exams in sorted(places.items()):
        if len(exams) > 1:
            yield f"{instance}: its tasks are in {len(exams)} exams of a private split, not 1"


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

"""What the gate checks in a release's own rows: ids, prompts, exams, specification, secrecy.

Every check takes what was read and returns problems as one-line strings; none means it holds.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from builder.gate.marks import all_different, numbers
from builder.gate.roll import Ids, Roll
from builder.gate.tables import SceneRow, SplitTables, TaskRow
from builder.track import Track
from builder.tracks import TRACKS
from grader.shape import Variant
from grader.tracks import variant as variant_of


def id_problems(found: Sequence[Roll], raw: Iterable[Ids]) -> Iterator[str]:
    """No id twice, within a config or between configs; no instance without a world.

    ``raw`` are the ids of every config and split as they stand, duplicates included.
    """
    for ids in raw:
        if not _ascending(ids.batches()):
            listed = [name for batch in ids.batches() for name in batch.to_pylist()]
            yield from (f"{ids.place}: {name} appears {n} times" for name, n in _repeated(listed))
            if listed != sorted(listed):
                yield f"{ids.place}: rows are not sorted by id"
    if not all_different(map(numbers, chain(*(_used(roll) for roll in found)))):
        used = [name.rpartition("-")[2] for roll in found for name in
                {name for batch in _used(roll) for name in batch.to_pylist()}]  # fmt: skip
        yield from (f"id {name} is used {n} times" for name, n in _repeated(used))
    for roll in found:
        shown, worlds = roll.instances(), roll.worlds.unique()
        for one, other in ((shown, worlds), (worlds, shown)):
            for name in one.filter(pc.invert(pc.is_in(one, other))).to_pylist():
                yield f"{name}: an instance without a world, or a world without an instance"


def _ascending(batches: Iterable[pa.Array]) -> bool:
    """Whether every id is after the one before."""
    last = None
    for ids in batches:
        if last is not None:
            ids = pa.concat_arrays([last, ids])
        if not pc.all(pc.less(ids[:-1], ids[1:]), min_count=0).as_py():
            return False
        last = ids[-1:]
    return True


def _used(roll: Roll) -> Iterator[pa.Array]:
    """The ids of tasks and of instances."""
    yield from roll.task_ids()
    yield roll.instances()


def _repeated(names: Sequence[str]) -> list[tuple[str, int]]:
    return sorted((name, n) for name, n in Counter(names).items() if n > 1)


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


def exam_problems(roll: Roll) -> list[str]:
    """Exams name existing tasks, each once; in a private split each task is in one exam only."""
    problems = []
    members: dict[str, list[tuple[int, str]]] = {}
    for exam, position, task_id in roll.exams:
        members.setdefault(exam, []).append((position, task_id))
    for exam, entries in members.items():
        positions = [position for position, _ in entries]
        ids = pa.array([task_id for _, task_id in entries], pa.string())
        problems += [f"exam {exam}: no task {name}" for name in _unknown(ids, roll)]
        if len(ids.unique()) < len(ids) or len(set(positions)) < len(positions):
            problems.append(f"exam {exam}: a task or a position appears twice")
    if roll.private:
        problems += _private_exam_problems(roll)
    return problems


def _unknown(ids: pa.Array, roll: Roll) -> list[str]:
    """Those of some ids that no task has, in their order."""
    for batch in roll.task_ids():
        ids = ids.filter(pc.invert(pc.is_in(ids, batch)))
        if not len(ids):
            break
    found: list[str] = ids.to_pylist()
    return found


def _private_exam_problems(roll: Roll) -> Iterator[str]:
    """One hidden world, one task, one exam: one row must not give away another."""
    exams = Counter(task_id for _, _, task_id in roll.exams)
    of = roll.instance_of()
    for task_id in of:
        if exams[task_id] != 1:
            yield f"{task_id}: in {exams[task_id]} exams of a private split, not 1"
    if TRACKS[roll.track].protocol:
        yield from _torn_protocols(roll, of)
        return
    asked = Counter(of.values())
    for instance in sorted(roll.instances().to_pylist()):
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

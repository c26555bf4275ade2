"""What the gate checks in a release's own rows: ids, prompts, exams, specification, secrecy.

Every check takes what was read and returns problems as one-line strings; none means it holds.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import duckdb

from builder.gate.roll import Roll
from builder.gate.tables import SceneRow, SplitTables, TaskRow, tracks
from builder.release.reader import public_side, shards, splits
from builder.track import Track
from builder.tracks import TRACKS
from grader.shape import Variant
from grader.tracks import variant as variant_of


def id_problems(found: Sequence[Roll], raw: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """No id twice, within a config or between configs; no instance without a world.

    ``raw`` are the ids of every config and split as they stand, duplicates included.
    """
    for place, ids in raw:
        yield from (f"{place}: {name} appears {n} times" for name, n in _repeated(ids))
        if list(ids) != sorted(ids):
            yield f"{place}: rows are not sorted by id"
    used = [name for roll in found for name in (*roll.tasks, *roll.instances)]
    digits = [name.rpartition("-")[2] for name in used]
    yield from (f"id {name} is used {n} times" for name, n in _repeated(digits))
    for roll in found:
        for name in sorted(roll.instances ^ set(roll.worlds)):
            yield f"{name}: an instance without a world, or a world without an instance"


def _repeated(names: Iterable[str]) -> list[tuple[str, int]]:
    return sorted((name, n) for name, n in Counter(names).items() if n > 1)


_SAME_PROMPT: Final = """
SELECT max(task_id), min(task_id)
FROM read_parquet($paths)
GROUP BY replace(prompt, task_id, '')
HAVING count(DISTINCT (instance_id, family, variant)) > 1 OR count(DISTINCT view) < count(*)
ORDER BY ALL
"""
"""Views of one instance may ask the same: they can show a variant that needs no data in the same
words."""


def prompt_problems(release: Path) -> list[str]:
    """Tasks that have one prompt; ids and file names, which differ anyhow, are left out."""
    public = public_side(release)
    paths = [
        str(p) for t in tracks(public) for s in splits(public, t) for p in shards(public, t, s)
    ]
    with duckdb.connect() as connection:
        same = connection.execute(_SAME_PROMPT, {"paths": paths}).fetchall()
    return [f"{one} and {other}: the same prompt" for one, other in same]


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


def exam_problems(roll: Roll) -> Iterator[str]:
    """Exams name existing tasks, each once; in a private split each task is in one exam only."""
    members: dict[str, list[tuple[int, str]]] = {}
    for exam, position, task_id in roll.exams:
        members.setdefault(exam, []).append((position, task_id))
    for exam, entries in members.items():
        positions, names = zip(*entries, strict=True)
        yield from (f"exam {exam}: no task {name}" for name in names if name not in roll.tasks)
        if len(set(names)) < len(names) or len(set(positions)) < len(positions):
            yield f"exam {exam}: a task or a position appears twice"
    if roll.private:
        yield from _private_exam_problems(roll)


def _private_exam_problems(roll: Roll) -> Iterator[str]:
    """One hidden world, one task, one exam: one row must not give away another."""
    exams = Counter(task_id for _, _, task_id in roll.exams)
    for task_id in roll.tasks:
        if exams[task_id] != 1:
            yield f"{task_id}: in {exams[task_id]} exams of a private split, not 1"
    if TRACKS[roll.track].protocol:
        yield from _torn_protocols(roll)
        return
    asked = Counter(roll.tasks.values())
    for instance in sorted(roll.instances):
        if asked[instance] != 1:
            yield f"{instance}: {asked[instance]} tasks in a private split, not 1"
    for instance, count in _repeated(instance for instance, _ in roll.scenes):
        yield f"{instance}: {count} views in a private split, not 1"


def _torn_protocols(roll: Roll) -> Iterator[str]:
    """All tasks of an instance are in one exam: one exam must not give away another's."""
    places: dict[str, set[str]] = {}
    for exam, _, task_id in roll.exams:
        if task_id in roll.tasks:
            places.setdefault(roll.tasks[task_id], set()).add(exam)
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

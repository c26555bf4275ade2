"""What the gate checks in a release's own rows: ids, prompts, exams, specification, secrecy.

Every check takes what was read and returns problems as one-line strings; none means it holds.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from builder.gate.tables import SceneRow, SplitTables, TaskRow
from builder.release.reader import SIDES, column_names, configs, rows, shards, splits
from builder.tracks import TRACKS
from grader.shape import Variant
from grader.tracks import variant as variant_of


def id_problems(tables: Sequence[SplitTables], raw_ids: Mapping[str, list[str]]) -> list[str]:
    """No id twice, within a config or between configs; rows refer to rows that exist.

    ``raw_ids`` are the ids of every config and split as read, duplicates included.
    """
    problems = []
    for place, ids in raw_ids.items():
        repeated = [name for name, count in Counter(ids).items() if count > 1]
        problems += [f"{place}: {name} appears {Counter(ids)[name]} times" for name in repeated]
        if ids != sorted(ids):
            problems.append(f"{place}: rows are not sorted by id")
    tasks: Counter[str] = Counter(_digits(task) for table in tables for task in table.tasks)
    scenes = Counter(_digits(instance) for table in tables for instance in _instances(table))
    together = tasks + scenes
    problems += [
        f"id {name} is used {count} times" for name, count in together.items() if count > 1
    ]
    for table in tables:
        problems += _reference_problems(table)
    return problems


def _reference_problems(table: SplitTables) -> Iterator[str]:
    scenes = TRACKS[table.track].scenes
    for task in table.tasks.values():
        truth = table.truth.get(task.task_id)
        if scenes and (task.instance_id, task.view) not in table.scenes:
            yield f"{task.task_id}: no scene {task.instance_id} in view {task.view}"
        if truth is None or truth["instance_id"] != task.instance_id:
            yield f"{task.task_id}: no truth, or one about another instance"
    for extra in sorted(table.truth.keys() - table.tasks.keys()):
        yield f"{extra}: a truth without a task"
    for instance in sorted(_instances(table) ^ table.worlds.keys()):
        yield f"{instance}: an instance without a world, or a world without an instance"


def _instances(table: SplitTables) -> set[str]:
    """The instances as the public side shows them."""
    if TRACKS[table.track].scenes:
        return {instance for instance, _ in table.scenes}
    return {task.instance_id for task in table.tasks.values()}


def _digits(name: str) -> str:
    return name.rpartition("-")[2]


def prompt_problems(tables: Sequence[SplitTables]) -> list[str]:
    """No two tasks ask the same; file names and ids, which differ anyhow, are left out.

    Views of one instance may: they can show a variant that needs no data in the same words.
    """
    seen: dict[str, TaskRow] = {}
    problems = []
    for table in tables:
        for task in table.tasks.values():
            text = task.prompt.replace(task.task_id, "")
            other = seen.setdefault(text, task)
            views = (other.instance_id, other.key) == (task.instance_id, task.key)
            if other is not task and not (views and other.view != task.view):
                problems.append(f"{task.task_id} and {other.task_id}: the same prompt")
    return problems


def exam_problems(table: SplitTables) -> list[str]:
    """Exams name existing tasks, each once; in a private split each task is in one exam only."""
    problems = []
    members: dict[str, list[tuple[int, str]]] = {}
    for exam, position, task_id in table.exams:
        members.setdefault(exam, []).append((position, task_id))
    for exam, entries in members.items():
        positions = [position for position, _ in entries]
        ids = [task_id for _, task_id in entries]
        problems += [f"exam {exam}: no task {i}" for i in ids if i not in table.tasks]
        if len(set(ids)) < len(ids) or len(set(positions)) < len(positions):
            problems.append(f"exam {exam}: a task or a position appears twice")
    if table.private:
        problems += _private_exam_problems(table)
    return problems


def _private_exam_problems(table: SplitTables) -> Iterator[str]:
    """One hidden world, one task, one exam: one row must not give away another."""
    exams = Counter(task_id for _, _, task_id in table.exams)
    asked = Counter(task.instance_id for task in table.tasks.values())
    for task_id in table.tasks:
        if exams[task_id] != 1:
            yield f"{task_id}: in {exams[task_id]} exams of a private split, not 1"
    if TRACKS[table.track].protocol:
        yield from _torn_protocols(table)
        return
    for instance in sorted(_instances(table)):
        if asked[instance] != 1:
            yield f"{instance}: {asked[instance]} tasks in a private split, not 1"
    for instance, count in Counter(key[0] for key in table.scenes).items():
        if count > 1:
            yield f"{instance}: {count} views in a private split, not 1"


def _torn_protocols(table: SplitTables) -> Iterator[str]:
    """All tasks of an instance are in one exam: one exam must not give away another's."""
    places: dict[str, set[str]] = {}
    for exam, _, task_id in table.exams:
        if task_id in table.tasks:
            places.setdefault(table.tasks[task_id].instance_id, set()).add(exam)
    for instance, exams in sorted(places.items()):
        if len(exams) > 1:
            yield f"{instance}: its tasks are in {len(exams)} exams of a private split, not 1"


def spec_problems(table: SplitTables) -> list[str]:
    """Every task row is what the grader's specification says of its variant."""
    problems = []
    for task in table.tasks.values():
        try:
            spec = variant_of(table.track, task.key)
        except KeyError:
            problems.append(f"{task.task_id}: unknown variant {task.key}")
            continue
        scene = table.scenes.get((task.instance_id, task.view))
        found = [*_row_problems(task, spec)]
        if scene is not None:
            found += _scene_problems(task, scene, table.private)
            found += TRACKS[table.track].shown(task, scene, table.private)
        problems += [f"{task.task_id} ({task.key}): {problem}" for problem in found]
    return problems


def _row_problems(task: TaskRow, spec: Variant) -> Iterator[str]:
    expected = {
        "track": (task.track, spec.track),
        "rung": (task.rung, spec.rung),
        "input_mode": (task.input_mode, spec.shape.input_mode),
        "answer_schema": (task.answer_schema, spec.shape.name),
        "answer_file": (task.answer_file, task.task_id + spec.shape.suffix),
        "inputs_json": (sorted(task.inputs), sorted(TRACKS[spec.track].inputs(spec))),
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


def raw_ids(release: Path) -> dict[str, list[str]]:
    """The first column of every config and split of both sides, as it stands in the files.

    Exams have no id of their own, and a scene has a row per view: they are left out.
    """
    found: dict[str, list[str]] = {}
    for side in SIDES:
        for config in configs(release / side):
            if config.endswith(("_exams", "_scenes")):
                continue
            for split in splits(release / side, config):
                paths = shards(release / side, config, split)
                column = column_names(paths)[0]
                found[f"{config}/{split}"] = [row[column] for row in rows(paths, [column])]
    return found


def first(problems: Iterable[Any], limit: int = 5) -> list[str]:
    """The first few problems, and how many more there are."""
    found = [str(problem) for problem in problems]
    more = [f"and {len(found) - limit} more"] if len(found) > limit else []
    return [*found[:limit], *more]

"""The check of one part, where it was staged: all that can be said of its instances by themselves.

The part is read back from disk. Every truth is derived a second time, every story read again, right
answers are graded, and task rows are held against the specification. ``check.json`` has the
findings, with the hashes of the rows and of the checking code: others are checked again.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Final

from builder.release.arrow import content_sha256
from builder.release.manifest import LIBRARIES, source_sha256
from builder.release.parts import Part, read_staged
from builder.release.reader import PartRows, Row, SplitTables, read_part
from builder.release.rows import read_task
from builder.splits.track import SceneRow, TaskRow, Track
from grader.errors import UsageError, error_text
from grader.io.files import write_text
from grader.io.jsonio import canonical_json
from grader.release.rows import task_of
from grader.scoring.model import RawAnswer, Score, Truth
from grader.scoring.score import score_answer
from grader.scoring.shape import Task, Variant

CHECK: Final = "check.json"

REFERENCES: Final = "references"
TASK_ROWS: Final = "task rows"
TRUTHS: Final = "second derivation of every truth"
CERTIFICATES: Final = "certificates"
STORIES: Final = "stories, read back by an independent reader"
GOLD: Final = "gold answers"
EMPTY: Final = "empty answers"


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings about a part, or about several together.

    ``counts`` are numbers of ``tasks``, ``truths``, ``audited`` instances and views, ``proved``
    records, ``stories`` told by rules, ``free`` texts and those of them that read as their graph
    (``alike``), and the sums of points of right answers (``gold``) and of none (``empty``).
    ``problems`` maps a rule to its lines. ``answers`` maps a task of public truth to the SHA-256 of
    its right answer, "" where the truth has none.
    """

    counts: dict[str, float] = field(default_factory=lambda: defaultdict(int))
    problems: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    answers: dict[str, str] = field(default_factory=dict)

    def add(self, other: "Findings") -> None:
        """Add the findings about another part to these."""
        for name, count in other.counts.items():
            self.counts[name] += count
        for rule, problems in other.problems.items():
            self.problems[rule] += problems
        self.answers.update(other.answers)


def check_part(part: Part, track: Track) -> None:
    """Check a staged part and write ``check.json`` into its folder. A check that is there already
    is kept if its rows and the checking code are the same."""
    tables = {config: read_staged(part.folder, config) for config in part.configs}
    rows = {config: content_sha256(table.schema, [table]) for config, table in tables.items()}
    libraries = LIBRARIES | {name: version(name) for name in ("networkx", "duckdb", "jsonschema")}
    identity = {"checker": source_sha256(), "libraries": libraries, "rows": rows}
    file = part.folder / CHECK
    if file.is_file() and json.loads(file.read_bytes())["identity"] == identity:
        return
    found = findings(part, track)
    told = {"counts": found.counts, "problems": found.problems, "answers": found.answers}
    write_text(file, canonical_json({"identity": identity, "findings": told}))


def read_check(part: Part) -> Findings:
    """Return the findings in the ``check.json`` of a part."""
    return Findings(**json.loads((part.folder / CHECK).read_bytes())["findings"])


def findings(part: Part, track: Track) -> Findings:
    """Check all instances of a part; with private truth ``answers`` of the findings is empty."""
    rows, found = read_part(part), Findings()
    found.counts.update(tasks=len(rows.tables.tasks), truths=len(rows.tables.truth))
    found.problems[REFERENCES] += _reference_problems(track, rows.tables)
    found.problems[TASK_ROWS] += task_row_problems(track, rows)
    derive_again(track, rows, found)
    grade_known_answers(track, rows, found)
    if rows.tables.private:
        found.answers.clear()
    return found


def _lines(name: str, failure: str, check: Callable[..., Any], *arguments: object) -> list[str]:
    """Return what ``check(*arguments)`` gives (a text, several or None) as lines about ``name``. An
    exception is a line with ``failure``: a damaged row must not hide what is wrong with others."""
    try:
        found: str | Iterable[str] | None = check(*arguments)
        return [f"{name}: {one}" for one in ([found] if isinstance(found, str) else found or ())]
    except Exception as error:
        return [f"{name}: {failure}: {error_text(error)}"]


def _reference_problems(track: Track, tables: SplitTables) -> Iterator[str]:
    """Yield a line for each task without its scene or its truth, and each truth without a task."""
    for task in tables.tasks.values():
        truth = tables.truth.get(task.task_id)
        if track.scenes and (task.instance_id, task.view) not in tables.scenes:
            yield f"{task.task_id}: no scene {task.instance_id} in view {task.view}"
        if truth is None or truth["instance_id"] != task.instance_id:
            yield f"{task.task_id}: no truth, or one about another instance"
    for extra in sorted(tables.truth.keys() - tables.tasks.keys()):
        yield f"{extra}: a truth without a task"


def task_row_problems(track: Track, rows: PartRows) -> Iterator[str]:
    """Yield a line where a task row differs from the grader's specification of its variant, or does
    not show what its scene holds. Such a question is unfair or cannot be answered."""
    tables = rows.tables
    for row in (row for own in rows.tasks.values() for row in own):
        task = tables.tasks[row["task_id"]]
        try:
            spec = task_of(row, {track.name: track.grader}).spec
        except KeyError:
            yield f"{task.task_id}: unknown variant {task.key}"
            continue
        found = [*_differences(track, task, spec)]
        if (scene := tables.scenes.get((task.instance_id, task.view))) is not None:
            found += _scene_problems(task, scene, tables.private)
            found += track.shown(task, scene, tables.private)
        yield from (f"{task.task_id} ({task.key}): {problem}" for problem in found)


def _differences(track: Track, task: TaskRow, spec: Variant) -> Iterator[str]:
    """Yield a line for each column of a task row that its variant specifies otherwise, and one if
    the prompt does not name the answer file."""
    expected = {
        "track": (task.track, spec.track),
        "rung": (task.rung, spec.rung),
        "input_mode": (task.input_mode, spec.shape.input_mode),
        "answer_schema": (task.answer_schema, spec.shape.name),
        "answer_file": (task.answer_file, task.task_id + spec.shape.suffix),
        "inputs_json": (sorted(task.inputs), sorted(track.inputs(spec))),
    }
    for column, (told, specified) in expected.items():
        if told != specified:
            yield f"{column} is {told}, not {specified}"
    if task.answer_file not in task.prompt:
        yield "the prompt does not name the answer file"


def _scene_problems(task: TaskRow, scene: SceneRow, private: bool) -> Iterator[str]:
    """Yield a line for each way in which a task row does not show what its scene holds."""
    if scene.story not in task.prompt:
        yield "the prompt does not hold the story"
    if list(scene.data_columns) != [name for name, _ in scene.columns]:
        yield "the data's columns are not those declared"
    if task.input_mode == "data" and scene.rows[0] == 0:
        yield "a data task without data"
    if private and task.input_mode == "story" and scene.data_columns:
        yield "a private story task ships data"


def derive_again(track: Track, rows: PartRows, found: Findings) -> None:
    """Derive every truth again and read every story; add the results to ``found``."""
    views = {task.task_id: task.view for task in rows.tables.tasks.values()}
    for name, view, shown in _views_of(track, rows):
        truths = [t for t in rows.truths.get(name, ()) if view in (None, views.get(t["task_id"]))]
        world = rows.tables.worlds[name]
        given = (world, truths, rows.labels.get(name), shown)
        found.counts["audited"] += 1
        found.problems[TRUTHS] += _lines(name, "it failed", track.audit, *given)
        if track.read is not None:
            read = (track, world, shown, found.counts)
            found.problems[STORIES] += _lines(name, "no reading", _story_problems, *read)


def _views_of(track: Track, rows: PartRows) -> Iterator[tuple[str, str | None, Row]]:
    """Yield instance id, view, and what is shown: each scene row, all views of a scene in turn, as
    they share much work; without scenes each instance's tasks, with the view None."""
    if not track.scenes:
        yield from ((n, None, {"tasks": rows.tasks.get(n, [])}) for n in rows.tables.worlds)
        return
    for scene in rows.scenes:
        if scene["instance_id"] in rows.tables.worlds:
            yield scene["instance_id"], scene["view"], scene


def _story_problems(
    track: Track, world: Row, shown: Row, counts: dict[str, float]
) -> Iterable[str]:
    """Read the story in ``shown``, count it in ``counts``, and return where a story told by rules
    differs from ``world``. A difference of a free text may be the reader's fault."""
    assert track.read is not None
    story = track.read(world, shown)
    counts["stories" if story.certain else "free"] += 1
    counts["alike"] += not (story.certain or story.problems)
    return story.problems if story.certain else ()


def grade_known_answers(track: Track, rows: PartRows, found: Findings) -> None:
    """Grade the right answer to every task of a part, and no answer; prove the claims of truths."""
    certify = track.grader.certify
    for row in (row for _, tasks in sorted(rows.tasks.items()) for row in tasks):
        name = row["task_id"]
        try:
            task, truth = read_task(row, rows.tables.truth, rows.labels, track.grader)
        except (KeyError, ValueError, TypeError, UsageError) as error:
            found.problems[GOLD].append(f"{name}: cannot be read: {error!r}")
            continue
        if certify is not None:
            found.counts["proved"] += 1
            found.problems[CERTIFICATES] += _lines(name, "cannot be proved", certify, task, truth)
        found.problems[GOLD] += _lines(name, "cannot be graded", _grade, task, truth, found)


def _grade(task: Task, truth: Truth, found: Findings) -> str | None:
    """Grade the right answer to a task, and no answer; add points, hash and what none earned to
    ``found``. Return what is wrong with the score of the right answer, None if nothing."""
    found.answers[task.task_id] = ""
    text = task.shape.gold(task, truth)
    found.answers[task.task_id] = hashlib.sha256(text.encode("utf-8")).hexdigest()
    raw = RawAnswer(task.answer_file, text.encode("utf-8"))
    gold, empty = (score_answer(task, truth, answer) for answer in (raw, None))
    found.counts["gold"] += gold.points
    found.counts["empty"] += empty.points
    if empty.points:
        found.problems[EMPTY].append(f"{task.task_id}: {empty.points:g} points")
    return lost_points(gold)


def lost_points(score: Score) -> str | None:
    """Return as text how the score of a right answer falls short, None if it has all points."""
    if score.status == "scored" and score.points == 1.0 and score.loss == 0:
        return None
    told = f"{score.status} {score.reason}, loss {score.loss:g}"
    return f"({score.family}.{score.variant}) {told}"

"""An exam as a test taker sees it, what a solver is, and how answers are written.

Only the public configs ``<track>``, ``<track>_exams`` and ``<track>_scenes`` are opened; ``gold``
alone asks for the published truth. A solver gets the exam and the tasks of one track, and yields
each task that it answers with the answer.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from builder.reader import read_story
from builder.splits.seeds import pick
from builder.tracks import TRACKS
from grader.answers.collect import run_card
from grader.errors import UsageError
from grader.io.files import refuse_links, write_text
from grader.io.jsonio import BadJson, pretty_json
from grader.io.paths import path_inside
from grader.opening import open_release, release_path
from grader.release.release import ReleaseFolder, select_exam
from grader.release.scenes import TABLES, Column, read_scenes
from grader.scoring.model import Truth
from grader.scoring.shape import Task

FloatArray = NDArray[np.float64]

SCENES_AT_ONCE: Final = 8
"""Instances whose tables are in memory together."""


@dataclass(frozen=True, slots=True)
class ShownScene:
    """One instance as the public sees it; a story-only scene has empty tables.

    ``view`` is "clean", or names the noisy measurements that the data are seen through. ``data``
    and ``test`` map a column to its values, (rows,) and (held-out rows,). ``calibration`` holds
    some rows of ``data`` with the measured variables themselves.
    """

    instance_id: str
    view: str
    story: str
    data: Mapping[str, FloatArray]
    test: Mapping[str, FloatArray]
    calibration: Mapping[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenedExam:
    """A chosen exam, tasks in order; only :meth:`truths` uses ``path`` and ``private``."""

    release: ReleaseFolder
    split: str
    name: str
    tasks: tuple[Task, ...]
    path: Path
    private: Path | None = None

    def truths(self, tasks: Sequence[Task]) -> Mapping[str, Truth]:
        """Return the truth of each task, for ``gold`` and the hosts of laboratories."""
        release = self.release
        if not release.has_public_truth(self.split):
            release = open_release(self.path, self.private)
        return release.truths(self.split, tasks)


def open_exam(
    path: Path | None, split: str | None, exam: str | None, private: Path | None = None
) -> OpenedExam:
    """Open the exam of the release folder (or public repository) at ``path`` as a test taker does.

    Defaults are those of the grader, and ``all`` is the whole split. Raises ``UsageError``.
    """
    path = release_path(path) or Path("release")
    # The public folder alone: a test taker has no private one, even where a maintainer does.
    release = open_release(path / "public" if (path / "public").is_dir() else path)
    split = release.choose_split(split)
    own = release.public.manifest["release"]
    name, tasks = select_exam(release.exams(split), release.tasks(split), exam, own=own)
    return OpenedExam(release, split, name, tuple(tasks), path, private)


def iterate_scenes(
    exam: OpenedExam, tasks: Iterable[Task]
) -> Iterator[tuple[ShownScene, list[Task]]]:
    """Yield each scene in one view, with its tasks. Tasks without a scene are left out."""

    def arrays(table: Iterable[Column]) -> dict[str, FloatArray]:
        return {name: np.asarray(values, dtype=np.float64) for name, values in table}

    by_view: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        by_view.setdefault((task.instance_id, task.view), []).append(task)
    instances = sorted({instance for instance, _ in by_view})
    for start in range(0, len(instances), SCENES_AT_ONCE):
        shown = read_scenes(exam.release, exam.split, instances[start : start + SCENES_AT_ONCE])
        for key, scene in shown.items():
            if key in by_view:
                tables = (arrays(scene.tables.get(name, ())) for name in TABLES)
                yield ShownScene(*key, scene.story, *tables), by_view[key]


Answer = Mapping[str, Any] | str
"""What a solver returns: a JSON object, or a file's text (see :func:`csv_text`)."""


def prepare_folder(folder: Path, system: str, settings: Mapping[str, Any], notes: str) -> None:
    """Remove ``system``'s old answers, write ``run.json``; ``UsageError`` for others' files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        refuse_links(folder)
        old, owner = sorted(folder.iterdir()), None
        with suppress(BadJson):
            owner = run_card(folder).get("system")
        if old and owner != system:
            raise UsageError(
                f"{folder}: holds files of {owner!r}, not of {system!r}; choose another --out"
            )
        for path in old:
            if re.fullmatch(r"[a-z]+-[0-9a-f]{16}\.(json|jsonl|csv)", path.name):
                path.unlink()
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}; choose another --out") from None
    run = {"system": system, "settings": dict(settings), "notes": notes}
    write_text(folder / "run.json", pretty_json(run))


def write_answer(folder: Path, task: Task, answer: Answer) -> None:
    """Write the answer to its task's file in ``folder``, at once: no reader sees half of it."""
    write_text(path_inside(folder, task.task_id, task.shape.suffix), text_of(answer))


def text_of(answer: Answer) -> str:
    """Return the text of an answer's file: the text itself, or its JSON object as text."""
    return answer if isinstance(answer, str) else pretty_json(dict(answer))


def csv_text(**columns: FloatArray) -> str:
    """Return the text of a prediction file, its columns named by keyword, (held-out rows,) each."""
    text = StringIO()
    rows, head = np.column_stack(list(columns.values())), ",".join(columns)
    np.savetxt(text, rows, fmt="%.9g", delimiter=",", header=head, comments="")
    return text.getvalue()


Answers = Iterator[tuple[Task, Answer]]
Solver = Callable[[OpenedExam, Sequence[Task]], Answers]
SolveTask = Callable[[Task], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackSystems:
    """The reference systems of a track.

    ``naive`` and ``informed`` are the solvers of the systems of these names; ``own`` are those that
    answer this track alone: name -> (note, solver). ``sees_truth``: these may be given the private
    side, to run laboratories on it.
    """

    naive: Solver
    informed: Solver
    own: Mapping[str, tuple[str, Solver]]
    sees_truth: bool = False


def generator(name: str) -> np.random.Generator:
    """Return a new random generator seeded by ``name``: equal names give equal numbers."""
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))


def from_prompts(solve: SolveTask) -> Solver:
    """Return a solver that gives each task to ``solve`` by itself."""
    return lambda exam, tasks: ((task, solve(task)) for task in tasks)


def from_scenes(make_solver: Callable[[ShownScene], SolveTask]) -> Solver:
    """Return a solver that reads a scene once and then answers all its tasks."""

    def answers(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
        for scene, asked in iterate_scenes(exam, tasks):
            solve = make_solver(scene)
            # Again, as an earlier limit does not hold for libraries that this solver has loaded.
            with threadpool_limits(1):
                yield from ((task, solve(task)) for task in asked)

    return answers


_SKETCHES: Final = ("edges", "skeleton_edges")


def copy_truth(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
    """Yield each task with its truth as the answer (``gold``), private where it is."""
    truths = exam.truths(tasks)
    return ((task, task.shape.gold(task, truths[task.task_id])) for task in tasks)


def answer_constant(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
    """Yield each task with the constant its floor names as best, else the first one."""
    stated = exam.release.public.manifest.get("floors", {}).get(exam.split, {})
    for task, texts in _constants(exam, tasks):
        floors, track = stated.get(task.track, {}).get("variants", {}), TRACKS[task.track].floors
        # Where the tasks of an instance count together, the floor is that of whole instances.
        whole = track.whole[0] if track is not None and track.whole is not None else ""
        own = task.family == whole.partition(".")[0]
        floor = (floors.get(whole) if own else None) or floors.get(task.spec.key, {})
        yield task, texts.get(floor.get("answer", ""), next(iter(texts.values())))


def answer_randomly(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
    """Yield each task with one of its constant answers, drawn at random with its id as the seed."""
    for task, texts in _constants(exam, tasks):
        yield task, pick(generator(f"random/{task.task_id}"), [*texts.values()])


def constants_of(task: Task, story: str = "") -> dict[str, str]:
    """Return a task's constant answers: name -> text; graph tasks take variables from ``story``."""
    floors, nodes = TRACKS[task.track].floors, list[str]()
    assert floors is not None
    if story and task.shape.name in _SKETCHES:
        nodes += read_story(story, (), task.inputs["variables"]).variables
    truth = Truth(task.task_id, "", False, "", None, None, {"nodes": nodes})
    return dict(floors.constants(task, truth))


def _constants(exam: OpenedExam, tasks: Sequence[Task]) -> Iterator[tuple[Task, dict[str, str]]]:
    """Yield each task with its constant answers (name -> text), by story for graphs."""
    sketches = [task for task in tasks if task.shape.name in _SKETCHES]
    stories = {t.task_id: scene.story for scene, own in iterate_scenes(exam, sketches) for t in own}
    return ((task, constants_of(task, stories.get(task.task_id, ""))) for task in tasks)

"""Write an exam as task folders of Harbor.

examples:
  causal-exams export harbor tasks/ --release release --exam mini

harbor writes a task folder of Harbor for each task, with the grader in tests/ and, where the truth
is public, the right answer in solution/; of a private split answers are collected only.
`answers-from harbor` brings answers back.
"""

import argparse
import gzip
import io
import shutil
import tarfile
from pathlib import Path
from typing import Any, Final

import grader
from causal_exams.words import DOCKER, wording
from grader.commands.common import EXAM, add, open_split
from grader.errors import UsageError
from grader.io.files import new_folder
from grader.io.jsonio import canonical_json
from grader.io.paths import path_inside
from grader.io.printing import print_lines
from grader.io.schemas import schema_folder as schemas
from grader.release.exam import Exam
from grader.release.rows import TASK_COLUMNS, TRUTH_COLUMNS
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.workspace import workspace_files

_HERE: Final = Path(__file__).parents[1] / "harbor_files"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``export``."""
    parser.add_argument("format", choices=("harbor",))
    parser.add_argument("out", type=Path, help="a new folder")
    add(parser, *EXAM)


def run(arguments: argparse.Namespace) -> int:
    """Write the export, print how many tasks it holds, and return 0; a failure leaves no folder."""
    exam = open_split(arguments).choose_exam_for()
    count = write_harbor(exam, arguments.out)
    left = len(exam.tasks) - count
    more = f"; {left} laboratories with experiments need their host: use `run`" if left else ""
    print_lines(f"{arguments.out}: {count} tasks{more}")
    return 0


def write_harbor(exam: Exam, out: Path) -> int:
    """Write a folder for each task into ``out``, a new folder; return how many.

    Laboratories with a budget of experiments are left out, as they need their host. Raises
    ``UsageError`` where no task is left or ``out`` cannot be a new folder.
    """
    tasks = [t for t in exam.tasks if t.shape.kind != "session" or not t.inputs["budget"]]
    if not tasks:
        raise UsageError("every task of the exam is a laboratory that needs its host; use `run`")
    release, split = exam.split.release, exam.split.name
    public, archive = release.has_public_truth(split), _grader()
    with new_folder(out) as folder:
        for task in release.with_prompts(split, tasks):
            place = path_inside(folder, task.task_id)
            truth = exam.truths[task.task_id] if public else None
            _write_task(exam, task, truth, place, archive)
    return len(tasks)


def _write_task(exam: Exam, task: Task, truth: Truth | None, place: Path, archive: bytes) -> None:
    """Write the folder of one task, without ``truth`` no solution; ``archive`` is the grader."""
    environment, tests = place / "environment", place / "tests"
    (environment / "files" / "answers").mkdir(parents=True)
    tests.mkdir()
    (place / "task.toml").write_text(_config(exam, task, truth is None), encoding="utf-8")
    rest = wording("harbor.answers", file=task.answer_file)
    (place / "instruction.md").write_text(f"{task.prompt}\n\n{rest}\n", encoding="utf-8")
    for source in (_HERE / "Dockerfile", DOCKER / "requirements.txt"):
        shutil.copyfile(source, path_inside(environment, source.name))
    for name, data in workspace_files(exam.split.release, exam.split.name, task).items():
        path_inside(environment / "files", name).write_bytes(data)
    (environment / "files" / "answers" / ".keep").touch()
    for source in (_HERE / "test.sh", _HERE / "grade.py"):
        Path(shutil.copyfile(source, path_inside(tests, source.name))).chmod(0o755)
    (tests / "grader.tar.gz").write_bytes(archive)
    row = {name: getattr(task, name) for name in TASK_COLUMNS if name != "inputs_json"}
    row |= {"prompt": "", "inputs_json": canonical_json(task.inputs)}
    document: dict[str, Any] = {"task": row, "truth": None}
    if truth is not None:
        known = {name: getattr(truth, name) for name in TRUTH_COLUMNS if name != "target_json"}
        document["truth"] = known | {"target_json": canonical_json(truth.target)}
        document["labels"] = truth.labels
        _write_solution(task, truth, place / "solution")
    (tests / "task.json").write_text(canonical_json(document), encoding="utf-8")


def _config(exam: Exam, task: Task, collect: bool) -> str:
    """Return the text of ``task.toml``; ``collect`` says that answers are collected, not graded."""
    facts = {
        "name": f"causal-exams/{task.task_id}",
        "description": f"{task.track}: {task.spec.key}",
        "track": task.track,
        "variant": task.spec.key,
        "release": exam.split.release.name,
        "exam": exam.name,
        "collect": collect,
        "seconds": 3600,
    }
    text = (_HERE / "task.toml.in").read_text(encoding="utf-8")
    # Plain text, booleans and whole numbers are written in JSON as in TOML.
    return text.format_map({name: canonical_json(value) for name, value in facts.items()})


def _write_solution(task: Task, truth: Truth, place: Path) -> None:
    """Write the right answer, and the script that hands it in, into the new folder ``place``."""
    place.mkdir()
    gold = task.shape.gold(task, truth)
    path_inside(place, task.task_id, task.shape.suffix).write_text(gold, encoding="utf-8")
    script = place / "solve.sh"
    script.write_text(
        "#!/bin/bash\n# The right answer.\n"
        'folder=${HARBOR_ANSWERS:-/workspace/answers}; mkdir -p "$folder"\n'
        f'cp "$(dirname "$0")/{task.answer_file}" "$folder/"\n'
    )
    script.chmod(0o755)


def _grader() -> bytes:
    """Return the grader and its schemas as a gzipped tar archive, the same bytes every time."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if "__pycache__" in member.name:
            return None
        mode = 0o755 if member.isdir() else 0o644
        # A deep copy would copy the archive that a member belongs to.
        return member.replace(mode=mode, uid=0, gid=0, uname="", gname="", mtime=0, deep=False)

    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as archive,
    ):
        archive.add(Path(grader.__file__ or "").parent, "grader", filter=plain)
        archive.add(schemas(), "schemas", filter=plain)
    return buffer.getvalue()

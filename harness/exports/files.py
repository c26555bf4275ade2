"""The public files of a task, as ``workspace`` writes them."""

import tempfile
from pathlib import Path

from grader.exam import Exam
from grader.shape import Task
from grader.workspace import write_workspaces


def files_of(exam: Exam, task: Task) -> dict[str, bytes]:
    """The files of a task by name."""
    release, split = exam.split.release, exam.split.name
    with tempfile.TemporaryDirectory(prefix="workspace-") as name:
        folder = Path(name)
        write_workspaces(release, split, release.with_prompts(split, [task]), folder)
        (place,) = folder.iterdir()
        return {file.name: file.read_bytes() for file in sorted(place.iterdir())}

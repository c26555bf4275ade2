"""A task's workspace in a sandbox: its public files, an empty answers folder, nothing else."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio.to_thread
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from causal_exams.conversation import FOLDER, task_of
from causal_exams.stack import packages, pinned
from grader.exam import Exam
from grader.io.paths import inside
from grader.workspace import workspace_files

_ARCHIVE = ".scratch.tar.gz"
_VERSIONS = (
    "import sys\n"
    "from importlib.metadata import PackageNotFoundError, version\n"
    "for name in sys.argv[1:]:\n"
    "    try: print(name, version(name))\n"
    "    except PackageNotFoundError: pass\n"
)


@solver
def workspace(exam: Exam) -> Solver:
    """Puts a task's files into the sample's sandbox."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        task = task_of(exam, state)
        read = partial(workspace_files, exam.split.release, exam.split.name, task)
        for name, data in (await anyio.to_thread.run_sync(read)).items():
            await sandbox().write_file(name, data)
        await sandbox().exec(["mkdir", "-p", FOLDER])
        return state

    return solve


def kept(folder: Path) -> Callable[[TaskState], Awaitable[None]]:
    """What keeps a sample's working directory, as ``<task id>-<attempt>.tar.gz`` in ``folder``."""

    async def keep(state: TaskState) -> None:
        done = await sandbox().exec(
            ["sh", "-c", f"tar -czf {_ARCHIVE} --exclude {_ARCHIVE} . ; true"], timeout=120
        )
        if done.success:
            data = await sandbox().read_file(_ARCHIVE, text=False)
            folder.mkdir(parents=True, exist_ok=True)
            inside(folder, f"{state.sample_id}-{state.epoch}", ".tar.gz").write_bytes(data)

    return keep


async def stack() -> str:
    """The packages of the paper's stack that the sandbox's Python has, with their versions."""
    done = await sandbox().exec(["python3", "-c", _VERSIONS, *pinned()])
    found = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if " " in line)
    return packages({name: found.get(name) for name in pinned()}) or "its standard library only"

"""An exam as a task of Inspect: samples from the public side, a protocol, a sandbox, the scorer.

The scorer takes the answer in, and reads the truth only then. A score holds the answer's text and,
where the truth is public, the points from 0 to 1. Of a private exam nothing is scored task by task:
it is graded as a whole.
"""

import atexit
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio.to_thread
from inspect_ai import Task as InspectTask
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from causal_exams import bubblewrap
from causal_exams.attempts import ENDING, NO_ANSWER
from causal_exams.conversation import ANSWER, FOLDER, Conversation
from causal_exams.laboratory.host import Host
from causal_exams.protocols import OPEN, SETTINGS, Protocol
from causal_exams.tracks import preset_of
from causal_exams.words import DOCKER, OUTPUT
from grader.commands.common import read_key
from grader.errors import UsageError
from grader.opening import open_release
from grader.release.exam import Exam, choose_exam
from grader.scoring.model import RawAnswer
from grader.scoring.score import score_answer
from grader.scoring.shape import Task
from grader.workspace import workspace_files


@dataclass(frozen=True)
class Sitting:
    """The exam and the way to sit it: the parameters of a task of Inspect.

    ``release`` and ``private`` are the paths of its two sides. ``exam`` None is the only one or
    that which is called like the release. ``setting`` counts where ``preset`` is None.
    ``output_budget`` is how many characters of one command's output a model is shown, and
    ``submission`` who sits. Transcripts stand in ``sessions``, signed with the key at ``key``.
    """

    release: str = "release"
    exam: str | None = None
    split: str | None = None
    private: str | None = None
    setting: str = OPEN
    preset: str | None = None
    sandbox: str = "docker"
    output_budget: int = OUTPUT
    submission: str = ""
    sessions: str | None = None
    key: str | None = None

    def open_exam(self, track: str | None) -> Exam:
        """Return the exam, with ``track`` only its tasks of that track; raises ``UsageError``."""
        private = None if self.private is None else Path(self.private)
        return choose_exam(open_release(Path(self.release), private), self.split, self.exam, track)

    def protocol(self, track: str) -> tuple[str | None, Protocol]:
        """Return (preset's name or None, protocol) for a track; raises ``UsageError``."""
        if self.setting not in SETTINGS:
            raise UsageError(f"--setting {self.setting}: use {' or '.join(SETTINGS)}")
        if self.preset is None:
            return None, SETTINGS[self.setting]
        return preset_of(self.preset, track)


def exam_task(track: str, sitting: Sitting) -> InspectTask:
    """Return Inspect's task ``causal_exams/<track>``; raises ``UsageError``.

    When this process exits, its standard error is silenced, as DuckDB's binding complains there of
    what Inspect has kept.
    """
    atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))
    exam = sitting.open_exam(track)
    release = exam.split.release
    preset, protocol = sitting.protocol(track)
    sessions = None if sitting.sessions is None else Path(sitting.sessions)
    key = None if sitting.key is None else read_key(Path(sitting.key))
    host = Host(exam, sessions, sitting.submission, key)
    return InspectTask(
        dataset=MemoryDataset(samples(exam), name=f"{release.name} {exam.name}"),
        setup=workspace(exam) if protocol.sandboxed else None,
        solver=conversation(exam, host, protocol, sitting.output_budget),
        scorer=points(exam, host, protocol.sandboxed),
        sandbox=sandbox_of(sitting.sandbox) if protocol.sandboxed else None,
        name=track,
        epochs=protocol.epochs,
        metadata={
            "release": release.name,
            "content_sha256": release.content_hashes(exam.split.name),
            "split": exam.split.name,
            "exam": exam.name,
            "setting": protocol.setting,
            "preset": preset,
        },
    )


def samples(exam: Exam) -> list[Sample]:
    """Return a sample for each task, in the exam's order, without any truth in it."""
    found = []
    for task in exam.split.release.with_prompts(exam.split.name, exam.tasks):
        metadata = {"track": task.track, "variant": task.spec.key, "view": task.view}
        metadata["answer_file"] = task.answer_file
        found.append(Sample(id=task.task_id, input=task.prompt, metadata=metadata))
    return found


def sandbox_of(name: str) -> str | tuple[str, str]:
    """Return a sandbox as Inspect takes it: its name, or (name, configuration).

    ``docker`` without a configuration is ours. Raises ``UsageError``.
    """
    kind, _, config = name.partition(":")
    if kind == bubblewrap.NAME:
        bubblewrap.bwrap_arguments()
    if kind == "docker":
        config = config or str(DOCKER / "compose.yaml")
    return (kind, config) if config else kind


_DEEDS: Final = {"reading", "reactor", "hypothesis", "prediction", "parse_failure"}
"""Events of a session in which the system did something; without one there is no answer."""


@solver
def workspace(exam: Exam) -> Solver:
    """Return a solver that puts a task's files, and an empty answers folder, into its sandbox."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        split, task = exam.split, _task_of(exam, state)
        files = await anyio.to_thread.run_sync(workspace_files, split.release, split.name, task)
        for name, data in files.items():
            await sandbox().write_file(name, data)
        await sandbox().exec(["mkdir", "-p", FOLDER])
        return state

    return solve


def _task_of(exam: Exam, state: TaskState) -> Task:
    return next(task for task in exam.tasks if task.task_id == state.sample_id)


@solver
def conversation(exam: Exam, host: Host, protocol: Protocol, budget: int) -> Solver:
    """Return a solver in which a protocol leads the conversation about a task."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        await protocol.lead(Conversation(state, _task_of(exam, state), host, budget))
        return state

    return solve


@scorer(metrics=[mean()])
def points(exam: Exam, host: Host, sandboxed: bool) -> Scorer:
    """Return a scorer that keeps the answer and, for a public truth, gives points from 0 to 1."""

    async def score(state: TaskState, target: Target) -> Score:
        talk = Conversation(state, _task_of(exam, state), host)
        data = await _take_answer(talk, sandboxed)
        # A log holds text: a byte that is no UTF-8 becomes "\xff", as wrong in JSON and in CSV.
        text = None if data is None else data.decode("utf-8", "backslashreplace")
        if not exam.split.release.has_public_truth(exam.split.name):
            why = "the truth is private: graded as a whole"
            return Score.unscored(explanation=why, answer=text, reason="private")
        raw = None if text is None else RawAnswer(talk.task.answer_file, text.encode("utf-8"))
        truth = exam.truths[talk.task.task_id]
        row = await anyio.to_thread.run_sync(score_answer, talk.task, truth, raw)
        why = f"{row.status} {row.reason}".strip()
        return Score(value=row.points, explanation=why, answer=text)

    return score


async def _take_answer(talk: Conversation, sandboxed: bool) -> bytes | None:
    """Return the content of the answer file, None without one; close a laboratory's session.

    It is the laboratory's transcript, if anything was done there, else the text that a protocol
    stored, else the file in the sandbox.
    """
    if talk.in_laboratory:
        transcript, events = talk.host.finish(talk.task.task_id, talk.state.epoch)
        if "prediction" not in events and talk.state.store.get(ENDING) is None:
            talk.end(NO_ANSWER)
        return transcript.encode("utf-8") if events & _DEEDS else None
    text = talk.state.store.get(ANSWER)
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    return await talk.answer_file() if sandboxed else None

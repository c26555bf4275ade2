"""An exam as a task of Inspect: samples from the public side, a solver, a sandbox, the scorer."""

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai import Epochs, Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import Solver

from causal_exams.lab_host import Host
from causal_exams.quiet import end_quietly
from causal_exams.sandboxes import bubblewrap
from causal_exams.scorer import points
from causal_exams.settings import CLOSED, OPEN, SETTINGS, Preset, preset_of
from causal_exams.solvers.agent import agent
from causal_exams.solvers.one_reply import one_reply
from causal_exams.stack import FOLDER
from causal_exams.workspace import kept, workspace
from grader.commands.common import read_key
from grader.errors import UsageError
from grader.exam import Exam, choose_exam
from grader.io.release import Release


@dataclass(frozen=True)
class Sitting:
    """What is sat and how: the parameters of a task.

    ``sandbox`` is the name of one of Inspect's, with a configuration after a colon where it takes
    one; ``sessions`` is where a host keeps transcripts of laboratories, ``key`` what signs them,
    ``scratch`` where it is kept what tasks leave in their sandboxes.
    """

    release: str = "release"
    exam: str | None = None
    split: str | None = None
    private: str | None = None
    setting: str = OPEN
    preset: str | None = None
    sandbox: str = "docker"
    submission: str = ""
    sessions: str | None = None
    key: str | None = None
    scratch: str | None = None

    def opened(self, track: str | None) -> Exam:
        """The exam, one track of it or all; raises ``UsageError``."""
        private = None if self.private is None else Path(self.private)
        return choose_exam(Release.open(Path(self.release), private), self.split, self.exam, track)

    def protocol(self, track: str) -> tuple[str, Preset | None]:
        """The setting that counts, and the preset; raises ``UsageError``."""
        if self.setting not in SETTINGS:
            raise UsageError(f"--setting {self.setting}: use {' or '.join(SETTINGS)}")
        if self.preset is None:
            return self.setting, None
        _, preset = preset_of(self.preset, track)
        return preset.setting, preset


def exam_task(track: str, sitting: Sitting) -> Task:
    """The task ``causal_exams/<track>``; raises ``UsageError``."""
    end_quietly()
    exam = sitting.opened(track)
    setting, preset = sitting.protocol(track)
    sandboxed = setting == OPEN if preset is None else preset.sandbox
    sessions = None if sitting.sessions is None else Path(sitting.sessions)
    key = None if sitting.key is None else read_key(Path(sitting.key))
    host = Host(exam, sessions, sitting.submission, key)
    return Task(
        dataset=MemoryDataset(samples(exam), name=f"{exam.split.release.name} {exam.name}"),
        setup=workspace(exam) if sandboxed else None,
        solver=_solver(exam, host, setting, preset),
        scorer=points(exam, host, sandboxed),
        sandbox=sandbox_of(sitting.sandbox) if sandboxed else None,
        cleanup=kept(Path(sitting.scratch)) if sandboxed and sitting.scratch else None,
        name=track,
        epochs=Epochs(preset.epochs) if preset and preset.epochs > 1 else None,
        metadata={
            "release": exam.split.release.name,
            "content_sha256": exam.split.release.content_hashes(exam.split.name),
            "split": exam.split.name,
            "exam": exam.name,
            "setting": setting,
            "preset": None if sitting.preset is None else preset_of(sitting.preset, track)[0],
        },
    )


def _solver(exam: Exam, host: Host, setting: str, preset: Preset | None) -> Solver:
    if preset is not None:
        module: Any = importlib.import_module(f"causal_exams.solvers.{preset.solver}")
        made: Solver = module.make(exam, host, preset.variant)
        return made
    return one_reply(exam, host) if setting == CLOSED else agent(exam, host)


def samples(exam: Exam) -> list[Sample]:
    """One sample a task: its prompt and what is public of it. No target, and no truth anywhere."""
    prompted = exam.split.release.with_prompts(exam.split.name, exam.tasks)
    return [
        Sample(
            id=task.task_id,
            input=task.prompt,
            target="",
            metadata={
                "track": task.track,
                "variant": task.spec.key,
                "view": task.view,
                "answer_file": task.answer_file,
            },
        )
        for task in prompted
    ]


def sandbox_of(name: str) -> str | tuple[str, str]:
    """A sandbox by name; ``docker`` without a configuration is ours. Raises ``UsageError``."""
    kind, _, config = name.partition(":")
    if kind == bubblewrap.NAME:
        bubblewrap.require()
    if kind == "docker" and not config:
        return kind, str(FOLDER / "compose.yaml")
    return (kind, config) if config else kind

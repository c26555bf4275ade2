"""What Inspect finds here: a task for each track, and the sandbox without a container engine.

``inspect eval causal_exams/causalds -T release=release -T exam=mini``
"""

from collections.abc import Callable

from inspect_ai import Task, task

from causal_exams.sandboxes.bubblewrap import BubblewrapSandboxEnvironment
from causal_exams.tasks import Sitting, exam_task

__all__ = ["BubblewrapSandboxEnvironment", "causalab", "causalds", "ccr", "replayscm"]


def _task(track: str) -> Callable[..., Task]:
    """The task of a track; its parameters are the fields of :class:`causal_exams.tasks.Sitting`."""

    def made(
        release: str = "release",
        exam: str | None = None,
        split: str | None = None,
        private: str | None = None,
        setting: str = Sitting.setting,
        preset: str | None = None,
        sandbox: str = Sitting.sandbox,
        submission: str = "",
        sessions: str | None = None,
        key: str | None = None,
        scratch: str | None = None,
    ) -> Task:
        return exam_task(
            track,
            Sitting(
                release, exam, split, private, setting, preset, sandbox, submission, sessions, key,
                scratch,
            ),
        )  # fmt: skip

    registered: Callable[..., Task] = task(name=track)(made)
    return registered


causalds = _task("causalds")
replayscm = _task("replayscm")
ccr = _task("ccr")
causalab = _task("causalab")

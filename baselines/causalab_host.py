"""Hosting laboratory sessions for the reference agents: JSON lines in, JSON lines out.

The host opens the truth, since a laboratory runs on it; an agent gets the lines and nothing else.
In one process the lines go through the same code as over pipes.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from baselines.causalab_agents import AGENTS, Laboratory, random_agent
from baselines.release import Exam
from baselines.trivial import generator
from grader.errors import UsageError
from grader.io.jsonio import canonical
from grader.io.release import Release
from grader.laboratory import Episode
from grader.model import Task
from grader.tracks.causalab import episode_of
from harness.lab_lines import reply_to
from harness.lab_session import Session

TRACK: Final = "causalab"
NAMES: Final[Mapping[str, str]] = {
    "solver": "solver",
    "observer": "observer",
    "greedy-stop": "greedy-stop",
    "random": "random",
    "informed": "solver",
    "naive": "observer",
}
"""Baseline to the agent that takes its causalab tasks."""


class RefusedRequest(RuntimeError):
    """The laboratory refused a request; no reference agent makes one that it refuses."""


class Lines:
    """A laboratory behind a function from request line to reply line."""

    def __init__(self, greeting: Mapping[str, Any], exchange: Callable[[bytes], bytes]) -> None:
        self._public: Mapping[str, Any] = greeting["episode"]
        self._exchange = exchange

    @property
    def public(self) -> Mapping[str, Any]:
        """What the first line says about the episode."""
        return self._public

    def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The reply to one request; raises :class:`RefusedRequest`."""
        reply: Mapping[str, Any] = json.loads(self._exchange(canonical(request).encode("utf-8")))
        if not reply["ok"]:
            raise RefusedRequest(f"{canonical(request)}: {reply['error']}")
        return reply


def host(episode: Episode, agent: Callable[[Laboratory], None], submission: str) -> str:
    """The transcript of one session in this process."""
    session = Session(episode, submission=submission)
    agent(Lines(session.greeting(), lambda line: reply_to(session, line).encode("utf-8")))
    return session.laboratory.transcript_text()


@contextmanager
def hosted_elsewhere(*arguments: str) -> Iterator[Lines]:
    """A laboratory in a process of its own, ``python -m harness lab`` with ``arguments``."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "lab", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    requests, replies = process.stdin, process.stdout

    def exchange(line: bytes) -> bytes:
        requests.write(line + b"\n")
        requests.flush()
        return replies.readline()

    try:
        yield Lines(json.loads(replies.readline()), exchange)
    finally:
        requests.close()
        process.wait(timeout=60)
        replies.close()


def can_host(exam: Exam, private: Path | None) -> bool:
    """Whether the truth, on which a laboratory runs, is at hand."""
    return private is not None or exam.release.has_public_truth(exam.split)


def sessions(name: str, exam: Exam, private: Path | None = None) -> Iterator[tuple[Task, str]]:
    """Each causalab task of ``exam`` with the transcript of the agent called ``name``.

    Nothing for a baseline without such an agent. Raises ``UsageError`` when the truth that the
    laboratory runs on is not at hand.
    """
    tasks = [task for task in exam.tasks if task.track == TRACK]
    if not tasks or name not in NAMES:
        return
    if not can_host(exam, private):
        raise UsageError(
            f"{name}: a laboratory runs on the truth, which is private in split {exam.split}; "
            "give the private side with --private DIR, or let the maintainer host "
            "`python -m harness lab`"
        )
    release = exam.release
    if private is not None:
        release = Release.open(exam.release.public.path, private)
    truths = release.truths(exam.split, tasks)
    with threadpool_limits(1):
        for task in tasks:
            episode = episode_of(task, truths[task.task_id])
            yield task, host(episode, _agent(name, task), name)


def _agent(name: str, task: Task) -> Callable[[Laboratory], None]:
    agent = NAMES[name]
    if agent == "random":
        return partial(random_agent, rng=generator(task, "random/"))
    return AGENTS[agent]

"""Hosting laboratory sessions for the reference agents: JSON lines in, JSON lines out.

The host opens the truth, since a laboratory runs on it; an agent gets the lines and nothing else.
In one process the lines go through the same code as over pipes.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from baselines.causalab.agents import Agent
from baselines.release import OpenedExam
from baselines.solving import Answers, Solver
from grader.errors import UsageError
from grader.io.jsonio import canonical
from grader.io.release import Release
from grader.laboratory.episode import Episode
from grader.shape import Task
from grader.tracks.causalab.scoring import episode_of
from harness.lab_lines import reply_to
from harness.lab_session import Session


class RefusedRequest(RuntimeError):
    """The laboratory refused a request; no reference agent makes one that it refuses."""


class Lines:
    """A laboratory behind a function from request line to reply line."""

    def __init__(self, greeting: Mapping[str, Any], exchange: Callable[[bytes], bytes]) -> None:
        self.public: Mapping[str, Any] = greeting["episode"]
        self._exchange = exchange

    def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The reply to one request; raises :class:`RefusedRequest`."""
        reply: Mapping[str, Any] = json.loads(self._exchange(canonical(request).encode("utf-8")))
        if not reply["ok"]:
            raise RefusedRequest(f"{canonical(request)}: {reply['error']}")
        return reply


def host(episode: Episode, agent: Agent, submission: str) -> str:
    """The transcript of one session in this process."""
    session = Session(episode, submission=submission)
    agent(Lines(session.greeting(), lambda line: reply_to(session, line).encode("utf-8")))
    return session.laboratory.transcript_text()


def in_laboratory(
    name: str, agent_for: Callable[[Task], Agent], otherwise: Solver | None = None
) -> Solver:
    """A solver that lets each task's agent experiment, as the submission ``name``.

    ``otherwise`` takes the tasks where the truth, on which a laboratory runs, is not at hand;
    without it that is a ``UsageError``.
    """

    def answers(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
        if exam.private is None and not exam.release.has_public_truth(exam.split):
            if otherwise is None:
                raise UsageError(
                    f"{name}: a laboratory runs on the truth, which is private in split "
                    f"{exam.split}; give the private side with --private DIR, or let the "
                    "maintainer host `python -m harness lab`"
                )
            yield from otherwise(exam, tasks)
            return
        release = exam.release
        if exam.private is not None:
            release = Release.open(release.public.path, exam.private)
        truths = release.truths(exam.split, tasks)
        for task in tasks:
            yield task, host(episode_of(task, truths[task.task_id]), agent_for(task), name)

    return answers

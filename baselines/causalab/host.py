"""Hosting laboratory sessions for the reference agents: JSON lines in, JSON lines out.

The host opens the truth, since a laboratory runs on it; an agent gets the lines and nothing else.
In one process the lines go through the same code as over pipes.
"""

from collections.abc import Sequence

from baselines.causalab.agents import Agent, Lines
from baselines.release import OpenedExam
from baselines.solving import Answers, Solver
from causal_exams.laboratory.front_ends import reply_to
from causal_exams.laboratory.session import Session
from grader.errors import UsageError
from grader.io.release import Release
from grader.laboratory.episode import Episode
from grader.shape import Task
from grader.tracks.causalab.scoring import episode_of


def host(episode: Episode, agent: Agent, submission: str) -> str:
    """The transcript of one session in this process."""
    session = Session(episode, submission=submission)
    agent(Lines(session.greeting(), lambda line: reply_to(session, line).encode("utf-8")))
    return session.laboratory.transcript_text()


def in_laboratory(name: str, agent: Agent, otherwise: Solver | None = None) -> Solver:
    """A solver that lets ``agent`` experiment, as the submission ``name``.

    ``otherwise`` takes the tasks where the truth, on which a laboratory runs, is not at hand;
    without it that is a ``UsageError``.
    """

    def answers(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
        if exam.private is None and not exam.release.has_public_truth(exam.split):
            if otherwise is None:
                raise UsageError(
                    f"{name}: a laboratory runs on the truth, which is private in split "
                    f"{exam.split}; give the private side with --private DIR, or let the "
                    "maintainer host `python -m causal_exams lab`"
                )
            yield from otherwise(exam, tasks)
            return
        release = exam.release
        if exam.private is not None:
            release = Release.open(release.public.path, exam.private)
        truths = release.truths(exam.split, tasks)
        for task in tasks:
            yield task, host(episode_of(task, truths[task.task_id]), agent, name)

    return answers

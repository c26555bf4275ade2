"""The laboratories of a run: one session for each attempt at an episode, in the host's hands."""

import tempfile
from pathlib import Path
from typing import Final

from causal_exams.lab_session import Session, session_path
from grader.exam import Exam
from grader.io.paths import inside
from grader.tracks.causalab.scoring import episode_of

_ANONYMOUS: Final = "anonymous"
"""The folder of sessions whose submission has no name."""


class Host:
    """Opens sessions with the episodes of an exam and keeps their transcripts.

    Transcripts stand in ``folder/attempt-<k>/<submission>/<task id>.jsonl``; without ``folder`` in
    a temporary one, which is gone with the host. With ``key`` every line is signed. A session that
    was left open goes on with what is left of its budget.
    """

    def __init__(
        self, exam: Exam, folder: Path | None = None, submission: str = "", key: bytes | None = None
    ) -> None:
        self._exam, self._submission, self._key = exam, submission, key
        self._tasks = {task.task_id: task for task in exam.tasks}
        self._temporary = None if folder else tempfile.TemporaryDirectory(prefix="sessions-")
        self._folder = folder or Path(self._temporary.name if self._temporary else "")
        self._open: dict[tuple[str, int], Session] = {}

    def session(self, task_id: str, attempt: int) -> Session:
        """The session of an attempt, counted from 1; raises ``UsageError``."""
        key = (task_id, attempt)
        if key not in self._open:
            episode = episode_of(self._tasks[task_id], self._exam.truths[task_id])
            folder = inside(self._folder, f"attempt-{attempt}")
            path = session_path(folder, self._submission or _ANONYMOUS, episode)
            self._open[key] = Session(episode, path, self._submission, self._key)
        return self._open[key]

    def finish(self, task_id: str, attempt: int) -> tuple[str, bool]:
        """Close the session of an attempt where it is still open.

        Returns its transcript, and whether a prediction was made.
        """
        session = self.session(task_id, attempt)
        if not session.closed:
            session.request({"op": "stop"})
        session.close()
        del self._open[task_id, attempt]
        return session.laboratory.transcript_text(), session.predicted

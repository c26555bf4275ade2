"""Open the episodes of a release, and keep the sessions with them."""

from pathlib import Path

from causal_exams.laboratory.session import Session, session_path
from grader.answers.submission import json_object
from grader.errors import UsageError
from grader.io.jsonio import BadJson
from grader.io.names import did_you_mean
from grader.io.paths import path_inside
from grader.io.schemas import first_problem
from grader.laboratory.episode import Episode, EpisodeError
from grader.opening import open_release
from grader.release.exam import Exam
from grader.tracks.causalab.shapes import episode_of


def open_episode(
    name: str, release: Path | None = None, private: Path | None = None, split: str | None = None
) -> Episode:
    """Return the episode of a task in ``release``, its hidden part in ``private`` if it is private.

    A ``name`` that ends in ``.json`` is the path of the host's own episode, an object with
    ``task_id``, ``public`` and ``private``. Raises ``UsageError``.
    """
    try:
        if name.endswith(".json"):
            row = json_object(Path(name).read_bytes())
            if row.keys() != {"task_id", "public", "private"}:
                raise EpisodeError("give an object with the members task_id, public and private")
            for part, schema in (("public", "inputs"), ("private", "truth")):
                if (problem := first_problem(f"{schema}/causalab", row[part])) is not None:
                    raise EpisodeError(f"{part}: {problem}")
            return Episode.load(**row)
        opened = open_release(release, private)
        split = opened.choose_split(split)
        tasks = opened.tasks(split, prompts=False)
        sessions = {task.task_id: task for task in tasks if task.shape.kind == "session"}
        if name not in sessions:
            near = did_you_mean(name, sessions)
            raise UsageError(f"{name}: no causalab task of split {split}{near}")
        return episode_of(sessions[name], opened.truths(split, [sessions[name]])[name])
    except OSError as error:
        raise UsageError(f"{name}: cannot be read ({error.strerror})") from None
    except (BadJson, EpisodeError) as error:
        raise UsageError(f"{name}: {error}") from None


class Host:
    """Opens sessions with the episodes of an exam and keeps their transcripts.

    They stand in ``folder/attempt-<k>/<submission>/<task id>.jsonl``, or in memory without
    ``folder``, every line signed with ``key``. A session left open is resumed with the rest of its
    budget. The sessions of attempt k above 1 are signed as those of ``<submission>@<k>``.
    """

    def __init__(
        self, exam: Exam, folder: Path | None = None, submission: str = "", key: bytes | None = None
    ) -> None:
        self._exam, self._folder, self._submission, self._key = exam, folder, submission, key
        self._tasks = {task.task_id: task for task in exam.tasks}
        self._open: dict[tuple[str, int], Session] = {}

    def session(self, task_id: str, attempt: int) -> Session:
        """Return the session of an attempt, opened or resumed if need be; raises ``UsageError``."""
        key = (task_id, attempt)
        if key not in self._open:
            episode = episode_of(self._tasks[task_id], self._exam.truths[task_id])
            path = None
            if self._folder is not None:
                folder = path_inside(self._folder, f"attempt-{attempt}")
                path = session_path(folder, self._submission or "anonymous", episode)
            # A copy of one attempt's session must not pass for the session of another.
            name = self._submission if attempt == 1 else f"{self._submission}@{attempt}"
            self._open[key] = Session(episode, path, name, self._key)
        return self._open[key]

    def finish(self, task_id: str, attempt: int) -> tuple[str, set[str]]:
        """End and close the session of an attempt; return its transcript and names of events."""
        session = self.session(task_id, attempt)
        if not session.is_over:
            session.request({"op": "stop"})
        session.close()
        del self._open[task_id, attempt]
        laboratory = session.laboratory
        return laboratory.transcript_text(), {line["event"] for line in laboratory.transcript}

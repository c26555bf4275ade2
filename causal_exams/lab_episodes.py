"""Which episode is meant: a task id of a release, or a file that holds one."""

from pathlib import Path

from grader.errors import UsageError
from grader.io.jsonio import BadJson
from grader.io.release import Release
from grader.laboratory.episode import Episode, EpisodeError
from grader.names import did_you_mean
from grader.submission.submission import Unreadable, json_object, open_regular
from grader.tracks.causalab.scoring import episode_of

MAX_FILE = 4 << 20


def open_episode(
    name: str, release: Path | None = None, private: Path | None = None, split: str | None = None
) -> Episode:
    """The episode called ``name``: a path ending in ``.json``, or a task id.

    A task's hidden part must be at hand: in the release if its truth is public, else in
    ``private``. Raises ``UsageError``.
    """
    try:
        if name.endswith(".json"):
            return Episode.load(_read(Path(name)))
        return Episodes(Release.open(release, private), split).open(name)
    except EpisodeError as error:
        raise UsageError(f"{name}: {error}") from None


def _read(path: Path) -> dict[str, object]:
    try:
        with open_regular(path) as handle:
            data = handle.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise UsageError(f"{path}: over {MAX_FILE >> 20} MiB; that is no episode")
        return json_object(data)
    except (Unreadable, BadJson) as error:
        raise UsageError(f"{path}: {error}") from None


class Episodes:
    """The episodes of one split of a release, read once. Raises ``UsageError``."""

    def __init__(self, release: Release, split: str | None) -> None:
        self._split = release.choose_split(split)
        tasks = release.tasks(self._split, prompts=False)
        self._tasks = {task.task_id: task for task in tasks if task.track == "causalab"}
        self._truths = release.truths(self._split, self._tasks.values())

    def open(self, name: str) -> Episode:
        """The episode of a task with its hidden part."""
        if name not in self._tasks:
            raise UsageError(
                f"{name}: no causalab task of split {self._split}{did_you_mean(name, self._tasks)}"
            )
        try:
            return episode_of(self._tasks[name], self._truths[name])
        except EpisodeError as error:
            raise UsageError(f"{name}: {error}") from None

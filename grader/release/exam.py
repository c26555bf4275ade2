"""What is graded: a split of a release, read once, and the exam that is chosen from it.

Tasks of one *bundle* ask one formal problem, each in another way, its *arm*. An exam says which
belong together in two optional columns of ``<track>_exams``, ``bundle`` and ``arm``; where it does
not, a track may see it from the tasks themselves (:attr:`grader.scoring.track.Track.bundle`).
"""

import hmac
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from grader.errors import UsageError
from grader.io.names import did_you_mean
from grader.release.release import ReleaseFolder, select_exam
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.scoring.track import Track
from grader.statistics.skill import Floors

Arms = Mapping[str, tuple[str, str]]
"""Task id to bundle and arm; an arm that is empty is numbered in the order of the exam."""


@dataclass(frozen=True, eq=False)
class Split:
    """One split of one release and what is asked of it; any number of submissions share it.

    Its tasks come without prompts. ``exam`` is the one that is asked for, None for the one that
    fits the answers; ``track`` restricts it.
    """

    release: ReleaseFolder
    name: str
    tasks: Sequence[Task]
    exam: str | None = None
    track: str | None = None
    reveal: bool = False
    transcript_key: bytes | None = None

    @classmethod
    def open(
        cls,
        release: ReleaseFolder,
        name: str | None = None,
        exam: str | None = None,
        track: str | None = None,
        *,
        reveal: bool = False,
        transcript_key: bytes | None = None,
        whole: bool = True,
    ) -> Self:
        """Read a split's tasks, or without ``whole`` those of ``exam`` alone; raises ``UsageError``
        for what this grader or release has not."""
        name = release.choose_split(name)
        only = None if whole or exam is None else release.exams(name).get(exam)
        tasks = release.tasks(name, prompts=False, only=only)
        known = {task.track for task in tasks}
        if track is not None and track not in known:
            raise UsageError(f"--track {track}: not in split {name}{did_you_mean(track, known)}")
        reveal = reveal or release.has_public_truth(name)
        return cls(release, name, tasks, exam, track, reveal, transcript_key)

    def choose_exam_for(self, answered: frozenset[str] = frozenset()) -> "Exam":
        """Return the exam that is asked for, or else the only one with every answered task, or of
        several such the release's own; ``answered`` are the tasks that any submission answers.

        Raises ``UsageError`` where none or several fit.
        """
        exams, own = self.release.exams(self.name), self.release.public.manifest["release"]
        name, tasks = select_exam(exams, self.tasks, self.exam, answered, own)
        tasks = [task for task in tasks if self.track in (None, task.track)]
        listed = self.release.deprecated_tasks(self.name)
        left = tuple(task for task in tasks if task.task_id not in listed)
        gone = tuple(task for task in tasks if task.task_id in listed)
        if not left:
            where = f" in track {self.track}" if self.track is not None else " that counts"
            raise UsageError(f"exam {name} has no task{where}; choose another")
        return Exam(self, name, left, gone)

    def refuse_private_details(self, what: str) -> None:
        """Raise ``UsageError`` on a private truth, of which ``what`` would tell, that is not to be
        revealed."""
        if not self.reveal:
            why = f"its truth is private and {what}; add --reveal if nobody else will see it"
            raise UsageError(f"--split {self.name}: {why}")


def shown_half(instances: Collection[str], salt: bytes) -> frozenset[str]:
    """Return half of the different ``instances`` (rounded down), picked by a hash with the salt."""
    names = set(instances)
    ranked = sorted(names, key=lambda name: hmac.digest(salt, f"half/{name}".encode(), "sha256"))
    return frozenset(ranked[: len(ranked) // 2])


def arms_of(tasks: Sequence[Task], stated: Arms, tracks: Mapping[str, Track]) -> Arms:
    """Return bundle and arm of every task that has partners among ``tasks``.

    ``stated`` is what the exam says; it goes before what a track sees from the tasks. A bundle
    counts only where its tasks have different arms.
    """
    known: dict[str, tuple[str, str]] = {}
    tellings = Counter[str]()
    for task in tasks:
        if task.task_id in stated:
            bundle, arm = stated[task.task_id]
            tellings[bundle] += 1
            known[task.task_id] = (bundle, arm or f"telling {tellings[bundle]}")
        elif (see := tracks[task.track].bundle) and (pair := see(task)):
            known[task.task_id] = pair
    members = Counter(bundle for bundle, _ in known.values())
    different = Counter(bundle for bundle, _ in set(known.values()))
    return {
        task_id: (bundle, arm)
        for task_id, (bundle, arm) in known.items()
        if members[bundle] == different[bundle] > 1
    }


@dataclass(frozen=True, eq=False)
class Exam:
    """An ordered list of tasks of one split, chosen once.

    ``deprecated`` are those that were taken out because they count no more; ``is_final`` is
    whether it is the half of the instances that the final ranking is about.
    """

    split: Split
    name: str
    tasks: Sequence[Task]
    deprecated: Sequence[Task] = ()
    is_final: bool = False

    @cached_property
    def truths(self) -> Mapping[str, Truth]:
        """The truth of each task; read once."""
        return self.split.release.truths(self.split.name, self.tasks)

    @cached_property
    def arms(self) -> Arms:
        """Bundle and arm of its tasks that have partners in it."""
        stated = self.split.release.exam_bundles(self.split.name)
        return arms_of(self.tasks, stated.get(self.name, {}), self.split.release.tracks)

    @cached_property
    def floors(self) -> Floors:
        """The points (0 to 1 a task) of the best constant answer to each variant."""
        manifest, tracks = self.split.release.public.manifest, self.split.release.tracks
        return Floors.from_manifest(manifest, self.split.name, self.tasks, tracks)

    @cached_property
    def shown_instances(self) -> frozenset[str]:
        """The instances that figures of a private split are about: half of each exam's and track's,
        whichever exam is graded, so that what one keeps back none shows."""
        private = self.split.release.private
        assert private is not None
        salt = bytes.fromhex(private.manifest["salts"][self.split.name]["rows"])
        names: dict[tuple[str, str], set[str]] = {}
        listed = self.split.release.exams(self.split.name)
        exam_of = {task_id: exam for exam, members in listed.items() for task_id in members}
        for task in self.split.tasks:
            group = (exam_of.get(task.task_id, ""), task.track)
            names.setdefault(group, set()).add(task.instance_id)
        return frozenset().union(*(shown_half(own, salt) for own in names.values()))

    @property
    def is_whole(self) -> bool:
        """Whether it is an exam that the release lists (the split, where it lists none), no part.
        Where truths are private only such a one has figures: they share no instance, and parts and
        sums of them would be further questions to one truth."""
        listed = self.split.release.exams(self.split.name)
        return self.split.track is None and (self.name in listed or not listed)

    @property
    def keeps_ledger(self) -> bool:
        """Whether a ledger counts the figures shown: of a private split, but no final half."""
        return not self.split.reveal and not self.is_final

    def final(self) -> Self:
        """Return the exam of the other half alone, of which no figure was ever shown. Raises
        ``UsageError`` where nothing is held back, and for a part or a sum of exams."""
        if self.split.reveal:
            raise UsageError(f"--final: split {self.split.name} holds nothing back; leave it out")
        if not self.is_whole:
            raise UsageError("--final ranks one whole exam; name it with --exam, without --track")
        rest, gone = (
            tuple(task for task in tasks if task.instance_id not in self.shown_instances)
            for tasks in (self.tasks, self.deprecated)
        )
        return replace(self, tasks=rest, deprecated=gone, is_final=True)


def choose_exam(
    release: ReleaseFolder,
    split: str | None = None,
    exam: str | None = None,
    track: str | None = None,
    **options: Any,
) -> Exam:
    """Return the exam of a split whatever is answered; arguments as of :meth:`Split.open`."""
    return Split.open(release, split, exam, track, **options).choose_exam_for()

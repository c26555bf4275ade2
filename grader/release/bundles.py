"""Bundles: tasks that ask one formal problem in several ways, so that only one thing differs.

An exam says which tasks belong together in two optional columns of ``<track>_exams``, ``bundle``
and ``arm``; where it does not, a track may see it from the tasks themselves
(:attr:`grader.scoring.track.Track.bundle`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from grader.scoring.shape import Task
from grader.scoring.track import Track

Arms = Mapping[str, tuple[str, str]]
"""Task id to bundle and arm; an arm that is empty is numbered in the order of the exam."""


def arms(tasks: Sequence[Task], stated: Arms, tracks: Mapping[str, Track]) -> Arms:
    """Bundle and arm of every task that has partners among ``tasks``.

    ``stated`` is what the exam says; it goes before what a track sees from the tasks.
    """
    found: dict[str, tuple[str, str]] = {}
    tellings = Counter[str]()
    for task in tasks:
        if task.task_id in stated:
            bundle, arm = stated[task.task_id]
            tellings[bundle] += 1
            found[task.task_id] = (bundle, arm or f"telling {tellings[bundle]}")
    for task in tasks:
        seen = tracks[task.track].bundle
        if task.task_id not in found and seen is not None and (pair := seen(task)) is not None:
            found[task.task_id] = pair
    members = Counter(bundle for bundle, _ in found.values())
    different = Counter(bundle for bundle, _ in set(found.values()))
    return {
        task_id: (bundle, arm)
        for task_id, (bundle, arm) in found.items()
        if members[bundle] == different[bundle] > 1
    }

"""A release on disk: its manifest, tasks, exams, truths and labels.

Only shards whose SHA-256 agrees with the manifest are read: whoever opens a release hashes each
shard once.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from grader.errors import UsageError
from grader.io import parquet
from grader.io.names import did_you_mean, nearest_path
from grader.io.paths import check_plain
from grader.release.rows import TASK_COLUMNS, TRUTH_COLUMNS, check_truth, task_of, truth_of
from grader.release.side import Side
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.scoring.track import Track

UNCHECKED: Final = "-UNCHECKED"
"""The end of the name of a release that no gate has checked."""
WHOLE_SPLIT = "all"
"""What stands for an exam's name where every task of a split is meant."""
_BY_ID = "ORDER BY task_id"
_WITH_IDS = f"WHERE task_id IN (SELECT unnest(?::VARCHAR[])) {_BY_ID}"


@dataclass(slots=True)
class ReleaseFolder:
    """A release: its public side, the private one if the reader has it, known tracks by name."""

    public: Side
    private: Side | None
    tracks: Mapping[str, Track]

    @classmethod
    def open(cls, path: Path, private: Path | None, tracks: Mapping[str, Track]) -> Self:
        """Open a release folder, or its ``public`` folder alone.

        ``private`` may be a private repository or a release folder that has one; by default it is
        the ``private`` folder beside ``public``. Raises ``UsageError``.
        """
        if not path.is_dir():
            raise UsageError(
                f"{path}: no release there{nearest_path(path)}; name its folder or its address on "
                "the Hub (--release, $CAUSAL_EXAMS_RELEASE), or build one (README.md)"
            )
        public = Side.open(path / "public" if (path / "public").is_dir() else path)
        beside = path / "private"
        if private is not None:
            beside = private / "private" if (private / "private").is_dir() else private
        elif not (beside / "manifest.json").is_file():
            return cls(public, None, tracks)
        hidden = Side.open(beside)
        for key in ("release", "version", "fingerprint"):
            mine, theirs = public.manifest.get(key), hidden.manifest.get(key)
            if mine != theirs:
                why = f"{key} is {theirs!r} but the public side has {mine!r}"
                raise UsageError(f"{hidden.path}: {why}; give the private side of the same build")
        return cls(public, hidden, tracks)

    @property
    def name(self) -> str:
        """Release name and version, such as ``mini 0.1.0``."""
        return f"{self.public.manifest['release']} {self.public.manifest['version']}"

    def refuse_unchecked(self, what: str) -> None:
        """Raise ``UsageError`` where no gate has checked the release, which then does not ``what``
        (such as "ranks nobody")."""
        if str(self.public.manifest["release"]).endswith(UNCHECKED):
            why = f"is UNCHECKED, for experiments, and {what}"
            raise UsageError(f"{self.public.path}: {why}; build it without --unchecked")

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits."""
        return tuple(sorted(self.public.manifest["splits"]))

    def has_public_truth(self, split: str) -> bool:
        """Whether the split's truth ships in the public repository."""
        return bool(self.public.manifest["splits"][split]["truth"] == "public")

    def choose_split(self, name: str | None) -> str:
        """Return ``name`` if there is such a split, or the only one; raises ``UsageError``."""
        splits, path = self.splits, self.public.path
        if not splits:
            raise UsageError(f"{path}: the manifest lists no split; {AGAIN}")
        if name is None and len(splits) > 1:
            choices = ", ".join(splits)
            raise UsageError(f"{path}: several splits; choose one with --split ({choices})")
        if name is not None and name not in splits:
            raise UsageError(f"--split {name}: no such split in {path}{did_you_mean(name, splits)}")
        return name or splits[0]

    def rows(
        self,
        side: Side,
        config: str,
        split: str,
        columns: Sequence[str],
        suffix: str = "",
        parameters: Sequence[object] = (),
        *,
        optional: bool = False,
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of one config of every track, ``{}`` in ``config`` for the track's name.

        ``columns`` and ``suffix`` (what follows ``FROM``) are constants of the code. With
        ``optional`` a file may lack columns: a row has those that are there, and a file without
        the first of them is passed over. Raises ``UsageError`` for any other damage.
        """
        with parquet.connect() as connection:
            for track in self.tracks:
                files = side.shards(config.format(track), split)
                names = side.present_columns(connection, files, columns)
                if not optional and len(names) < len(columns):
                    absent = next(name for name in columns if name not in names)
                    raise UsageError(f"{files[0]}: there is no column {absent}; {AGAIN}")
                if names[:1] == [columns[0]]:
                    for row in parquet.read(connection, files, names, suffix, parameters):
                        yield dict(zip(names, row, strict=True))

    def tasks(
        self, split: str, *, prompts: bool = True, only: Collection[str] | None = None
    ) -> list[Task]:
        """Return all tasks of a split, or ``only`` those with these ids, sorted by id, every track.

        Prompts are nearly all there is to read: without ``prompts`` they are left empty. Raises
        ``UsageError`` for an unknown variant, and for a row that is not as its variant has it.
        """
        columns = [name for name in TASK_COLUMNS if prompts or name != "prompt"]
        where = (_BY_ID, ()) if only is None else (_WITH_IDS, [sorted(only)])
        tasks = []
        for row in self.rows(self.public, "{}", split, columns, *where):
            place = f"{self.public.path}: {split}: task {row['task_id']}"
            try:
                task = task_of({"prompt": "", **row}, self.tracks)
            except KeyError:
                which = f"the variant {row['family']}.{row['variant']}"
                why = f"{place} has {which}, unknown to this grader; update the grader"
                raise UsageError(why) from None
            except (ValueError, TypeError) as error:
                raise _unreadable(place, error) from None
            check_plain(task.task_id, f"{self.public.path}: the task")
            stated, shape = (task.answer_file, task.answer_schema), task.shape
            if stated != (task.task_id + shape.suffix, shape.name):  # files are named after them
                why = "answer schema or file differ from the specification"
                raise UsageError(f"{place}: {why}; {AGAIN}")
            tasks.append(task)
        check_once((task.task_id for task in tasks), f"{self.public.path}: split {split}: the task")
        return tasks

    def with_prompts(self, split: str, tasks: Sequence[Task]) -> list[Task]:
        """Return ``tasks`` of a split, in their order, with the prompts that they lack."""
        ids = [task.task_id for task in tasks]
        rows = self.rows(self.public, "{}", split, ("task_id", "prompt"), _WITH_IDS, [ids])
        prompts = {row["task_id"]: row["prompt"] for row in rows}
        if None in prompts.values():
            where = next(name for name, prompt in prompts.items() if prompt is None)
            raise UsageError(f"{self.public.path}: task {where}: column prompt: null; {AGAIN}")
        return [replace(task, prompt=prompts[task.task_id]) for task in tasks]

    def exams(self, split: str) -> dict[str, list[str]]:
        """Return exam name -> its task ids in order; an exam may span tracks."""
        exams: dict[str, list[str]] = {}
        order = "ORDER BY exam, position"
        for row in self.rows(self.public, "{}_exams", split, ("exam", "task_id"), order):
            exams.setdefault(row["exam"], []).append(row["task_id"])
        for exam, members in exams.items():
            check_plain(exam, f"{self.public.path}: the exam")
            if not all(isinstance(task_id, str) for task_id in members):
                raise UsageError(f"{self.public.path}: exam {exam}: a task_id is null; {AGAIN}")
            check_once(members, f"{self.public.path}: exam {exam}: the task")
        return exams

    def deprecated_tasks(self, split: str) -> dict[str, str]:
        """Return the tasks of a split that count no more, and why (``ERRATA.md`` says more)."""
        own = self.public.manifest.get("deprecated", {}).get(split, {})
        return {task_id: str(why) for task_id, why in own.items()}

    def exam_bundles(self, split: str) -> dict[str, dict[str, tuple[str, str]]]:
        """Return exam name -> task id -> (bundle, arm), of the exams that state bundles
        (:mod:`grader.release.exam`). An absent arm is the empty string."""
        bundles: dict[str, dict[str, tuple[str, str]]] = {}
        columns = ("bundle", "arm", "exam", "task_id")
        where = "WHERE bundle IS NOT NULL ORDER BY exam, position"
        for row in self.rows(self.public, "{}_exams", split, columns, where, optional=True):
            own = bundles.setdefault(row["exam"], {})
            own[row["task_id"]] = (row["bundle"], row.get("arm") or "")
        return bundles

    def truth_side(self, split: str) -> Side:
        """Return the side that holds the split's truth; raises ``UsageError`` if it is not here."""
        if self.has_public_truth(split):
            return self.public
        if self.private is None:
            raise UsageError(
                f"--split {split}: its truth is private; give the private repository with "
                "--private DIR (only the maintainer has it), or use `validate`"
            )
        return self.private

    def truths(self, split: str, tasks: Iterable[Task]) -> dict[str, Truth]:
        """Return the truth of each task by task id, with held-out labels where it is a prediction.
        Raises ``UsageError`` where one is absent or cannot be read."""
        needed, side = {task.task_id: task for task in tasks}, self.truth_side(split)
        scenes = sorted({t.instance_id for t in needed.values() if t.shape.kind == "predictions"})
        columns, suffix = ("values", "instance_id"), "WHERE list_contains(?, instance_id)"
        told = self.rows(side, "{}_labels", split, columns, suffix, [scenes], optional=True)
        labels = {row["instance_id"]: row["values"] for row in told} if scenes else {}
        truths = {}
        for row in self.rows(side, "{}_truth", split, TRUTH_COLUMNS, _WITH_IDS, [sorted(needed)]):
            task = needed[row["task_id"]]
            own = labels.get(task.instance_id) if task.shape.kind == "predictions" else None
            where = f"{side.path}: {task.track}_truth/{split}: the truth of task {task.task_id}"
            if task.task_id in truths:
                raise UsageError(f"{where} is there twice; {AGAIN}")
            try:
                truths[task.task_id] = truth = truth_of(row, own)
                check_truth(task, truth)
            except (ValueError, TypeError) as error:
                raise _unreadable(where, error) from None
        if absent := needed.keys() - truths.keys():
            raise UsageError(
                f"{side.path}: no truth for task {min(absent)} ({len(absent)} absent in all); "
                "the public and private sides do not belong together"
            )
        for name, track in self.tracks.items():
            own = [truths[task.task_id] for task in needed.values() if task.track == name]
            try:
                if track.check_truths is not None:
                    track.check_truths(own)
            except ValueError as error:
                raise _unreadable(f"{side.path}: {name}_truth/{split}", error) from None
        return truths

    def content_hashes(self, split: str) -> dict[str, str]:
        """Return the content hash of each public shard of the split's tasks and exams."""
        configs = {name for track in self.tracks for name in (track, f"{track}_exams")}
        return {
            name: str(entry.get("content_sha256", entry["sha256"]))
            for name, entry in sorted(self.public.manifest["shards"].items())
            if name.partition(f"/{split}-")[0] in configs
        }


AGAIN: Final = "fetch the release again"


def _unreadable(where: str, error: Exception) -> UsageError:
    return UsageError(f"{where} cannot be read ({error}); {AGAIN}")


def check_once(names: Iterable[str], what: str) -> None:
    """Raise ``UsageError`` for a name that appears twice; ``what`` begins the message."""
    for name, count in Counter(names).most_common(1):
        if count > 1:
            raise UsageError(f"{what} {name} is there twice; {AGAIN}")


def find_task(tasks: Iterable[Task], task_id: str, where: str) -> Task:
    """Return the task with this id; raises ``UsageError`` with ``where`` and the nearest id."""
    known = {task.task_id: task for task in tasks}
    if task_id not in known:
        raise UsageError(f"{task_id}: no such task in {where}{did_you_mean(task_id, known)}")
    return known[task_id]


def select_exam(
    exams: dict[str, list[str]],
    tasks: Sequence[Task],
    name: str | None,
    answered: frozenset[str] = frozenset(),
    own: str | None = None,
) -> tuple[str, list[Task]]:
    """Return the name of the exam to grade and its tasks in order.

    ``name`` may be ``all`` (the whole split). Without a name: the only exam there is, else the
    only one that contains every answered task, else of several such, or where there is none, the
    one that is called as the release is (``own``), else ``UsageError`` listing the choices.
    """
    by_id = {task.task_id: task for task in tasks}
    if name == WHOLE_SPLIT or (name is None and not exams):
        return WHOLE_SPLIT, list(tasks)
    if name is None:
        known = answered & by_id.keys()
        fitting = [exam for exam, ids in exams.items() if known <= set(ids)]
        choices = list(exams) if len(exams) == 1 else fitting
        if own is not None and own in (choices or exams):
            choices = [own]
        if len(choices) != 1:
            listed = ", ".join(sorted(exams))
            raise UsageError(f"several exams fit; choose one with --exam ({listed}, or all)")
        name = choices[0]
    if name not in exams:
        raise UsageError(f"--exam {name}: no such exam{did_you_mean(name, [*exams, WHOLE_SPLIT])}")
    strangers = [task_id for task_id in exams[name] if task_id not in by_id]
    if strangers:
        raise UsageError(f"exam {name}: its task {strangers[0]} is not in the release; {AGAIN}")
    return name, [by_id[task_id] for task_id in exams[name]]

"""A release on disk: its manifest, tasks, exams, truths and labels.

Only shards whose SHA-256 agrees with the manifest are read: whoever opens a release hashes each
shard once.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from grader.errors import UsageError
from grader.io import parquet
from grader.io.names import did_you_mean, nearest_path
from grader.io.paths import plain
from grader.release.rows import TASK_COLUMNS, TRUTH_COLUMNS, task_of, truth_of
from grader.release.side import Side
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.scoring.track import Track

WHOLE_SPLIT = "all"
"""What stands for an exam's name where every task of a split is meant."""
_BY_ID = "ORDER BY task_id"
_WITH_IDS = f"WHERE task_id IN (SELECT unnest(?::VARCHAR[])) {_BY_ID}"


@dataclass(slots=True)
class Release:
    """A release: the public side, the private side where the reader has it, and the tracks that
    the reader knows, by name."""

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
        public = path / "public" if (path / "public").is_dir() else path
        if private is None:
            beside = path / "private"
            private_side = Side.open(beside) if (beside / "manifest.json").is_file() else None
        else:
            inner = private / "private"
            private_side = Side.open(inner if inner.is_dir() else private)
        release = cls(Side.open(public), private_side, tracks)
        release._check_pair()
        return release

    def _check_pair(self) -> None:
        if self.private is None:
            return
        mine, theirs = self.public.manifest, self.private.manifest
        for key in ("release", "version", "fingerprint"):
            if mine.get(key) != theirs.get(key):
                raise UsageError(
                    f"{self.private.path}: {key} is {theirs.get(key)!r} but the public side has "
                    f"{mine.get(key)!r}; give the private side of the same build"
                )

    @property
    def name(self) -> str:
        """Release name and version, such as ``mini 0.1.0``."""
        return f"{self.public.manifest['release']} {self.public.manifest['version']}"

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits."""
        return tuple(sorted(self.public.manifest["splits"]))

    def has_public_truth(self, split: str) -> bool:
        """Whether the split's truth ships in the public repository."""
        return bool(self.public.manifest["splits"][split]["truth"] == "public")

    def choose_split(self, name: str | None) -> str:
        """``name`` if it exists, or the only split; raises ``UsageError`` otherwise."""
        splits, path = self.splits, self.public.path
        if not splits:
            raise UsageError(f"{path}: the manifest lists no split; fetch it again")
        if name is None and len(splits) > 1:
            raise UsageError(
                f"{path}: several splits; choose one with --split ({', '.join(splits)})"
            )
        if name is not None and name not in splits:
            raise UsageError(f"--split {name}: no such split in {path}{did_you_mean(name, splits)}")
        return name or splits[0]

    def tasks(
        self, split: str, *, prompts: bool = True, only: Collection[str] | None = None
    ) -> list[Task]:
        """All tasks of a split, or ``only`` those with these ids, sorted by id, every track.

        Prompts are nearly all there is to read: without ``prompts`` they are left empty.
        """
        columns = [c if prompts or c != "prompt" else "'' AS prompt" for c in TASK_COLUMNS]
        where = (_BY_ID, ()) if only is None else (_WITH_IDS, [sorted(only)])
        rows = _rows(self.public, "{}", self.tracks, split, columns, *where)
        return [self._task(dict(zip(TASK_COLUMNS, row, strict=True))) for row in rows]

    def _task(self, row: Mapping[str, Any]) -> Task:
        try:
            return _fitting(task_of(row, self.tracks), self.public.path)
        except KeyError:
            key = f"{row['family']}.{row['variant']}"
            raise UsageError(
                f"{self.public.path}: task {row['task_id']} has the variant {key}, unknown to "
                "this grader; update the grader"
            ) from None
        except (ValueError, TypeError) as error:
            raise _unreadable(self.public, f"task {row['task_id']}", error) from None

    def with_prompts(self, split: str, tasks: Sequence[Task]) -> list[Task]:
        """``tasks`` of a split, in their order, with the prompts that ``tasks()`` left out."""
        ids = [task.task_id for task in tasks]
        suffix = "WHERE list_contains(?, task_id)"
        prompts = dict(
            _rows(self.public, "{}", self.tracks, split, ("task_id", "prompt"), suffix, [ids])
        )
        return [replace(task, prompt=prompts[task.task_id]) for task in tasks]

    def exams(self, split: str) -> dict[str, list[str]]:
        """Exam name to its task ids in order; an exam may span tracks."""
        exams: dict[str, list[str]] = {}
        columns, suffix = ("exam", "task_id"), "ORDER BY exam, position"
        for exam, task_id in _rows(self.public, "{}_exams", self.tracks, split, columns, suffix):
            exams.setdefault(exam, []).append(task_id)
        for exam in exams:
            plain(exam, f"{self.public.path}: the exam")
        return exams

    def deprecated(self, split: str) -> dict[str, str]:
        """The tasks of a split that count no more, and why (``ERRATA.md`` says more)."""
        stated = self.public.manifest.get("deprecated", {})
        own = stated.get(split, {}) if isinstance(stated, dict) else {}
        return {str(task_id): str(why) for task_id, why in own.items()}

    def exam_bundles(self, split: str) -> dict[str, dict[str, tuple[str, str]]]:
        """Exam name to (bundle, arm) by task id, of the exams that state bundles.

        ``bundle`` and ``arm`` are optional columns of ``<track>_exams``: tasks of one bundle ask
        one formal problem (:mod:`grader.release.bundles`). An absent arm is the empty string.
        """
        found: dict[str, dict[str, tuple[str, str]]] = {}
        columns = ("exam", "task_id", "bundle", "coalesce(arm, '')")
        suffix = "WHERE bundle IS NOT NULL ORDER BY exam, position"
        for exam, task_id, bundle, arm in _rows(
            self.public, "{}_exams", self.tracks, split, columns, suffix, optional="bundle"
        ):
            found.setdefault(exam, {})[task_id] = (bundle, arm)
        return found

    def truth_side(self, split: str) -> Side:
        """The repository that holds the split's truth; raises ``UsageError`` if it is not here."""
        if self.has_public_truth(split):
            return self.public
        if self.private is None:
            raise UsageError(
                f"--split {split}: its truth is private; give the private repository with "
                "--private DIR (only the maintainer has it), or use `validate`"
            )
        return self.private

    def truths(self, split: str, tasks: Iterable[Task]) -> dict[str, Truth]:
        """The truth of each task by task id, with labels where its scorer needs them."""
        wanted, side = {task.task_id: task for task in tasks}, self.truth_side(split)

        needs = sorted({t.instance_id for t in wanted.values() if t.shape.kind == "predictions"})
        columns, suffix = ("instance_id", "values"), "WHERE list_contains(?, instance_id)"
        labels: dict[str, Any] = {}
        if needs:
            told = _rows(
                side, "{}_labels", self.tracks, split, columns, suffix, [needs], optional="values"
            )
            labels = dict(told)
        truths = {}
        rows = _rows(
            side, "{}_truth", self.tracks, split, TRUTH_COLUMNS, _WITH_IDS, [sorted(wanted)]
        )
        for values in rows:
            row, task = dict(zip(TRUTH_COLUMNS, values, strict=True)), wanted[values[0]]
            own = labels.get(task.instance_id) if task.shape.kind == "predictions" else None
            try:
                truths[task.task_id] = truth_of(row, own)
            except (ValueError, TypeError) as error:
                raise _unreadable(side, f"the truth of task {task.task_id}", error) from None
        absent = wanted.keys() - truths.keys()
        if absent:
            raise UsageError(
                f"{side.path}: no truth for task {min(absent)} ({len(absent)} absent in all); "
                "the public and private sides do not belong together"
            )
        return truths

    def content_hashes(self, split: str) -> dict[str, str]:
        """Content hash per public shard of the split's tasks and exams, for the report."""
        return {
            name: str(entry.get("content_sha256", entry["sha256"]))
            for name, entry in sorted(self.public.manifest["shards"].items())
            if any(
                name.startswith(f"{config}/{split}-")
                for track in self.tracks
                for config in (track, f"{track}_exams")
            )
        }


def _unreadable(side: Side, what: str, error: Exception) -> UsageError:
    return UsageError(f"{side.path}: {what} cannot be read ({error}); fetch the release again")


def _fitting(task: Task, path: Path) -> Task:
    """``task`` where its id is plain and its files are those of its variant.

    Raises ``UsageError``: what is written for a task is named after it.
    """
    plain(task.task_id, f"{path}: the task")
    shape = task.shape
    if task.answer_file != task.task_id + shape.suffix or task.answer_schema != shape.name:
        raise UsageError(
            f"{path}: {task.task_id}: answer schema or file differ from the specification; fetch "
            "the release again"
        )
    return task


def _rows(
    side: Side,
    config: str,
    tracks: Iterable[str],
    split: str,
    columns: Sequence[str],
    suffix: str = "",
    parameters: Sequence[object] = (),
    *,
    optional: str | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Rows of one config of some tracks, ``{}`` in ``config`` for the name of each.

    Files without the column ``optional`` are left out.
    """
    with parquet.connect() as connection:
        for track in tracks:
            files = side.shards(config.format(track), split)
            if optional is None or optional in parquet.column_names(connection, files):
                yield from parquet.read(connection, files, columns, suffix, parameters)


def select_exam(
    exams: dict[str, list[str]],
    tasks: Sequence[Task],
    name: str | None,
    answered: frozenset[str] = frozenset(),
    own: str | None = None,
) -> tuple[str, list[Task]]:
    """The exam to grade and its tasks in order.

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
            raise UsageError(
                f"several exams fit; choose one with --exam ({', '.join(sorted(exams))}, or all)"
            )
        name = choices[0]
    if name not in exams:
        raise UsageError(f"--exam {name}: no such exam{did_you_mean(name, [*exams, WHOLE_SPLIT])}")
    strangers = [task_id for task_id in exams[name] if task_id not in by_id]
    if strangers:
        raise UsageError(
            f"exam {name}: its task {strangers[0]} is not in the release; fetch the release again"
        )
    return name, [by_id[task_id] for task_id in exams[name]]

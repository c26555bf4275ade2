"""Checking a release against its own manifest, and the private side against the public one.

A commitment is ``sha256(row salt || canonical JSON of the row)`` with ``row salt =
HMAC-SHA256(salt key of the split, "config/split/row id")``; the public config ``commitments`` has
the commitments, the private manifest the salt keys (``docs/release-format.md``). Whoever holds both
can prove that no truth was changed after publication.
"""

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grader.errors import UsageError
from grader.io import parquet
from grader.io.jsonio import canonical_json
from grader.io.schemas import first_problem
from grader.release.release import ReleaseFolder
from grader.release.scenes import read_worlds, scenes_at
from grader.release.side import Side
from grader.scoring.score import truth_problem
from grader.scoring.shape import Task

COMMITTED: Final = "commitments"
"""The public config of commitments: private config, id of the row, SHA-256."""

_PROMPTS: Final = 1000
"""Prompts that are in memory at once: each reading looks through the shards anew."""
_TOGETHER: Final = 100
"""Scenes and worlds that are in memory at once."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a release: whether it holds, and the first problem or what was compared."""

    name: str
    ok: bool
    detail: str


def verify(release: ReleaseFolder, *, proofs: bool = True) -> list[Check]:
    """Check the sides at hand, and with ``proofs`` the claims of tracks again; a damaged release is
    a failed check, never an exception."""
    checks = [*_side("public", release.public)]
    if release.private is not None:
        checks += _side("private", release.private)
    if all(check.ok for check in checks):
        for split in release.splits:
            checks += _tasks(release, split, proofs)
            if not release.has_public_truth(split):
                checks.append(_commitments(release, split))
    return checks


def _check(name: str, problems: Iterable[str | None], fine: str) -> Check:
    """Return a check that fails at the first problem, or at the first file that cannot be read."""
    try:
        problem = next(filter(None, problems), None)
    except UsageError as error:
        problem = str(error)
    return Check(name, problem is None, problem or fine)


def _side(label: str, side: Side) -> Iterator[Check]:
    """Yield the checks of one repository: manifest, shards, and no other Parquet file beside."""
    shards = sorted(side.manifest["shards"])
    problem = first_problem("manifest", side.manifest)
    yield _check(f"{label} manifest", [problem], "fits its schema")
    fine = f"{len(shards)} files agree with their SHA-256"
    yield _check(f"{label} shards", _read_shards(side, shards), fine)
    # Parquet files nobody vouches for: ``load_dataset`` would read them with the others.
    found = {file.relative_to(side.path).as_posix() for file in side.path.glob("*/*.parquet")}
    strangers = sorted(found.difference(shards))
    remedies = (f"{name} is not in the manifest; remove it" for name in strangers)
    yield _check(f"{label} files", remedies, "no other shard")


def _read_shards(side: Side, names: Iterable[str]) -> Iterator[None]:
    """Check shards against the manifest, and yield nothing; raises ``UsageError``."""
    for name in names:
        config, _, rest = name.partition("/")
        side.shards(config, rest.rsplit("-", 3)[0])
        yield None


def _tasks(release: ReleaseFolder, split: str, proofs: bool) -> Iterator[Check]:
    """Yield the checks of a split's tasks, prompts, scenes, exams and, where at hand, truths."""
    try:
        listed, tasks = release.exams(split), release.tasks(split, prompts=False)
    except UsageError as error:
        yield Check(f"{split} tasks", False, str(error))
        return
    ids = {task.task_id for task in tasks}
    yield Check(f"{split} task ids", True, f"{len(tasks)} tasks, 0 repeated ids")
    yield Check(f"{split} tasks", True, "agree with the specification")
    yield _check(f"{split} prompts and scenes", _question_problems(release, split, tasks), "fit")
    unknown = (
        f"exam {exam}: its task {task_id} is not in the release"
        for exam, members in listed.items()
        for task_id in members
        if task_id not in ids
    )
    yield _check(f"{split} exams", unknown, "name existing tasks")
    if release.has_public_truth(split) or release.private is not None:
        yield from _truths(release, split, tasks, proofs)


def _question_problems(
    release: ReleaseFolder, split: str, tasks: Sequence[Task]
) -> Iterator[str | None]:
    """Read every prompt and scene, some at a time, and yield nothing; raises ``UsageError``."""
    for start in range(0, len(tasks), _PROMPTS):
        release.with_prompts(split, tasks[start : start + _PROMPTS])
    for track in release.tracks:
        places = sorted({(t.instance_id, t.view) for t in tasks if t.track == track})
        if release.public.shards(f"{track}_scenes", split):
            for start in range(0, len(places), _TOGETHER):
                scenes_at(release, split, places[start : start + _TOGETHER])
    yield None


def _truths(
    release: ReleaseFolder, split: str, tasks: Sequence[Task], proofs: bool
) -> Iterator[Check]:
    """Yield the checks of a split's truths and worlds; with ``proofs`` prove claims again."""
    try:
        truths = release.truths(split, tasks)
        instances = sorted({task.instance_id for task in tasks})
        for start in range(0, len(instances), _TOGETHER):
            read_worlds(release, split, instances[start : start + _TOGETHER])
    except UsageError as error:
        yield Check(f"{split} truths", False, str(error))
        return
    yield Check(f"{split} truths", True, f"{len(truths)}, one per task")
    if not proofs:
        return
    marked = ((task.task_id, truth_problem(task, truths[task.task_id])) for task in tasks)
    wrong = (f"{task_id}: {problem}" for task_id, problem in marked if problem)
    yield _check(f"{split} right answers", wrong, f"all {len(tasks)} earn 100 points")
    for name, track in sorted(release.tracks.items()):
        certify, own = track.certify, [task for task in tasks if task.track == name]
        if own and certify is not None:
            proved = ((task.task_id, certify(task, truths[task.task_id])) for task in own)
            problems = (f"{task_id}: {problem}" for task_id, problem in proved if problem)
            yield _check(f"{split} {name} certificates", problems, f"{len(own)} proved again")


def _commitments(release: ReleaseFolder, split: str) -> Check:
    """Check a private split against its commitments; passes unmade without the private side."""
    name = f"{split} commitments"
    if release.private is None:
        return Check(name, True, "published, but not checked: the private side is not here")
    shards = release.public.manifest["shards"].items()
    start = f"{COMMITTED}/{split}-"
    rows = sum(entry["rows"] for shard, entry in shards if shard.startswith(start))
    problems = _commitment_problems(release, release.private, split)
    return _check(name, problems, f"{rows} private rows are what was committed to")


def _commitment_problems(release: ReleaseFolder, private: Side, split: str) -> Iterator[str]:
    """Yield a line for each row, number of rows or truth that is not as committed to."""
    salts = private.manifest["salts"].get(split)
    files = release.public.shards(COMMITTED, split)
    if salts is None or not files:
        yield "the split has no commitments or no salts"
        return
    key = bytes.fromhex(salts["rows"])
    with parquet.connect() as connection:
        configs = sorted(name for (name,) in parquet.read(connection, files, ("DISTINCT config",)))
    for config in configs:  # one at a time is in memory
        where = ("row_id", "sha256"), "WHERE config = ?", [config]
        with parquet.connect() as connection:
            expected, seen = dict(parquet.read(connection, files, *where)), 0
        for row_id, row in _rows(private.shards(config, split)):
            seen += 1
            salt = hmac.digest(key, f"{config}/{split}/{row_id}".encode(), "sha256")
            digest = hashlib.sha256(salt + canonical_json(row).encode()).hexdigest()
            if expected.get(row_id) != digest:
                yield f"{config}: row {row_id} is not what was committed to"
        if seen != len(expected):
            yield f"{config}: {seen} rows, {len(expected)} committed"
    truths = {f"{track}_truth" for track in release.tracks if release.public.shards(track, split)}
    for config in sorted(truths.difference(configs)):
        yield f"{config} is not committed to"


def _rows(files: Sequence[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id (the first column) and all columns of each row."""
    with parquet.connect() as connection:
        for file in files:
            rows = parquet.read(connection, [file], ("*",))
            names: list[str] = []
            for values in rows:
                names = names or [column[0] for column in connection.description or ()]
                yield str(values[0]), dict(zip(names, values, strict=True))

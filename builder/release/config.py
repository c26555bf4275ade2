"""A split file (TOML) as checked, frozen values.

Everything that can be wrong with a configuration is found here, before any work starts: each
problem is a one-line ``UsageError`` that names the file, the key and the fix.
"""

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from builder.settings import TomlTable, read_toml
from builder.track import Track
from builder.tracks import TRACKS
from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.names import did_you_mean
from grader.tracks import TRACKS as GRADED

Truth = Literal["public", "private"]

SPLITS: Final = Path(__file__).resolve().parent.parent.parent / "splits"
"""The split and exam files that come with the builder."""

_TRUTHS: Final[tuple[Truth, ...]] = ("public", "private")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_SPLIT_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")  # the Hub allows no hyphen in a split name
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?")
_MOST_TASKS: Final = 100_000_000
FLOOR_TASKS: Final = 30
_MOST_FLOOR_TASKS: Final = 10_000
_RESERVED: Final = frozenset({"all"})  # `--exam all` and the Hub's split name for everything


@dataclass(frozen=True, slots=True)
class Draw:
    """How many tasks of one track an exam takes; ``None`` means every task (left).

    ``model`` is what the track's ``exams.parse`` made of an exam file, None without one;
    ``variants`` are the keys of the variants that it asks, None where it asks all.
    """

    track: str
    tasks: int | None
    model: Any = None
    variants: frozenset[str] | None = None

    def asks(self, key: str) -> bool:
        """Whether the exam asks a variant."""
        return self.variants is None or key in self.variants


@dataclass(frozen=True, slots=True)
class ExamConfig:
    """One exam of a split: a draw for each of its tracks."""

    name: str
    draws: tuple[Draw, ...]


@dataclass(frozen=True, slots=True)
class SplitConfig:
    """One split. Exactly one of ``seed``, ``secret_env`` and ``secret_file`` is set.

    ``tracks`` pairs a track's name with whatever its ``parse`` returned.
    """

    name: str
    truth: Truth
    seed: str | None
    secret_env: str | None
    secret_file: Path | None
    tracks: tuple[tuple[str, Any], ...]
    exams: tuple[ExamConfig, ...]

    @property
    def private(self) -> bool:
        """Whether the truth of this split stays with the maintainer."""
        return self.truth == "private"


@dataclass(frozen=True, slots=True)
class ReleaseConfig:
    """A whole split file. ``document`` is the parsed TOML without the place of any secret;
    ``floor_tasks`` the least tasks that the floor of a variant is measured on, 0 for no floors."""

    path: Path
    name: str
    version: str
    splits: tuple[SplitConfig, ...]
    document: dict[str, Any]
    floor_tasks: int = FLOOR_TASKS

    @property
    def lock_path(self) -> Path:
        """The lock file that belongs to this split file."""
        return self.path.with_suffix(".lock.json")


def load_config(path: Path, tracks: Mapping[str, Track] = TRACKS) -> ReleaseConfig:
    """Reads and checks a split file; raises ``UsageError``."""
    table = _with_exam_files(read_toml(path), path)
    table.only("name", "version", "floor_tasks", "splits")
    name = table.text("name", "lower-case letters, digits, - and _, such as 'mini'", _NAME)
    version = table.text("version", "three numbers, such as '0.1.0'", _VERSION)
    splits = table.table("splits")
    if not splits.values:
        raise table.problem("splits", "none is defined; add a table [splits.dev]")
    parsed = tuple(_split(splits, split, path, tracks) for split in splits.values)
    document = _without_secrets(table.values, tracks)
    tasks = table.whole("floor_tasks", 0, _MOST_FLOOR_TASKS, FLOOR_TASKS)
    return ReleaseConfig(path, name, version, parsed, document, tasks)


def _split(splits: TomlTable, name: str, path: Path, tracks: Mapping[str, Track]) -> SplitConfig:
    if not _SPLIT_NAME.fullmatch(name) or name in _RESERVED:
        raise splits.problem(
            name,
            "no good split name; use lower-case letters, digits and _ (not 'all'), such as dev",
        )
    table = splits.table(name)
    table.only("truth", "seed", "secret_env", "secret_file", "exams", *tracks)
    truth = table.choice("truth", _TRUTHS)
    named = [track for track in tracks if track in table]
    if not named:
        raise table.problem(
            min(tracks),
            f"missing; a split needs a table for at least one track ({', '.join(sorted(tracks))})",
        )
    seed, secret_env, secret_file = _root_source(table, truth, path)
    parsed = tuple((track, tracks[track].parse(table.table(track))) for track in named)
    exams = _exams(table, named, tracks)
    parsed = tuple(
        (track, _with_exams(tracks[track], settings, exams, truth, f"{table.where}{track}"))
        for track, settings in parsed
    )
    split = SplitConfig(name, truth, seed, secret_env, secret_file, parsed, exams)
    if split.private:
        _check_private_exams(table, split)
    return split


def _root_source(
    table: TomlTable, truth: Truth, path: Path
) -> tuple[str | None, str | None, Path | None]:
    """Where the root of a split comes from: a stated seed, or the place of a secret."""
    stated = [key for key in ("secret_env", "secret_file") if key in table]
    if truth == "public":
        if stated:
            raise table.problem(
                stated[0],
                "a split with public truth has no secret; state its seed instead, or set "
                'truth = "private"',
            )
        return table.text("seed", "any text; it fixes every number of the split"), None, None
    if "seed" in table:
        raise table.problem(
            "seed",
            "whoever knows the seed knows the truth; remove it and name a secret with "
            'secret_env = "CAUSAL_EXAMS_SECRET" or secret_file',
        )
    if len(stated) != 1:
        problem = "missing" if not stated else "both secret_env and secret_file are given"
        raise table.problem(
            "secret_env",
            f'{problem}; name one place of the secret, such as secret_env = "CAUSAL_EXAMS_SECRET"',
        )
    if stated[0] == "secret_env":
        return None, table.variable("secret_env"), None
    file = Path(table.text("secret_file", "the path of a key file")).expanduser()
    return None, None, path.parent / file


def _with_exam_files(document: TomlTable, path: Path) -> TomlTable:
    """The document with each exam file's table beside its name, as ``model``: the manifest and
    the fingerprint of a build then hold all that was asked for."""
    splits = document.values.get("splits")
    for split in splits.values() if isinstance(splits, dict) else ():
        exams = split.get("exams") if isinstance(split, dict) else None
        for exam in exams.values() if isinstance(exams, dict) else ():
            for draw in exam.values() if isinstance(exam, dict) else ():
                if isinstance(draw, dict) and isinstance(draw.get("exam"), str):
                    draw["model"] = read_toml(_exam_file(draw["exam"], path)).values
    return document


def _exam_file(name: str, path: Path) -> Path:
    """An exam file beside the split file that names it; else the one that comes with the builder,
    so that a copy of a split file plans wherever it lies."""
    beside, ours = path.parent / name, SPLITS / name
    for file in (beside, ours):
        if file.is_file():
            return file
    raise UsageError(
        f"{path}: the exam file {name} is neither {beside} nor {ours}; copy it there, or write "
        "tasks = … instead"
    )


def _with_exams(
    track: Track, settings: Any, exams: tuple[ExamConfig, ...], truth: Truth, where: str
) -> Any:
    """The settings of a track that plans its instances for the exams they are in."""
    models = tuple(
        (exam.name, draw.model)
        for exam in exams
        for draw in exam.draws
        if draw.track == track.name and draw.model is not None
    )
    if not models or track.exams is None or truth == "public":
        return settings
    return track.exams.plan_for(settings, models, where)


def _exams(
    table: TomlTable, named: list[str], tracks: Mapping[str, Track]
) -> tuple[ExamConfig, ...]:
    exams = table.table("exams", {})
    parsed = []
    for name in exams.values:
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise exams.problem(
                name,
                "no good exam name; use lower-case letters, digits, - and _ (not 'all')",
            )
        exam = exams.table(name)
        exam.only(*named)
        draws = tuple(_draw(exam.table(track), tracks[track]) for track in exam.values)
        if not draws:
            raise exams.problem(name, f"empty; add {named[0]} = {{ tasks = 100 }}")
        parsed.append(ExamConfig(name, draws))
    return tuple(parsed)


def _draw(table: TomlTable, track: Track) -> Draw:
    if "exam" in table:
        table.only("exam", "model")
        if track.exams is None:
            raise table.problem("exam", f"{track.name} has no exam files; write tasks = …")
        file = table.text("exam", "the path of an exam file, such as 'exams/hard.toml'")
        exam = TomlTable(table.table("model").values, f"{table.where}exam ({file}): ")
        model = track.exams.parse(exam)
        return Draw(track.name, model.tasks, model)
    table.only("tasks", "balance", "variants")
    table.choice("balance", ("variant",), "variant")
    what = "a whole number of tasks, or 'all'"
    tasks = table.need("tasks", what)
    variants = _asked_variants(table, track.name)
    if tasks == "all":
        return Draw(track.name, None, variants=variants)
    if not isinstance(tasks, int) or tasks < 1:
        raise table.wrong("tasks", what)
    return Draw(track.name, table.whole("tasks", 1, _MOST_TASKS), variants=variants)


def _asked_variants(table: TomlTable, track: str) -> frozenset[str] | None:
    """The keys of the variants that a draw names, by patterns such as ``family.*``."""
    if "variants" not in table:
        return None
    known = [variant.key for variant in GRADED[track].variants]
    found: set[str] = set()
    for pattern in table.texts("variants", "a list of variants such as 'family.*'"):
        matching = fnmatch.filter(known, pattern)
        if not matching:
            raise table.problem(
                "variants",
                f"no variant of {track} is called {clip(pattern)}{did_you_mean(pattern, known)}",
            )
        found.update(matching)
    return frozenset(found)


def _check_private_exams(table: TomlTable, split: SplitConfig) -> None:
    """In a private-truth split each task is in exactly one exam, so there must be one to be in."""
    for track, _ in split.tracks:
        draws = [draw for exam in split.exams for draw in exam.draws if draw.track == track]
        if not draws:
            raise table.problem(
                "exams",
                f"no exam takes the tasks of {track}; with private truth every task is in exactly "
                f'one exam: add {track} = {{ tasks = "all" }}',
            )
        known = [variant.key for variant in GRADED[track].variants]
        for key in known:
            if sum(draw.tasks is None and draw.asks(key) for draw in draws) > 1:
                raise table.problem(
                    "exams",
                    f"two exams take all tasks of {track} ({key}); with private truth every task "
                    "is in exactly one exam: give all but one a number, or other variants",
                )


def _without_secrets(document: Mapping[str, Any], tracks: Mapping[str, Track]) -> dict[str, Any]:
    """The document as the manifest shows it: the place of a secret is nobody's business, nor are
    the places that a track's ``published`` leaves out."""
    splits = {
        name: {
            key: tracks[key].published(value) if key in tracks else value
            for key, value in table.items()
            if not key.startswith("secret_")
        }
        for name, table in document["splits"].items()
    }
    return {**document, "splits": splits}

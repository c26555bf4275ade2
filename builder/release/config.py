"""A split file (TOML) as checked, frozen values.

Everything that can be wrong with a configuration is found here, before any work starts: each
problem is a one-line ``UsageError`` that names the file, the key and the fix.
"""

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from builder.release.types import Track
from builder.tracks import TRACKS
from grader.errors import UsageError
from grader.names import did_you_mean

Truth = Literal["public", "private"]

MAX_CONFIG_BYTES: Final = 1_000_000
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_SPLIT_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")  # the Hub allows no hyphen in a split name
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED: Final = frozenset({"all"})  # `--exam all` and the Hub's split name for everything


@dataclass(frozen=True, slots=True)
class Draw:
    """How many tasks of one track an exam takes; ``None`` means every task (left).

    ``model`` is what the track's ``parse_exam`` made of an exam file, None without one.
    """

    track: str
    tasks: int | None
    model: Any = None


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
    """A whole split file. ``document`` is the parsed TOML without the place of any secret."""

    path: Path
    name: str
    version: str
    splits: tuple[SplitConfig, ...]
    document: dict[str, Any]

    @property
    def lock_path(self) -> Path:
        """The lock file that belongs to this split file."""
        return self.path.with_suffix(".lock.json")


def load_config(path: Path, tracks: Mapping[str, Track] = TRACKS) -> ReleaseConfig:
    """Reads and checks a split file; raises ``UsageError``."""
    document = _with_exam_files(read_toml(path), path)
    _check_plain(document, f"{path}: ")
    table = Table(document, f"{path}: ")
    table.only("name", "version", "splits")
    name = table.text("name", _NAME, "lower-case letters, digits, - and _, such as 'mini'")
    version = table.text("version", _VERSION, "three numbers, such as '0.1.0'")
    splits = table.table("splits")
    if not splits.values:
        raise UsageError(f"{path}: splits: none is defined; add a table [splits.dev]")
    parsed = tuple(_split(splits, split, path, tracks) for split in splits.values)
    return ReleaseConfig(path, name, version, parsed, _without_secrets(document, tracks))


@dataclass(frozen=True, slots=True)
class Table:
    """A TOML table and where it stands, with strict access to its keys.

    ``where`` is the file and the dotted path of the table, ending in ``": "`` or ``"."``.
    """

    values: Mapping[str, Any]
    where: str

    def only(self, *known: str) -> None:
        """Refuses keys that are not ``known``."""
        for key in self.values:
            if key not in known:
                raise UsageError(f"{self.where}{key}: unknown key{did_you_mean(key, known)}")

    def need(self, key: str, hint: str) -> Any:
        """The value of a key that must be there."""
        if key not in self.values:
            raise UsageError(f"{self.where}{key}: missing; add {hint}")
        return self.values[key]

    def text(self, key: str, pattern: re.Pattern[str] | None, hint: str) -> str:
        """A string that must be there and match ``pattern`` (or at least not be blank)."""
        value = self.need(key, f'{key} = "..." ({hint})')
        if not isinstance(value, str):
            raise UsageError(f"{self.where}{key}: must be a string ({hint}), not {_kind(value)}")
        if not value.strip() or (pattern and not pattern.fullmatch(value)):
            raise UsageError(f"{self.where}{key}: {value!r} does not do; write {hint}")
        return value

    def table(self, key: str) -> "Table":
        """A sub-table that must be there."""
        value = self.need(key, f"a table [{key}]")
        if not isinstance(value, dict):
            raise UsageError(f"{self.where}{key}: must be a table, not {_kind(value)}")
        return Table(value, f"{self.where}{key}.")


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file's table; raises ``UsageError`` naming the file and what is wrong with it."""
    try:
        if path.is_dir():
            raise UsageError(f"{path}: is a folder; name a split file such as splits/mini.toml")
        with path.open("rb") as handle:
            data = handle.read(MAX_CONFIG_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(f"{path}: not found; name a split file such as splits/mini.toml") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: cannot be read ({reason}); check the path") from None
    if len(data) > MAX_CONFIG_BYTES:
        raise UsageError(f"{path}: larger than {MAX_CONFIG_BYTES} bytes; this is no split file")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: invalid TOML ({error}); correct that place") from None


def _split(splits: Table, name: str, path: Path, tracks: Mapping[str, Track]) -> SplitConfig:
    if not _SPLIT_NAME.fullmatch(name) or name in _RESERVED:
        raise UsageError(
            f"{splits.where}{name}: no good split name; use lower-case letters, digits and _ "
            "(not 'all'), such as dev"
        )
    table = splits.table(name)
    table.only("truth", "seed", "secret_env", "secret_file", "exams", *tracks)
    truth = table.need("truth", 'truth = "public" or truth = "private"')
    if truth not in ("public", "private"):
        raise UsageError(f"{table.where}truth: {truth!r} does not do; write 'public' or 'private'")
    named = [track for track in tracks if track in table.values]
    if not named:
        raise UsageError(
            f"{table.where}{min(tracks)}: missing; a split needs a table for at least one track "
            f"({', '.join(sorted(tracks))})"
        )
    seed, secret_env, secret_file = _root_source(table, truth, path)
    parsed = tuple(
        (track, tracks[track].parse(table.table(track).values, f"{table.where}{track}"))
        for track in named
    )
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
    table: Table, truth: Truth, path: Path
) -> tuple[str | None, str | None, Path | None]:
    """Where the root of a split comes from: a stated seed, or the place of a secret."""
    stated = [key for key in ("secret_env", "secret_file") if key in table.values]
    if truth == "public":
        if stated:
            raise UsageError(
                f"{table.where}{stated[0]}: a split with public truth has no secret; "
                'state its seed instead, or set truth = "private"'
            )
        return table.text("seed", None, "any text; it fixes every number of the split"), None, None
    if "seed" in table.values:
        raise UsageError(
            f"{table.where}seed: whoever knows the seed knows the truth; remove it and name a "
            'secret with secret_env = "CAUSAL_EXAMS_SECRET" or secret_file'
        )
    if len(stated) != 1:
        problem = "missing" if not stated else "both secret_env and secret_file are given"
        raise UsageError(
            f"{table.where}secret_env: {problem}; name one place of the secret, such as "
            'secret_env = "CAUSAL_EXAMS_SECRET"'
        )
    if stated[0] == "secret_env":
        return None, table.text("secret_env", _VARIABLE, "the name of a variable"), None
    file = Path(table.text("secret_file", None, "the path of a key file")).expanduser()
    return None, None, path.parent / file


def _with_exam_files(document: dict[str, Any], path: Path) -> dict[str, Any]:
    """The document with each exam file's table beside its name, as ``model``: the manifest and
    the fingerprint of a build then hold all that was asked for."""
    splits = document.get("splits")
    for split in splits.values() if isinstance(splits, dict) else ():
        exams = split.get("exams") if isinstance(split, dict) else None
        for exam in exams.values() if isinstance(exams, dict) else ():
            for draw in exam.values() if isinstance(exam, dict) else ():
                if isinstance(draw, dict) and isinstance(draw.get("exam"), str):
                    draw["model"] = read_toml(path.parent / draw["exam"])
    return document


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
    if truth == "public" or not models:
        return settings
    return track.with_exams(settings, models, where)  # type: ignore[attr-defined]


def _exams(table: Table, named: list[str], tracks: Mapping[str, Track]) -> tuple[ExamConfig, ...]:
    if "exams" not in table.values:
        return ()
    exams = table.table("exams")
    parsed = []
    for name in exams.values:
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise UsageError(
                f"{exams.where}{name}: no good exam name; use lower-case letters, digits, - and _ "
                "(not 'all')"
            )
        exam = exams.table(name)
        exam.only(*named)
        draws = tuple(_draw(exam.table(track), tracks[track]) for track in exam.values)
        if not draws:
            raise UsageError(f"{exams.where}{name}: empty; add {named[0]} = {{ tasks = 100 }}")
        parsed.append(ExamConfig(name, draws))
    return tuple(parsed)


def _draw(table: Table, track: Track) -> Draw:
    if "exam" in table.values:
        table.only("exam", "model")
        if not hasattr(track, "parse_exam"):
            raise UsageError(f"{table.where}exam: {track.name} has no exam files; write tasks = …")
        file = table.text("exam", None, "the path of an exam file, such as 'exams/hard.toml'")
        model = track.parse_exam(table.table("model").values, f"{table.where}exam ({file})")
        return Draw(track.name, model.tasks, model)
    table.only("tasks", "balance")
    tasks = table.need("tasks", 'tasks = 100 or tasks = "all"')
    everything = tasks == "all"
    number = isinstance(tasks, int) and not isinstance(tasks, bool) and tasks > 0
    if not everything and not number:
        raise UsageError(
            f"{table.where}tasks: {tasks!r} does not do; write a positive whole number or 'all'"
        )
    if table.values.get("balance", "variant") != "variant":
        raise UsageError(
            f"{table.where}balance: {table.values['balance']!r} does not do; write 'variant'"
        )
    return Draw(track.name, None if everything else tasks)


def _check_private_exams(table: Table, split: SplitConfig) -> None:
    """In a private-truth split each task is in exactly one exam, so there must be one to be in."""
    for track, _ in split.tracks:
        draws = [draw for exam in split.exams for draw in exam.draws if draw.track == track]
        if not draws:
            raise UsageError(
                f"{table.where}exams: no exam takes the tasks of {track}; with private truth "
                f'every task is in exactly one exam: add {track} = {{ tasks = "all" }}'
            )
        if sum(draw.tasks is None for draw in draws) > 1:
            raise UsageError(
                f"{table.where}exams: two exams take all tasks of {track}; with private truth "
                "every task is in exactly one exam: give all but one a number"
            )


def _check_plain(value: object, where: str) -> None:
    """TOML has dates, infinities and not-a-number; no setting of a release does."""
    if isinstance(value, dict):
        for key, member in value.items():
            _check_plain(member, f"{where}{key}.")
    elif isinstance(value, list):
        for member in value:
            _check_plain(member, where)
    elif not isinstance(value, bool | int | str) and not (
        isinstance(value, float) and math.isfinite(value)
    ):
        raise UsageError(
            f"{where.rstrip('.')}: {value} is no setting; write a finite number or text"
        )


def _without_secrets(document: dict[str, Any], tracks: Mapping[str, Track]) -> dict[str, Any]:
    """The document as the manifest shows it: the place of a secret is nobody's business, nor are
    the places that a track's ``published`` leaves out."""
    splits = {
        name: {
            key: getattr(tracks.get(key), "published", dict)(value)
            if isinstance(value, dict)
            else value
            for key, value in table.items()
            if not key.startswith("secret_")
        }
        for name, table in document["splits"].items()
    }
    return {**document, "splits": splits}


def _kind(value: object) -> str:
    kinds = {bool: "a truth value", int: "a number", float: "a number", dict: "a table"}
    return kinds.get(
        type(value), "a list" if isinstance(value, list) else f"a {type(value).__name__}"
    )

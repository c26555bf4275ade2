"""A split file (TOML) as checked, frozen values.

Everything that can be wrong with a configuration is found here, before any work starts: each
problem is a one-line ``UsageError`` that names the file, the key and the fix.
"""

import copy
import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, create_model, model_validator

from builder.splits.settings import Fault, Text, TomlModel, TomlTable, Variable, check, read_toml
from builder.splits.track import Track
from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.io.names import did_you_mean

Truth = Literal["public", "private"]

SPLITS: Final = Path(__file__).resolve().parent.parent.parent / "splits"
"""The split and exam files that come with the builder."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_SPLIT_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")  # the Hub allows no hyphen in its names
_VERSION: Final = r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$"
FLOOR_TASKS: Final = 30
_RESERVED: Final = frozenset({"all"})  # `--exam all` and the Hub's split name for everything


@dataclass(frozen=True, slots=True)
class Draw:
    """The share of one track in an exam: a number of ``tasks``, or None for all that are left.

    ``model`` is what the track's ``exams.parse`` made of an exam file, None without one.
    ``variants`` are the keys of the variants that may be asked, None for all.
    """

    exam: str
    track: str
    tasks: int | None
    model: Any = None
    variants: frozenset[str] | None = None

    def asks(self, key: str) -> bool:
        """Tell whether the draw may take tasks of the variant ``key``."""
        return self.variants is None or key in self.variants


@dataclass(frozen=True, slots=True)
class SplitConfig:
    """One split of a split file. Either ``seed`` or ``secret_env`` is set.

    ``tracks`` pairs a track's name with the settings that its ``parse`` returned. ``draws`` are
    those of all exams, in the order of the file.
    """

    name: str
    truth: Truth
    seed: str | None
    secret_env: str | None
    tracks: tuple[tuple[str, Any], ...]
    draws: tuple[Draw, ...]

    @property
    def private(self) -> bool:
        """Whether the truth of this split stays with the maintainer."""
        return self.truth == "private"


@dataclass(frozen=True, slots=True)
class ReleaseConfig:
    """A whole split file, checked.

    ``document`` is the parsed TOML without the place of any secret. ``tracks`` are all that a split
    file may name. ``floor_tasks`` is the number of tasks that the floor of each variant is measured
    on at least, 0 for no floors.
    """

    path: Path
    name: str
    version: str
    splits: tuple[SplitConfig, ...]
    document: dict[str, Any]
    tracks: Mapping[str, Track] = field(repr=False, compare=False)
    floor_tasks: int = FLOOR_TASKS


class _File(TomlModel):
    """The keys of a split file. ``splits`` maps the name of a split to its table."""

    name: str = Field(
        pattern=f"^{_NAME.pattern}$",
        description="lower-case letters, digits, - and _, such as 'mini'",
    )
    version: str = Field(pattern=_VERSION, description="three numbers, such as '0.1.0'")
    floor_tasks: int = Field(default=FLOOR_TASKS, ge=0, le=10_000)
    splits: dict[str, dict[str, Any]]


class _Draw(TomlModel):
    """The table of a track in an exam: an ``exam`` file, or ``tasks`` of some ``variants``."""

    exam: Text | None = Field(
        default=None, description="the path of an exam file, such as 'exams/hard.toml'"
    )
    tasks: Annotated[int, Field(ge=1, le=100_000_000)] | Literal["all"] | None = Field(
        default=None, description="a whole number of tasks, or 'all'"
    )
    variants: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="a list of variants such as 'family.*'"
    )

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        """Check that the draw has an exam file and nothing else, or a number of tasks."""
        if self.exam is None and self.tasks is None:
            raise Fault("missing; give a whole number of tasks, or 'all'", "tasks")
        for key in self.model_fields_set - {"exam"} if self.exam is not None else ():
            raise Fault("cannot be had with an exam file; leave one of them out", key)
        return self


class _Split(TomlModel):
    """The keys of a split that are not tables of tracks."""

    truth: Truth
    seed: Text | None = Field(
        default=None, description="any text; it fixes every number of the split"
    )
    secret_env: Variable | None = None
    exams: dict[str, dict[str, _Draw]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_root(self) -> Self:
        """Check that a public split has a seed and no secret, and a private one a secret and no
        seed."""
        such = 'secret_env = "CAUSAL_EXAMS_SECRET"'
        if self.truth == "public" and self.secret_env is not None:
            what = "a split with public truth has no secret; state its seed instead, or set"
            raise Fault(f'{what} truth = "private"', "secret_env")
        if self.truth == "public" and self.seed is None:
            raise Fault("missing; give any text; it fixes every number of the split", "seed")
        if self.truth == "private" and self.seed is not None:
            what = "whoever knows the seed knows the truth; remove it and name a secret with"
            raise Fault(f"{what} {such}", "seed")
        if self.truth == "private" and self.secret_env is None:
            raise Fault(f"missing; name the variable of the secret, such as {such}", "secret_env")
        return self


def load_config(path: Path, tracks: Mapping[str, Track]) -> ReleaseConfig:
    """Return a split file, read and checked, which may name these tracks; raises ``UsageError``."""
    table = read_toml(path)
    file = check(_File, table)
    if not file.splits:
        raise table.problem("splits", "none is defined; add a table [splits.dev]")
    splits = tuple(_split(table, name, path, tracks) for name in file.splits)
    document = _document(table.values, tracks, path)
    return ReleaseConfig(path, file.name, file.version, splits, document, tracks, file.floor_tasks)


def _split(file: TomlTable, name: str, path: Path, tracks: Mapping[str, Track]) -> SplitConfig:
    """Return the split called ``name`` of a file, checked, with its tracks and exams."""
    if not _SPLIT_NAME.fullmatch(name) or name in _RESERVED:
        what = "use lower-case letters, digits and _ (not 'all'), such as dev"
        raise file.problem(f"splits.{name}", f"no good split name; {what}")
    table = TomlTable(file.values["splits"][name], f"{file.where}splits.{name}.", file.beside)
    tables: dict[str, Any] = dict.fromkeys(tracks, (dict[str, Any] | None, None))
    told = check(create_model("_SplitOfTracks", __base__=_Split, **tables), table)
    named = {
        track: TomlTable(table.values[track], f"{table.where}{track}.", table.beside)
        for track in sorted(tracks)
        if track in table.values
    }
    if not named:
        what = f"a split needs a table for at least one track ({', '.join(sorted(tracks))})"
        raise table.problem(min(tracks), f"missing; {what}")
    parsed = {track: tracks[track].parse(values) for track, values in named.items()}
    draws = []
    for exam, shares in told.exams.items():
        if not _NAME.fullmatch(exam) or exam in _RESERVED:
            what = "use lower-case letters, digits, - and _ (not 'all')"
            raise table.problem(f"exams.{exam}", f"no good exam name; {what}")
        if not shares:
            what = f"empty; add {min(named)} = {{ tasks = 100 }}"
            raise table.problem(f"exams.{exam}", what)
        for track, draw in shares.items():
            if track not in named:
                what = f"unknown key{did_you_mean(track, named)}"
                raise table.problem(f"exams.{exam}.{track}", what)
            own = TomlTable({}, f"{table.where}exams.{exam}.{track}.")
            draws.append(_draw(exam, draw, tracks[track], own, path))
    planned = []
    for track, settings in parsed.items():
        models = tuple((one.exam, one.model) for one in draws if one.track == track and one.model)
        if (exams := tracks[track].exams) and models and told.truth == "private":
            settings = exams.plan_for(settings, models, f"{table.where}{track}")
        planned.append((track, settings))
    split = SplitConfig(name, told.truth, told.seed, told.secret_env, tuple(planned), tuple(draws))
    if split.private:
        _check_private_exams(table, split, tracks)
    return split


def _draw(exam: str, told: _Draw, track: Track, table: TomlTable, path: Path) -> Draw:
    """Return what an exam takes of one track, checked. ``table`` says where it stands in the
    file."""
    if told.exam is not None:
        if track.exams is None:
            raise table.problem("exam", f"{track.name} has no exam files; write tasks = …")
        values = read_toml(_exam_file(told.exam, path)).values
        model = track.exams.parse(TomlTable(values, f"{table.where}exam ({told.exam}): "))
        return Draw(exam, track.name, model.tasks, model)
    tasks = None if told.tasks == "all" else told.tasks
    if told.variants is None:
        return Draw(exam, track.name, tasks)
    known, asked = [variant.key for variant in track.grader.variants], set()
    for pattern in told.variants:
        asked.update(found := fnmatch.filter(known, pattern))
        if not found:
            what = f"no variant of {track.name} is called {clip(pattern)}"
            raise table.problem("variants", f"{what}{did_you_mean(pattern, known)}")
    return Draw(exam, track.name, tasks, variants=frozenset(asked))


def _exam_file(name: str, path: Path) -> Path:
    """Return the path of the exam file ``name``: beside the split file ``path``, else the one that
    comes with the builder, so that a copy of a split file works anywhere. Raises ``UsageError``."""
    beside, ours = path.parent / name, SPLITS / name
    for file in (beside, ours):
        if file.is_file():
            return file
    raise UsageError(
        f"{path}: found no exam file {name} at {beside} or {ours}; copy it there, or write "
        "tasks = … instead"
    )


def _check_private_exams(table: TomlTable, split: SplitConfig, tracks: Mapping[str, Track]) -> None:
    """Raise ``UsageError`` if two exams of a private-truth split take all tasks of one variant."""
    for track, _ in split.tracks:
        draws = [draw for draw in split.draws if draw.track == track]
        for key in (variant.key for variant in tracks[track].grader.variants):
            if sum(draw.tasks is None and draw.asks(key) for draw in draws) > 1:
                raise table.problem(
                    "exams",
                    f"two exams take all tasks of {track} ({key}); with private truth every task "
                    "is in exactly one exam: give all but one a number, or other variants",
                )


def _document(
    document: Mapping[str, Any], tracks: Mapping[str, Track], path: Path
) -> dict[str, Any]:
    """Return the parsed split file as the manifest shows it: exam files' tables beside their names,
    without the places of secrets and what a track's ``published`` leaves out."""
    splits: dict[str, dict[str, Any]] = {
        name: {
            key: tracks[key].published(value) if key in tracks else value
            for key, value in copy.deepcopy(split).items()
            if key != "secret_env"
        }
        for name, split in document["splits"].items()
    }
    for split in splits.values():
        for draw in (one for draws in split.get("exams", {}).values() for one in draws.values()):
            if "exam" in draw:
                draw["model"] = read_toml(_exam_file(draw["exam"], path)).values
    return {**document, "splits": splits}

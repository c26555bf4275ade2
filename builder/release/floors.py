"""The floors of exams: the file that states them, and what of it a manifest takes over.

They belong to an exam, not to a release: ``floors/<exam>.json`` beside the split file holds for
every split that has the exam, as long as the exam's rules and the grader's are the ones by which it
was measured.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Final

from builder.release.config import ExamConfig, ReleaseConfig, SplitConfig
from builder.track import Track
from builder.tracks import TRACKS
from grader.errors import UsageError
from grader.floors import rules_sha256
from grader.io.files import write_text
from grader.io.jsonio import canonical, pretty
from grader.io.schemas import first_problem
from grader.tracks import TRACKS as GRADED

FOLDER: Final = "floors"


@dataclass(frozen=True, slots=True)
class Floors:
    """What a manifest says of floors, and remarks on those that are absent or left out."""

    floors: Mapping[str, Any] = field(default_factory=dict)
    rules: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def members(self) -> dict[str, Any]:
        """The members of a manifest; none without any floor."""
        return {"floors": self.floors, "floor_rules": self.rules} if self.floors else {}


@dataclass(frozen=True, slots=True)
class Twin:
    """What the floors of an exam's track are measured on: the settings of a batch of its twin, and
    the exam's model (None: every task alike). ``variants`` are those that the exam asks, None all.
    They are not part of the rules: what a variant's floor is does not depend on the others."""

    settings: Any
    model: Any
    variants: frozenset[str] | None = None

    def sha256(self, track: str) -> str:
        """Identifies the rules by which the exam's tasks are drawn."""
        text = canonical({"track": track, "twin": plain(self.settings), "model": plain(self.model)})
        return hashlib.sha256(text.encode("utf-8")).hexdigest()


def plain(value: Any) -> Any:
    """Settings as JSON values, without what counts only where it is set (``UNLESS_SET``)
    elsewhere."""
    if is_dataclass(value) and not isinstance(value, type):
        members = {one: getattr(value, one.name) for one in fields(value)}
        return {
            one.name: plain(member)
            for one, member in members.items()
            if not (one.metadata.get("unless_set") and member is None)
        }
    if isinstance(value, Mapping):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    return value


def floors_file(toml: Path, exam: str) -> Path:
    """Where the floors of an exam of a split file are."""
    return toml.parent / FOLDER / f"{exam}.json"


def twins_of(
    split: SplitConfig, exam: ExamConfig, tracks: Mapping[str, Track] = TRACKS
) -> dict[str, Twin]:
    """The twin of each track of an exam that can be measured."""
    settings = dict(split.tracks)
    found = {}
    for draw in exam.draws:
        twin = tracks[draw.track].floors.twin
        if twin is not None:
            known = frozenset(variant.key for variant in GRADED[draw.track].variants)
            batch = twin(settings[draw.track], draw.model, draw.variants or known)
            found[draw.track] = Twin(batch, draw.model, draw.variants)
    return found


def measured_rules(name: str, twin: Twin, keys: Iterable[str]) -> dict[str, str]:
    """The hashes by which floors of these variants are recognised as an exam's, and as this
    grader's."""
    return {"exam": twin.sha256(name), "grader": rules_sha256(GRADED[name], keys)}


def stated_floors(config: ReleaseConfig, tracks: Mapping[str, Track] = TRACKS) -> Floors:
    """The floors of a split file's exams, as far as they are stated and fit.

    Raises ``UsageError`` for a damaged file; what is absent or does not fit is a remark.
    """
    floors: dict[str, Any] = {}
    rules: dict[str, Any] = {}
    absent: list[str] = []
    remarks: list[str] = []
    again = f"python build_dataset.py floors {config.path}"
    exams: dict[str, list[dict[str, Twin]]] = {}
    for split in config.splits:
        for exam in split.exams:
            exams.setdefault(exam.name, []).append(twins_of(split, exam, tracks))
    for name, twins in exams.items():
        file = floors_file(config.path, name)
        if not file.is_file():
            absent.append(name)
            continue
        document = read_floors(file, name)
        for track in sorted({track for found in twins for track in found}):
            asked = [found[track] for found in twins if track in found]
            keys = document["floors"][name].get(track, {})
            wanted = [measured_rules(track, twin, keys) for twin in asked]
            problem = _problem(document, name, track, wanted)
            if problem:
                remarks.append(
                    f"{file}: {track}: {problem}; left out, the skill of {name} will be null: "
                    f"{again} {name}"
                )
                continue
            floors.setdefault(name, {})[track] = document["floors"][name][track]
            rules.setdefault(name, {})[track] = wanted[0]
    if absent:
        several = len(absent) > 1
        remarks.append(
            f"exam{'s' if several else ''} {', '.join(absent)}: no floors are stated, so skill "
            f"will be null; measure them: {again} {'all' if several else absent[0]}"
        )
    return Floors(floors, rules, tuple(remarks))


def write_floors(
    folder: Path, exam: str, seed: str, twins: Mapping[str, Twin], floors: Mapping[str, Any]
) -> Path:
    """Writes the floors file of an exam in one step; where it is."""
    document = {
        "format": 1,
        "seed": seed,
        "floors": {exam: dict(floors)},
        "floor_rules": {
            exam: {name: measured_rules(name, twin, floors[name]) for name, twin in twins.items()}
        },
    }
    problem = first_problem("floors", document)
    if problem is not None:
        raise ValueError(f"{exam}.json would be invalid {problem}")
    file = folder / f"{exam}.json"
    write_text(file, pretty(document))
    return file


def read_floors(file: Path, exam: str) -> dict[str, Any]:
    """A floors file, checked; raises ``UsageError`` for a damaged one or one of another exam."""
    again = "measure it again with `python build_dataset.py floors`, or remove the file"
    try:
        document = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file}: cannot be read ({error}); {again}") from None
    problem = first_problem("floors", document)
    if problem is not None:
        raise UsageError(f"{file}: no floors file, {problem}; {again}")
    if set(document["floors"]) != {exam}:
        raise UsageError(f"{file}: floors of {', '.join(document['floors'])}, not {exam}; {again}")
    assert isinstance(document, dict)
    return document


def _problem(
    document: Mapping[str, Any], exam: str, track: str, wanted: Sequence[Mapping[str, str]]
) -> str:
    """Why the floors of a track do not hold for an exam; empty if they do."""
    stated = document["floor_rules"][exam].get(track)
    if stated is None or track not in document["floors"][exam]:
        return "not measured"
    if any(stated["exam"] != rules["exam"] for rules in wanted):
        return "measured on an exam of other rules"
    if stated["grader"] != wanted[0]["grader"]:
        return "measured by another grader's rules"
    known = {variant.key for variant in GRADED[track].variants}
    strangers = sorted(set(document["floors"][exam][track]) - known)
    return f"has a floor of {strangers[0]}, which is no variant" if strangers else ""

"""The manifests of the public and the private repository (``schemas/manifest.json``), and the
identity of a release in them: canary, hash of the source, versions of libraries, fingerprint."""

import hashlib
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from builder.release.exams import Exams, compositions_of
from builder.release.parts import Part, Parts, staged_rows
from builder.release.planning import Specs, planned_levels
from builder.release.reader import public_side
from builder.release.shards import Shard
from builder.splits.config import ReleaseConfig, SplitConfig
from builder.splits.roots import Root
from builder.splits.track import Track
from builder.stories.knowledge import own_files
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.jsonio import canonical_json, pretty_json
from grader.io.schemas import first_problem
from grader.release.side import Side
from grader.version import __version__

MANIFEST: Final = "manifest.json"
FORMAT: Final = 1
"""The number of the release format; it changes when a reader of the old one would fail."""

LIBRARIES: Final = {name: version(name) for name in ("numpy", "pyarrow", "scipy")}
"""The versions of the libraries whose results are in the bytes of a release."""

_CHECKOUT: Final = Path(__file__).parent.parent.parent
CODE: Final = ("builder", "dataset_card", "grader", "schemas")
"""Folders of the code behind a release: an edit of a file in one builds every part anew."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The whole input of a manifest."""

    config: ReleaseConfig
    roots: Mapping[str, Root]
    specs: Specs
    parts: Parts
    exams: Exams
    shards: Sequence[Shard]
    floors: Mapping[str, Any] = field(default_factory=dict)


def manifest_of(contents: Contents, repository: Path, *, private: bool) -> dict[str, Any]:
    """Return the manifest of one repository of a release.

    The public one (``private`` false) shows of a private-truth split only what its questions show.
    The private one has only those splits, all their counts, and the salts of the commitments.
    """
    config = contents.config
    salts = {
        name: {"rows": root.row_salts.hex(), "seed": root.seed_salt.hex()}
        for name, root in contents.roots.items()
        if root.private
    }
    return {
        **head(config.name, config.version, "private" if private else "public"),
        "fingerprint": fingerprint(config, contents.roots),
        "configuration": config.document,
        "splits": {
            split.name: _split(contents, split, private)
            for split in config.splits
            if split.private or not private
        },
        **listing([shard for shard in contents.shards if shard.repository == repository]),
        "floors": contents.floors,
        **({"salts": salts} if private else {}),
    }


def write_manifest(manifest: Mapping[str, Any], repository: Path) -> None:
    """Write ``manifest.json``; raises ``ValueError``, a bug of ours, if it breaks its schema."""
    problem = first_problem("manifest", manifest)
    if problem is not None:
        raise ValueError(f"manifest.json would be invalid {problem}")
    write_text(repository / MANIFEST, pretty_json(manifest))


def read_manifest(repository: Path) -> dict[str, Any]:
    """Return the manifest of a repository on disk. Raises ``UsageError`` if absent or invalid."""
    manifest = Side.open(repository).manifest
    problem = first_problem("manifest", manifest)
    if problem is not None:
        raise UsageError(
            f"{repository / MANIFEST}: no manifest, {problem}; build the release again"
        )
    return manifest


def built_manifest(release: Path) -> dict[str, Any]:
    """Return the public manifest of a release. Raises ``UsageError`` where it is absent, invalid or
    of an imported release, whose hidden worlds are not known."""
    manifest = read_manifest(public_side(release))
    if "imported" in manifest["configuration"]:
        raise UsageError(
            f"{release}: an imported release, whose worlds are not known here; check it with "
            "`python -m grader verify`"
        )
    return manifest


def _split(contents: Contents, split: SplitConfig, private: bool) -> dict[str, Any]:
    """Return a split's entry: truth, seed or its commitment, each track, and the numbers of tasks
    that each exam asks of each track."""
    entry: dict[str, Any] = {"truth": split.truth}
    if split.private:
        entry["seed_commitment"] = contents.roots[split.name].commitment
    else:
        entry["seed"] = split.seed
    entry["tracks"] = {track: _track(contents, split, track, private) for track, _ in split.tracks}
    entry["exams"] = {}
    for draw in split.draws:
        exam = contents.exams[split.name, draw.track][draw.exam]
        entry["exams"].setdefault(draw.exam, {})[draw.track] = len(exam.task_ids)
    return entry


def _track(contents: Contents, split: SplitConfig, track: str, private: bool) -> dict[str, Any]:
    """Return the entry of a track in a split: requested and realised counts. Those that tell of
    hidden worlds are only there where truth is public, or in the ``private`` manifest."""
    record, place = contents.config.tracks[track], (split.name, track)
    specs = contents.specs[place]
    parts = contents.parts[place]
    requested: dict[str, Any] = {"instances": len(specs)}
    requested |= {f"{axis}s": levels for axis, levels in planned_levels(specs).items()}
    instances: set[str] = set()
    variants: Counter[str] = Counter()
    for task in staged_rows(parts, track, ("instance_id", "family", "variant")):
        instances.add(task["instance_id"])
        variants[f"{task['family']}.{task['variant']}"] += 1
    realised: dict[str, Any] = {
        "instances": len(instances),
        "tasks": variants.total(),
        "variants": dict(sorted(variants.items())),
    }
    entry: dict[str, Any] = {"requested": requested, "realised": realised}
    if private or not split.private:
        realised["motifs"] = _levels(parts, record, "worlds", "motif")
        realised["structures"] = _levels(parts, record, "truth", "structure")
        planned = record.composition(dict(split.tracks)[track], specs)
        composition = {**planned, **compositions_of(contents.exams[place])}
        if composition:
            entry["composition"] = composition
        rejections: Counter[str] = Counter()
        for part in parts:
            rejections.update(part.rejections)
        entry["rejections"] = dict(sorted(rejections.items()))
    return entry


def _levels(parts: Sequence[Part], track: Track, table: str, column: str) -> dict[str, int]:
    """Return how often each text stands in a column of a table; empty without that column."""
    config = f"{track.name}_{table}"
    if config not in track.tables or column not in track.tables[config].names:
        return {}
    counts = Counter(row[column] for row in staged_rows(parts, config, (column,)))
    return dict(sorted(counts.items()))


def head(name: str, version: str, visibility: str) -> dict[str, Any]:
    """Return the first members of a manifest: what the release is and what made it."""
    return {
        "format": FORMAT,
        "release": name,
        "version": version,
        "visibility": visibility,
        "builder": __version__,
        "source_sha256": source_sha256(),
        "libraries": LIBRARIES,
        "canary": canary(name, version),
    }


def listing(shards: Sequence[Shard]) -> dict[str, dict[str, Any]]:
    """Return ``configs`` (rows, bytes, content hash by config and split) and ``shards``."""
    configs: dict[str, dict[str, Any]] = {}
    ordered = sorted(shards, key=attrgetter("config", "split", "name"))
    for (config, split), group in groupby(ordered, key=attrgetter("config", "split")):
        members = [*group]
        digests = canonical_json([digest for shard in members for digest in shard.groups])
        configs.setdefault(config, {})[split] = {
            "rows": sum(shard.rows for shard in members),
            "bytes": sum(shard.bytes for shard in members),
            "content_sha256": hashlib.sha256(digests.encode("ascii")).hexdigest(),
        }
    told = ("rows", "bytes", "sha256", "content_sha256")
    return {
        "configs": configs,
        "shards": {shard.name: {key: getattr(shard, key) for key in told} for shard in ordered},
    }


def canary(name: str, release_version: str) -> str:
    """Return the GUID by which a training corpus can be searched for a release."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"causal-exams canary/{name}/{release_version}"))


@cache
def source_sha256() -> str:
    """Return the SHA-256 over names and bytes of the code, and of story domains from outside it."""
    total = hashlib.sha256()
    for file in code_files():
        total.update(file.relative_to(_CHECKOUT).as_posix().encode("utf-8") + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    own = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in own_files()}
    if own:
        total.update(canonical_json(own).encode("utf-8"))
    return total.hexdigest()


def code_files() -> list[Path]:
    """Return the files in the folders ``CODE``, sorted, without hidden and compiled ones."""
    files = (file for folder in CODE for file in (_CHECKOUT / folder).rglob("*") if file.is_file())
    return sorted(
        file
        for file in files
        if not any(p.startswith((".", "__pycache__")) for p in file.relative_to(_CHECKOUT).parts)
    )


def fingerprint(config: ReleaseConfig, roots: Mapping[str, Root]) -> str:
    """Return the SHA-256 that identifies a build: if equal, so are the bytes on one platform.

    It covers the configuration, the rules by which floors are graded, the code, the libraries and,
    through their commitments, the private roots.
    """
    commitments = {name: root.commitment for name, root in roots.items() if root.private}
    text = canonical_json(
        {
            "builder": __version__,
            "commitments": commitments,
            "configuration": config.document,
            "format": FORMAT,
            "libraries": LIBRARIES,
            "rules": {name: track.grader.rules for name, track in config.tracks.items()},
            "source": source_sha256(),
        }
    )
    return hashlib.sha256(text.encode("utf-8")).hexdigest()

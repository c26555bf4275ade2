"""The manifests of the public and the private repository (``schemas/manifest.json``)."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from builder.release.config import ReleaseConfig
from builder.release.exams import Exams, composed
from builder.release.identity import FORMAT, canary, fingerprint, library_versions, source_sha256
from builder.release.parts import Part
from builder.release.planning import Specs, requested_counts
from builder.release.roots import Root
from builder.release.shards import Shard
from builder.tracks import TRACKS
from grader import __version__
from grader.errors import UsageError
from grader.io.files import file_sha256, write_text
from grader.io.jsonio import canonical, pretty
from grader.io.schemas import first_problem

MANIFEST: Final = "manifest.json"

Parts = Mapping[tuple[str, str], Sequence[Part]]
"""(split, track) to the staged parts."""


@dataclass(frozen=True, slots=True)
class Contents:
    """All that a manifest is written from."""

    config: ReleaseConfig
    roots: Mapping[str, Root]
    specs: Specs
    parts: Parts
    exams: Exams
    shards: Sequence[Shard]


def public_manifest(contents: Contents, repository: Path) -> dict[str, Any]:
    """The public manifest: of a private-truth split it shows only what its questions show."""
    return _manifest(contents, repository, private=False)


def private_manifest(contents: Contents, repository: Path) -> dict[str, Any]:
    """The private manifest: all counts, the same commitments, and the salts."""
    manifest = _manifest(contents, repository, private=True)
    manifest["salts"] = {
        name: {"rows": root.row_salts.hex(), "seed": root.seed_salt.hex()}
        for name, root in contents.roots.items()
        if root.private
    }
    return manifest


def write_manifest(manifest: Mapping[str, Any], repository: Path) -> None:
    """Writes ``manifest.json``; one that breaks its schema is our bug (``ValueError``)."""
    problem = first_problem("manifest", manifest)
    if problem is not None:
        raise ValueError(f"manifest.json would be invalid {problem}")
    write_text(repository / MANIFEST, pretty(manifest))


def read_manifest(repository: Path) -> dict[str, Any]:
    """The manifest of a repository on disk; raises ``UsageError``."""
    file = repository / MANIFEST
    try:
        manifest = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise UsageError(f"{file}: not found; name the folder of a release") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: cannot be read ({error}); build the release again") from None
    problem = first_problem("manifest", manifest)
    if problem is not None:
        raise UsageError(f"{file}: no manifest, {problem}; build the release again")
    assert isinstance(manifest, dict)
    return manifest


def refuse_imported(manifest: Mapping[str, Any], folder: Path) -> None:
    """Raises ``UsageError`` for a release that was imported: its hidden worlds are not known."""
    if "imported" in manifest["configuration"]:
        raise UsageError(
            f"{folder}: an imported release, whose worlds are not known here; check it with "
            "`python -m grader verify`"
        )


def changed_shards(repository: Path, manifest: Mapping[str, Any]) -> list[str]:
    """The shards that are absent or whose SHA-256 is not the manifest's."""
    changed = []
    for name, entry in sorted(manifest["shards"].items()):
        try:
            digest = file_sha256(repository / name)
        except OSError:
            digest = ""
        if digest != entry["sha256"]:
            changed.append(name)
    return changed


def _manifest(contents: Contents, repository: Path, *, private: bool) -> dict[str, Any]:
    config = contents.config
    here = [shard for shard in contents.shards if shard.repository == repository]
    return {
        **head(config.name, config.version, "private" if private else "public"),
        "fingerprint": fingerprint(config, contents.roots),
        "configuration": config.document,
        "splits": {
            split.name: _split(contents, split.name, private)
            for split in config.splits
            if split.private or not private
        },
        **listing(here),
        "commitments": _commitments(contents.shards),
    }


def _split(contents: Contents, name: str, private: bool) -> dict[str, Any]:
    split = next(split for split in contents.config.splits if split.name == name)
    entry: dict[str, Any] = {"truth": split.truth}
    if split.private:
        entry["seed_commitment"] = contents.roots[name].commitment
    else:
        entry["seed"] = split.seed
    revealing = private or not split.private
    entry["tracks"] = {track: _track(contents, name, track, revealing) for track, _ in split.tracks}
    entry["exams"] = {
        exam.name: {
            draw.track: len(contents.exams[name, draw.track][exam.name].task_ids)
            for draw in exam.draws
        }
        for exam in split.exams
    }
    return entry


def _track(contents: Contents, split: str, track: str, revealing: bool) -> dict[str, Any]:
    """Requested and realised counts; what tells of hidden worlds only where it may be seen."""
    specs = contents.specs[split, track]
    parts = contents.parts[split, track]
    requested: dict[str, Any] = {"instances": len(specs)}
    requested |= {f"{axis}s": levels for axis, levels in requested_counts(specs).items()}
    tasks = _column(parts, track, "variant")
    families = _column(parts, track, "family")
    realised: dict[str, Any] = {
        "instances": sum(len(set(_column([part], track, "instance_id"))) for part in parts),
        "tasks": len(tasks),
        "variants": _counted(f"{a}.{b}" for a, b in zip(families, tasks, strict=True)),
    }
    entry: dict[str, Any] = {"requested": requested, "realised": realised}
    if revealing:
        realised["motifs"] = _counted(_column(parts, f"{track}_worlds", "motif"))
        realised["structures"] = _counted(_column(parts, f"{track}_truth", "structure"))
        rejections: Counter[str] = Counter()
        for part in parts:
            rejections.update(part.rejections)
        settings = dict(next(s for s in contents.config.splits if s.name == split).tracks)[track]
        composition = TRACKS[track].composition(settings, specs)
        composition = {**composition, **composed(contents.exams[split, track])}
        if composition:
            entry["composition"] = composition
        entry["rejections"] = dict(sorted(rejections.items()))
    return entry


def _column(parts: Sequence[Part], config: str, column: str) -> list[str]:
    """One text column over all parts; empty where a track has no such config or column."""
    values: list[str] = []
    for part in parts:
        if config in part.sizes:
            table = part.read(config)
            if column in table.schema.names:
                values.extend(table.column(column).to_pylist())
    return values


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def head(name: str, version: str, visibility: str) -> dict[str, Any]:
    """The members that say what a release is and what made it."""
    return {
        "format": FORMAT,
        "release": name,
        "version": version,
        "visibility": visibility,
        "builder": __version__,
        "source_sha256": source_sha256(),
        "libraries": library_versions(),
        "canary": canary(name, version),
    }


def listing(shards: Sequence[Shard]) -> dict[str, dict[str, Any]]:
    """``shards``, and ``configs``: rows, bytes and content hash of each config and split.

    A config's content hash is over the hashes of its row groups, shard after shard.
    """
    ordered = sorted(shards, key=lambda shard: shard.name)
    groups: dict[tuple[str, str], list[Shard]] = {}
    for shard in ordered:
        groups.setdefault((shard.config, shard.split), []).append(shard)
    configs: dict[str, dict[str, Any]] = {}
    for (config, split), members in sorted(groups.items()):
        digests = canonical([digest for shard in members for digest in shard.groups])
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


def _commitments(shards: Sequence[Shard]) -> dict[str, dict[str, dict[str, str]]]:
    commitments: dict[str, dict[str, dict[str, str]]] = {}
    for shard in shards:
        if shard.commitments:
            table = commitments.setdefault(shard.config, {}).setdefault(shard.split, {})
            table.update(shard.commitments)
    return commitments

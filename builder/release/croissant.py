"""``croissant.json``: what search engines and loaders of the ecosystem read of a dataset.

MLCommons Croissant 1.0 with its responsible-AI vocabulary. Files and hashes are the manifest's,
fields those of the shards.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import yaml

from builder.release.card import Place
from builder.release.reader import open_shard, shards
from grader.io.jsonio import pretty

FILE: Final = "croissant.json"
_WORDS: Final = Path(__file__).parent.parent.parent / "dataset_card" / "croissant.yaml"
_PARQUET: Final = "application/x-parquet"
_REPOSITORY: Final = "repository"
_NO_HASH: Final = "https://github.com/mlcommons/croissant/issues/80"
"""What Croissant's own examples give as the hash of a git repository, whose commit is its hash."""


@cache
def _words() -> dict[str, Any]:
    words: dict[str, Any] = yaml.safe_load(_WORDS.read_text(encoding="utf-8"))
    return words


def croissant(
    manifest: Mapping[str, Any], repository: Path, title: str, licence: str, place: Place
) -> str:
    """The text of the file for a repository whose shards are on disk."""
    words = _words()
    return pretty(
        {
            "@context": words["context"],
            "@type": "sc:Dataset",
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "name": f"causal-exams-{manifest['release']}",
            "alternateName": title,
            "description": words["description"],
            "citeAs": words["citation"].format(
                name=manifest["release"], version=manifest["version"]
            ),
            "keywords": words["keywords"],
            "license": licence,
            "url": place.url or f"urn:uuid:{manifest['canary']}",
            "version": manifest["version"],
            "isLiveDataset": False,
            **words["rai"],
            "distribution": [*_files(manifest, place)],
            "recordSet": [*_record_sets(manifest, repository)],
        }
    )


def _files(manifest: Mapping[str, Any], place: Place) -> Iterator[dict[str, Any]]:
    """Each shard with its hash, and a set of them for each config and split."""
    within = {}
    if place.url:
        within = {"containedIn": {"@id": _REPOSITORY}}
        yield {
            "@type": "cr:FileObject", "@id": _REPOSITORY, "name": _REPOSITORY,
            "description": "The repository on the Hub.", "contentUrl": place.url,
            "encodingFormat": "git+https", "sha256": _NO_HASH,
        }  # fmt: skip
    for name, entry in sorted(manifest["shards"].items()):
        yield {
            "@type": "cr:FileObject", "@id": name, "name": name,
            "contentUrl": place.file(name), "contentSize": f"{entry['bytes']} B",
            "encodingFormat": _PARQUET, "sha256": entry["sha256"],
        }  # fmt: skip
    for config, split in _tables(manifest):
        yield {
            "@type": "cr:FileSet", "@id": _set(config, split), "name": _set(config, split),
            "encodingFormat": _PARQUET, "includes": f"{config}/{split}-*.parquet", **within,
        }  # fmt: skip


def _tables(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for config, splits in sorted(manifest["configs"].items()):
        yield from ((config, split) for split in sorted(splits))


def _set(config: str, split: str) -> str:
    return f"files-{config}-{split}"


def _record_sets(manifest: Mapping[str, Any], repository: Path) -> Iterator[dict[str, Any]]:
    for config, split in _tables(manifest):
        with open_shard(shards(repository, config, split)[0]) as file:
            schema = file.schema_arrow
        name = f"{config}-{split}"
        yield {
            "@type": "cr:RecordSet", "@id": name, "name": name,
            "description": f"Config {config}, split {split}.",
            "field": _fields(schema, name, _set(config, split)),
        }  # fmt: skip


def _fields(schema: pa.Schema, owner: str, files: str) -> Sequence[dict[str, Any]]:
    """The columns that hold one value a row; tables inside a row are told by their column alone."""
    return [
        {
            "@type": "cr:Field", "@id": f"{owner}/{field.name}", "name": f"{owner}/{field.name}",
            "dataType": kind,
            "source": {"fileSet": {"@id": files}, "extract": {"column": field.name}},
        }
        for field in schema
        if (kind := _kind(field.type)) is not None
    ]  # fmt: skip


def _kind(kind: pa.DataType) -> str | None:
    if pa.types.is_string(kind):
        return "sc:Text"
    if pa.types.is_boolean(kind):
        return "sc:Boolean"
    if pa.types.is_integer(kind):
        return "sc:Integer"
    return "sc:Float" if pa.types.is_floating(kind) else None

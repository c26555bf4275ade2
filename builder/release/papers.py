"""The papers of a repository: manifest, card, registration as a benchmark, Croissant."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import yaml

from builder.release import card
from builder.release.card import Place, folder
from builder.release.manifest import write_manifest
from builder.release.reader import open_shard, shards
from builder.release.shards import CONFIG
from grader.hub.eval_results import FRAMEWORK, task_id
from grader.io.jsonio import pretty_json

CARD: Final = "README.md"
EVAL: Final = "eval.yaml"
CROISSANT: Final = "croissant.json"
MADE: Final = (CARD, EVAL, CROISSANT)
"""The papers that follow from the manifest."""
_WORDS: Final = Path(__file__).parent.parent.parent / "dataset_card" / "croissant.yaml"
_PARQUET: Final = "application/x-parquet"
_REPOSITORY: Final = "repository"
_NO_HASH: Final = "https://github.com/mlcommons/croissant/issues/80"
"""The hash of a git repository in Croissant's own examples: its commit is its hash."""


def write_papers(manifest: Mapping[str, Any], repository: Path) -> None:
    """Write manifest and papers of a repository, as they are read from the folder ``release``."""
    write_manifest(manifest, repository)
    for name, text in papers(manifest, repository, folder(manifest["visibility"])).items():
        (repository / name).write_text(text, encoding="utf-8")


def papers(manifest: Mapping[str, Any], repository: Path, place: Place) -> dict[str, str]:
    """Return the papers of a repository that will be read from ``place``, by file name. The private
    side has the card alone."""
    found = {CARD: card.text(manifest, place)}
    if manifest["visibility"] == "public":
        found[EVAL] = eval_yaml(manifest)
        found[CROISSANT] = croissant(manifest, repository, place)
    return found


def eval_yaml(manifest: Mapping[str, Any]) -> str:
    """Return ``eval.yaml``, the registration as a benchmark: an entry for each exam and, if it has
    several tracks, for each of them. Figures are skills, so the framework is this project."""
    tasks = []
    for split, entry in manifest["splits"].items():
        for exam, tracks in entry["exams"].items():
            names = [None, *sorted(tracks)] if len(tracks) > 1 else [None]
            for track in names:
                place = {"config": track or CONFIG, "split": split}
                tasks.append({"id": task_id(split, exam, track), **place})
    told = {
        "name": card.title(manifest),
        "description": card.description(),
        "evaluation_framework": FRAMEWORK,
        "tasks": tasks,
    }
    return yaml.safe_dump(told, sort_keys=False, allow_unicode=True)


def croissant(manifest: Mapping[str, Any], repository: Path, place: Place) -> str:
    """Return ``croissant.json``: the description of a repository for search engines and loaders, by
    MLCommons Croissant 1.0 with its responsible-AI vocabulary."""
    words: dict[str, Any] = yaml.safe_load(_WORDS.read_text(encoding="utf-8"))
    return pretty_json(
        {
            "@context": words["context"],
            "@type": "sc:Dataset",
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "name": f"causal-exams-{manifest['release']}",
            "alternateName": card.title(manifest),
            "description": words["description"],
            "citeAs": words["citation"].format(
                name=manifest["release"], version=manifest["version"]
            ),
            "keywords": words["keywords"],
            "license": card.licence_page(manifest),
            "url": place.url or f"urn:uuid:{manifest['canary']}",
            "version": manifest["version"],
            "isLiveDataset": False,
            **words["rai"],
            "distribution": [*_files(manifest, place)],
            "recordSet": [*_record_sets(manifest, repository)],
        }
    )


def _node(kind: str, name: str, **members: Any) -> dict[str, Any]:
    """Return a node of the Croissant description, whose id is its name."""
    return {"@type": f"cr:{kind}", "@id": name, "name": name, **members}


def _files(manifest: Mapping[str, Any], place: Place) -> Iterator[dict[str, Any]]:
    """Yield a node for each shard, with its hash, and one for the set of shards of each config and
    split. On the Hub the first node is the repository."""
    inside = {}
    if place.url:
        inside = {"containedIn": {"@id": _REPOSITORY}}
        yield _node(
            "FileObject",
            _REPOSITORY,
            description="The repository on the Hub.",
            contentUrl=place.url,
            encodingFormat="git+https",
            sha256=_NO_HASH,
        )
    for name, entry in sorted(manifest["shards"].items()):
        yield _node(
            "FileObject",
            name,
            contentUrl=place.file(name),
            contentSize=f"{entry['bytes']} B",
            encodingFormat=_PARQUET,
            sha256=entry["sha256"],
        )
    for config, split in _tables(manifest):
        files = f"{config}/{split}-*.parquet"
        yield _node(
            "FileSet", _set(config, split), encodingFormat=_PARQUET, includes=files, **inside
        )


def _tables(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield config and split of every table of a manifest, sorted."""
    for config, splits in sorted(manifest["configs"].items()):
        yield from ((config, split) for split in sorted(splits))


def _set(config: str, split: str) -> str:
    """Return the id of the set of files of a config and split."""
    return f"files-{config}-{split}"


def _record_sets(manifest: Mapping[str, Any], repository: Path) -> Iterator[dict[str, Any]]:
    """Yield a record set for each config and split, with the columns that are not nested."""
    for config, split in _tables(manifest):
        with open_shard(shards(repository, config, split)[0]) as file:
            schema = file.schema_arrow
        name, files = f"{config}-{split}", {"@id": _set(config, split)}
        fields = [
            _node(
                "Field",
                f"{name}/{field.name}",
                dataType=kind,
                source={"fileSet": files, "extract": {"column": field.name}},
            )
            for field in schema
            if (kind := _kind(field.type)) is not None
        ]
        about = f"Config {config}, split {split}."
        yield _node("RecordSet", name, description=about, field=fields)


def _kind(kind: pa.DataType) -> str | None:
    """Return the schema.org type of a column, None for a nested one."""
    if pa.types.is_string(kind):
        return "sc:Text"
    if pa.types.is_boolean(kind):
        return "sc:Boolean"
    if pa.types.is_integer(kind):
        return "sc:Integer"
    return "sc:Float" if pa.types.is_floating(kind) else None

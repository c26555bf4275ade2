"""The papers of a repository: manifest, card, registration as a benchmark, Croissant.

The card is ``README.md``, with the YAML that the Hub reads. Texts live in ``dataset_card/``
(``facts.yaml``: what the templates share); what is counted comes from the manifest.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Final

import pyarrow as pa
import yaml

from builder.release.manifest import write_manifest
from builder.release.reader import open_shard, shards
from builder.release.shards import CONFIG
from grader.hub.eval_results import FRAMEWORK, task_id
from grader.io.jsonio import pretty_json
from grader.io.printing import printable

PAGE: Final = "https://huggingface.co"
CARD: Final = "README.md"
EVAL: Final = "eval.yaml"
CROISSANT: Final = "croissant.json"
MADE: Final = (CARD, EVAL, CROISSANT)
"""The papers that follow from the manifest."""
_WORDS: Final = Path(__file__).parent.parent.parent / "dataset_card"
_PARQUET: Final = "application/x-parquet"
_REPOSITORY: Final = "repository"
_NO_HASH: Final = "https://github.com/mlcommons/croissant/issues/80"
"""The hash of a git repository in Croissant's own examples: its commit is its hash."""

_KINDS: Final = {
    "sc:Text": pa.types.is_string,
    "sc:Boolean": pa.types.is_boolean,
    "sc:Integer": pa.types.is_integer,
    "sc:Float": pa.types.is_floating,
}
"""The schema.org types of columns; nested ones have none."""

_SIZES: Final = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M")


@dataclass(frozen=True, slots=True)
class Place:
    """The place from which a repository will be read, as its card names it.

    ``dataset`` is the argument of ``load_dataset``, ``release`` that of ``--release``. ``url`` is
    the repository's page at the release's revision, empty for a folder.
    """

    dataset: str
    release: str
    url: str = ""

    def file(self, name: str) -> str:
        """Return the address of a file of the repository; in a folder, its path relative to it."""
        return f"{self.url.replace('/tree/', '/resolve/')}/{name}" if self.url else name


def on_hub(repo: str, revision: str) -> Place:
    """Return the place of a repository on the Hub, at the tag ``revision``."""
    return Place(repo, f"hf://{repo}@{revision}", f"{PAGE}/datasets/{repo}/tree/{revision}")


def write_papers(manifest: Mapping[str, Any], repository: Path) -> None:
    """Write manifest and papers of a repository, as they are read from the folder ``release``."""
    write_manifest(manifest, repository)
    place = Place(f"release/{manifest['visibility']}", "release")
    for name, text in papers(manifest, repository, place).items():
        (repository / name).write_text(text, encoding="utf-8")


def papers(manifest: Mapping[str, Any], repository: Path, place: Place) -> dict[str, str]:
    """Return the papers to be read from ``place``, by file name; the private side has a card."""
    found = {CARD: card(manifest, place)}
    if manifest["visibility"] == "public":
        found[EVAL] = eval_yaml(manifest)
        found[CROISSANT] = croissant(manifest, repository, place)
    return found


@cache
def _texts() -> dict[str, Any]:
    texts: dict[str, Any] = yaml.safe_load((_WORDS / "facts.yaml").read_text(encoding="utf-8"))
    return texts


def _facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the texts for a release's card. An imported release has some of its own."""
    return _texts() | (_texts()["imported"] if "imported" in manifest["configuration"] else {})


def card(manifest: Mapping[str, Any], place: Place) -> str:
    """Return the ``README.md`` of the repository with this manifest, to be read from ``place``."""
    name = "imported" if "imported" in manifest["configuration"] else manifest["visibility"]
    body = Template((_WORDS / f"{name}.md").read_text(encoding="utf-8"))
    front = yaml.safe_dump(
        front_matter(manifest), sort_keys=False, allow_unicode=True, default_flow_style=False
    )
    lines = body.substitute(_fields(manifest, place)).split("\n")
    return f"---\n{front}---\n\n" + "\n".join(map(printable, lines))


def title(manifest: Mapping[str, Any]) -> str:
    """Return the title of a release's card: name and version, or what an import is called."""
    built = f"Causal exams ({manifest['release']} {manifest['version']})"
    return printable(str(manifest["configuration"].get("imported", built)))


def front_matter(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the card's YAML as a mapping, in the order in which it is written."""
    limits = (1_000, 10_000, 100_000, 1_000_000)
    size = _SIZES[bisect_right(limits, _count_tasks(manifest))]
    front: dict[str, Any] = _texts()["head"] | {
        "license": _facts(manifest)["license"],
        "pretty_name": title(manifest),
        "size_categories": [size],
    }
    if manifest["visibility"] == "private":
        front |= _texts()["private_head"]
    default = _default_config(manifest)
    front["configs"] = [
        {
            "config_name": config,
            **({"default": True} if config == default else {}),
            "data_files": [
                {"split": split, "path": f"{config}/{split}-*.parquet"} for split in splits
            ],
        }
        for config, splits in manifest["configs"].items()
    ]
    return front


def _default_config(manifest: Mapping[str, Any]) -> str:
    """Return the config that the Hub shows first: all tasks or, if private, the first truths."""
    configs: list[str] = list(manifest["configs"])
    truths = [config for config in configs if config.endswith("_truth")]
    wanted = truths if manifest["visibility"] == "private" else [CONFIG]
    return min([config for config in wanted if config in configs] or configs)


def _fields(manifest: Mapping[str, Any], place: Place) -> dict[str, str]:
    """Return the values for the fields of a card's template, by name."""
    default = _default_config(manifest)
    by_truth: dict[str, list[str]] = {}
    for name, split in sorted(manifest["splits"].items()):
        by_truth.setdefault(split["truth"], []).append(name)
    truth = "public" if "public" in by_truth else "private"
    release = {"release_folder": place.release, "exam_split": by_truth[truth][0]}
    notes = (
        _texts()["truths"][kind].format(splits=" and ".join(f"`{name}`" for name in names))
        for kind, names in sorted(by_truth.items(), reverse=True)
    )
    return {
        "title": title(manifest),
        "about": _texts()["about"],
        "name": manifest["release"],
        "version": manifest["version"],
        "canary": manifest["canary"],
        "licence": _facts(manifest)["licence"],
        **release,
        "grading": Template(_texts()["grading"][truth]).substitute(release),
        "folder": place.dataset,
        "config": default.removesuffix("_truth"),
        "split": min(manifest["configs"][default]),
        "task_count": f"{_count_tasks(manifest):,}",
        "splits": _splits(manifest),
        "configs": _configs(manifest),
        "truth_note": " ".join(notes),
        **_scene_examples(manifest, place),
        "telling": _telling(manifest),
    }


def _scene_examples(manifest: Mapping[str, Any], place: Place) -> dict[str, str]:
    """Return examples that read scenes of the first track with some, by field of the template."""
    names = ("scenes_python", "scenes_sql")
    for config, splits in sorted(manifest["configs"].items()):
        if config.endswith("_scenes"):
            track, split = config.removesuffix("_scenes"), min(splits)
            fields = {"folder": place.dataset, "track": track, "split": split}
            return {name: Template(_texts()[name]).substitute(fields) for name in names}
    return dict.fromkeys(names, "")


def _count_tasks(manifest: Mapping[str, Any]) -> int:
    tasks = [track for split in manifest["splits"].values() for track in split["tracks"].values()]
    return sum(track["realised"].get("tasks", 0) for track in tasks)


def _splits(manifest: Mapping[str, Any]) -> str:
    """Return a Markdown table of splits and tracks, with the exams that ask their tasks."""
    lines = ["| split | truth | track | instances | tasks | exams |", "|---|---|---|---|---|---|"]
    for name, split in manifest["splits"].items():
        for track, entry in split["tracks"].items():
            asked = {exam: own[track] for exam, own in split["exams"].items() if track in own}
            exams = ", ".join(f"{exam} ({count})" for exam, count in asked.items())
            realised = entry["realised"]
            lines.append(
                f"| {name} | {split['truth']} | {track} | {realised['instances']:,} "
                f"| {realised.get('tasks', 0):,} | {exams or 'none'} |"
            )
    return "\n".join(lines)


def _configs(manifest: Mapping[str, Any]) -> str:
    """Return a Markdown table of configs and splits, with their rows and what these hold."""
    lines = ["| config | split | rows | content |", "|---|---|---|---|"]
    tracks = {track for split in manifest["splits"].values() for track in split["tracks"]}
    for config, splits in manifest["configs"].items():
        track = max((track for track in tracks if config.startswith(track)), key=len, default="")
        content = _texts()["tables"].get(config.removeprefix(track), "")
        for split, table in splits.items():
            lines.append(f"| `{config}` | {split} | {table['rows']:,} | {content} |")
    return "\n".join(lines)


def _telling(manifest: Mapping[str, Any]) -> str:
    """Return sentences on who wrote the stories: rules, or the split file's language models."""
    texts = _texts()["telling"]
    told: dict[str, str] = {}
    for name, split in manifest["configuration"].get("splits", {}).items():
        for table in split.values():
            for key in ("llm", "stored"):
                if isinstance(table, Mapping) and (llm := table.get(key)):
                    day = f", on {llm['told_on']}" if "told_on" in llm else ""
                    told[f"`{name}`"] = f"`{llm['model']}`{day}"
    if not told:
        return str(texts["rules"])
    models = " and ".join(dict.fromkeys(told.values()))
    return str(texts["model"].format(splits=" and ".join(told), models=models))


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
        "name": title(manifest),
        "description": _texts()["sentence"],
        "evaluation_framework": FRAMEWORK,
        "tasks": tasks,
    }
    return yaml.safe_dump(told, sort_keys=False, allow_unicode=True)


def croissant(manifest: Mapping[str, Any], repository: Path, place: Place) -> str:
    """Return ``croissant.json``: the description of a repository for search engines and loaders, by
    MLCommons Croissant 1.0 with its responsible-AI vocabulary."""
    words: dict[str, Any] = yaml.safe_load((_WORDS / "croissant.yaml").read_text("utf-8"))
    return pretty_json(
        {
            "@context": words["context"],
            "@type": "sc:Dataset",
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "name": f"causal-exams-{manifest['release']}",
            "alternateName": title(manifest),
            "description": words["description"],
            "citeAs": words["citation"].format(
                name=manifest["release"], version=manifest["version"]
            ),
            "keywords": words["keywords"],
            "license": _facts(manifest)["licence_page"],
            "url": place.url or f"urn:uuid:{manifest['canary']}",
            "version": manifest["version"],
            "isLiveDataset": False,
            **words["rai"],
            "distribution": [*_files(manifest, place)],
            "recordSet": [*_record_sets(manifest, repository)],
        }
    )


def _node(kind: str, name: str, **members: Any) -> dict[str, Any]:
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
            "FileSet", f"files-{config}-{split}", encodingFormat=_PARQUET, includes=files, **inside
        )


def _tables(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for config, splits in sorted(manifest["configs"].items()):
        yield from ((config, split) for split in sorted(splits))


def _record_sets(manifest: Mapping[str, Any], repository: Path) -> Iterator[dict[str, Any]]:
    """Yield a record set for each config and split, with the columns that are not nested."""
    for config, split in _tables(manifest):
        with open_shard(shards(repository, config, split)[0]) as file:
            schema = file.schema_arrow
        name, files = f"{config}-{split}", {"@id": f"files-{config}-{split}"}
        fields = [
            _node(
                "Field",
                f"{name}/{field.name}",
                dataType=kind,
                source={"fileSet": files, "extract": {"column": field.name}},
            )
            for field in schema
            for kind, fits in _KINDS.items()
            if fits(field.type)
        ]
        about = f"Config {config}, split {split}."
        yield _node("RecordSet", name, description=about, field=fields)

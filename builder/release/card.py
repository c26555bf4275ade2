"""The dataset cards: ``README.md`` of each repository, with the YAML that the Hub reads.

The text lives in ``dataset_card/`` (``facts.yaml``: what the templates share); what is counted
comes from the manifest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Final

import yaml

from builder.release.shards import CONFIG
from grader.io.printing import printable

PAGE: Final = "https://huggingface.co"
_TEMPLATES: Final = Path(__file__).parent.parent.parent / "dataset_card"

_SIZES: Final = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
)


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


def folder(visibility: str) -> Place:
    """Return the place of one side (``public`` or ``private``) in a folder called ``release``."""
    return Place(f"release/{visibility}", "release")


def on_hub(repo: str, revision: str) -> Place:
    """Return the place of a repository on the Hub, at the tag ``revision``."""
    return Place(repo, f"hf://{repo}@{revision}", f"{PAGE}/datasets/{repo}/tree/{revision}")


@cache
def _texts() -> dict[str, Any]:
    """Return the content of ``facts.yaml``."""
    texts: dict[str, Any] = yaml.safe_load((_TEMPLATES / "facts.yaml").read_text(encoding="utf-8"))
    return texts


def _facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the texts for a release's card. An imported release has some of its own."""
    return _texts() | (_texts()["imported"] if "imported" in manifest["configuration"] else {})


def text(manifest: Mapping[str, Any], place: Place) -> str:
    """Return the ``README.md`` of the repository with this manifest, to be read from ``place``."""
    name = "imported" if "imported" in manifest["configuration"] else manifest["visibility"]
    body = Template((_TEMPLATES / f"{name}.md").read_text(encoding="utf-8"))
    front = yaml.safe_dump(
        front_matter(manifest), sort_keys=False, allow_unicode=True, default_flow_style=False
    )
    lines = body.substitute(_fields(manifest, place)).split("\n")
    return f"---\n{front}---\n\n" + "\n".join(map(printable, lines))


def title(manifest: Mapping[str, Any]) -> str:
    """Return the title of a release's card: name and version, or the own title of an imported
    one."""
    built = f"Causal exams ({manifest['release']} {manifest['version']})"
    return printable(str(manifest["configuration"].get("imported", built)))


def licence_page(manifest: Mapping[str, Any]) -> str:
    """Return the address of the licence, or its identifier where it is not ours."""
    return str(_facts(manifest)["licence_page"])


def description() -> str:
    """Return one or two sentences that describe the exams."""
    return str(_texts()["sentence"])


def front_matter(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the card's YAML as a mapping, in the order in which it is written."""
    rows = _rows(manifest)
    size = next((name for limit, name in _SIZES if rows < limit), "1M<n<10M")
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
    """Return the config that the Hub shows first: that of all tasks or, on the private side, the
    truths of the first track by name."""
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
        "task_count": f"{_rows(manifest):,}",
        "splits": _splits(manifest),
        "configs": _configs(manifest),
        "truth_note": " ".join(notes),
        **_scene_examples(manifest, place),
        "telling": _telling(manifest),
    }


def _scene_examples(manifest: Mapping[str, Any], place: Place) -> dict[str, str]:
    """Return code examples that read scenes of the first track that ships some, by field of the
    template; empty texts where none does."""
    names = ("scenes_python", "scenes_sql")
    for config, splits in sorted(manifest["configs"].items()):
        if config.endswith("_scenes"):
            track, split = config.removesuffix("_scenes"), min(splits)
            fields = {"folder": place.dataset, "track": track, "split": split}
            return {name: Template(_texts()[name]).substitute(fields) for name in names}
    return dict.fromkeys(names, "")


def _rows(manifest: Mapping[str, Any]) -> int:
    """Return the number of tasks in all splits of a manifest."""
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
    """Return sentences on who wrote the stories: rules, or language models as the split file
    says."""
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

"""What a repository says of itself beside its rows: manifest, card, and what the Hub reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from builder.release import card
from builder.release.card import Place, folder
from builder.release.croissant import FILE as CROISSANT
from builder.release.croissant import croissant
from builder.release.flat import CONFIG
from builder.release.manifest import write_manifest
from grader.hub.eval_results import FRAMEWORK, task_id

CARD: Final = "README.md"
EVAL: Final = "eval.yaml"
MADE: Final = (CARD, EVAL, CROISSANT)
"""The papers that follow from the manifest."""


def write_papers(manifest: Mapping[str, Any], repository: Path, **origin: Any) -> None:
    """Write manifest and papers of a repository; ``origin`` is what :func:`card.text` takes of a
    release that was not built here."""
    write_manifest(manifest, repository)
    place = folder(manifest["visibility"])
    for name, text in papers(manifest, repository, place, **origin).items():
        (repository / name).write_text(text, encoding="utf-8")


def papers(
    manifest: Mapping[str, Any], repository: Path, place: Place, **origin: Any
) -> dict[str, str]:
    """The papers of a repository that will be read from ``place``, by file name."""
    found = {CARD: card.text(manifest, place, **origin)}
    if manifest["visibility"] == "public":
        title, licence = card.title(manifest, **origin), card.licence_page(**origin)
        found[EVAL] = eval_yaml(manifest, title)
        found[CROISSANT] = croissant(manifest, repository, title, licence, place)
    return found


def eval_yaml(manifest: Mapping[str, Any], title: str) -> str:
    """The registration as a benchmark: an entry for each exam, and for each track of one.

    Their figures are skills as the grader reports them, so the framework is this project.
    """
    tasks = []
    for split, entry in manifest["splits"].items():
        for exam, tracks in entry["exams"].items():
            names = [None, *sorted(tracks)] if len(tracks) > 1 else [None]
            for track in names:
                place = {"config": track or CONFIG, "split": split}
                tasks.append({"id": task_id(split, exam, track), **place})
    told = {
        "name": title,
        "description": card.in_one_sentence(),
        "evaluation_framework": FRAMEWORK,
        "tasks": tasks,
    }
    return yaml.safe_dump(told, sort_keys=False, allow_unicode=True)

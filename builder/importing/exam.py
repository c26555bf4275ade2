"""``build_dataset.py import-causalds``: the reference's exam as a release with public truth."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa

from builder.importing.files import FETCH, read_object
from builder.importing.item import Item
from builder.importing.release import TRACK, Rows, write_release
from builder.importing.scene import scene_row
from builder.importing.truth import Answer, published
from builder.release.rows import TrueValue, truth_row
from builder.release.schemas import TASKS, TRUTH, labels_schema, scenes_schema
from builder.track import Row
from grader.errors import UsageError
from grader.io.paths import inside
from grader.io.schemas import first_problem

PUBLISHED: Final = "published"
"""``value_source`` of every number: it cannot be recomputed from what is published."""


@dataclass(slots=True)
class ImportedExam:
    """An exam as it was read: name, split and seed here, and its rows, tasks in exam order.

    ``labels`` are keyed by scene, ``views`` are the scenes and views that tasks are about.
    """

    name: str
    split: str
    seed: str
    tasks: list[Row] = field(default_factory=list)
    truths: list[Row] = field(default_factory=list)
    labels: dict[str, Row] = field(default_factory=dict)
    views: set[tuple[str, str]] = field(default_factory=set)


def import_causalds(folder: Path, out: Path) -> ImportedExam:
    """Turn a checkout of the reference's exam into a release.

    ``folder`` holds ``exam.json``, ``scenes/`` and ``scenes_private/``. Raises ``UsageError``
    naming file, field and fix where something is absent or damaged, or where ``out`` exists.
    """
    if out.exists():
        raise UsageError(f"--out {out}: exists already; name another folder, or remove it first")
    exam = _read(folder)
    scenes = (
        scene_row(inside(folder / "scenes", scene), view) for scene, view in sorted(exam.views)
    )
    configs = {
        TRACK: Rows(TASKS, _sorted(exam.tasks, "task_id")),
        f"{TRACK}_truth": Rows(TRUTH, _sorted(exam.truths, "task_id")),
        # Labels and tables in the double precision that was published.
        f"{TRACK}_labels": Rows(
            labels_schema(pa.float64()), _sorted(exam.labels.values(), "instance_id")
        ),
        f"{TRACK}_scenes": Rows(scenes_schema(pa.float64()), scenes, group=1),
    }
    write_release(out, exam.split, exam.seed, exam.name, exam.tasks, configs)
    return exam


def _sorted(rows: Iterable[Row], key: str) -> list[Row]:
    return sorted(rows, key=lambda row: str(row[key]))


def _read(folder: Path) -> ImportedExam:
    if not (folder / "exam.json").is_file():
        raise UsageError(
            f"{folder}: no exam.json there; name a folder like data/benchmark/main, with "
            "exam.json, scenes/ and scenes_private/"
        )
    document, private = read_object(folder / "exam.json"), folder / "scenes_private"
    if not private.is_dir():
        raise UsageError(f"{private}: not found; the truths are in there: {FETCH}")
    items = document.objects("items")
    name, split = document.text("exam_id"), folder.resolve().name
    exam = ImportedExam(_public(name), _public(split), str(document.get("seed") or name))
    names: set[str] = set()
    for entry in items:
        item = Item.read(entry, private)
        if item.name in names:
            what = f"{item.name} names another item's answer too"
            raise entry.problem(("answer_filename",), what)
        names.add(item.name)
        exam.tasks.append(item.row)
        exam.truths.append(_truth_row(item, published(item)))
        exam.views.add((item.scene_id, item.view))
        if item.spec.family == "prediction":
            exam.labels[item.scene_id] = {
                "instance_id": item.scene_id,
                "outcome": item.scene.outcome,
                "kind": item.scene.outcome_kind,
                "values": item.scene.labels,
            }
    return exam


def _public(text: str) -> str:
    """Return a name as a manifest may hold it: lower case letters, digits and underscores."""
    return re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_") or "imported"


def _truth_row(item: Item, answer: Answer) -> Row:
    problem = first_problem("truth/causalds", answer.target)
    if problem:
        raise item.document.problem((), f"its truth cannot be used ({problem})")
    number = None if answer.value is None else TrueValue(answer.value, None, None, PUBLISHED)
    return truth_row(
        item.name,
        item.scene_id,
        item.scene.structure,
        answer.target,
        number,
        should_abstain=answer.should_abstain,
    )

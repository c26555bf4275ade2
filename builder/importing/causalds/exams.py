"""``build_dataset.py import-causalds``: the reference's exams as one release with public truth."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from builder.importing.causalds.asked import Answer
from builder.importing.causalds.layout import ExamFolder, find_exams, items_of, public_name
from builder.importing.causalds.scene import PublishedScene
from builder.importing.causalds.tables import LABELS, SCENES, scene_row
from builder.importing.causalds.tasks import (
    TRACK,
    Item,
    UnknownVariant,
    read_item,
    task_row,
)
from builder.importing.causalds.truth import published
from builder.importing.release import (
    ImportedSplit,
    RowSource,
    Source,
    check_free,
    grouped,
    write_release,
)
from builder.release.rows import TrueValue, truth_row
from builder.release.schemas import TRUTH
from builder.track import DrawnExam, Row
from grader.errors import UsageError
from grader.io.schemas import first_problem

PUBLISHED: Final = "published"
"""``value_source`` of every number: it cannot be recomputed from what is published."""

SOURCE: Final = Source(
    release="causalds-reference",
    version="1",
    title="CausalDS reference exams (imported)",
    about="The public exams of the CausalDS paper's reference release.",
    licence="cc0-1.0",
    licence_text="The imported data are published under CC0 1.0; the code that imported them is "
    "Apache-2.0.",
)


@dataclass(slots=True)
class ReadExam:
    """What was read of one exam folder, row by row.

    ``order`` are the tasks of the exam, ``views`` says of each scene and view whether a task of the
    exam needs its data; ``left_out`` counts what could not be imported, by reason.
    """

    folder: ExamFolder
    exam: str
    order: tuple[str, ...]
    tasks: list[Row] = field(default_factory=list)
    truths: list[Row] = field(default_factory=list)
    labels: dict[str, Row] = field(default_factory=dict)
    views: dict[tuple[str, str], bool] = field(default_factory=dict)
    bundles: dict[str, tuple[str, str]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def split(self) -> str:
        """The name of its split here."""
        return self.folder.split

    @property
    def scenes(self) -> int:
        """How many scenes its tasks are about."""
        return len({row["instance_id"] for row in self.tasks})

    def lines(self) -> Iterator[str]:
        """The summary for a person, a line at a time."""
        numbers = sum(row["value"] is not None for row in self.truths)
        yield (
            f"{self.folder.folder}: split {self.split}, exam {self.exam}: {self.scenes} scenes, "
            f"{len(self.tasks)} tasks, {len(self.order)} of them in the exam"
        )
        yield (
            f"  {numbers} numeric truths as published: they cannot be recomputed from what is there"
        )
        for reason, count in sorted(self.left_out.items()):
            yield f"  not importable: {reason}: {count} tasks"
        if not self.left_out:
            yield "  not importable: nothing"


def import_causalds(folder: Path, out: Path) -> list[ReadExam]:
    """Turn a checkout of the reference (an exam folder, or a folder of them) into a release.

    Raises ``UsageError`` naming file, field and fix where something that the exam needs is absent;
    tasks that only a scene lists, in no exam, are left out and counted instead.
    """
    check_free(out)
    read = [_read_exam(exam) for exam in find_exams(folder)]
    write_release(out, SOURCE, [_split(found) for found in read])
    return read


def _read_exam(folder: ExamFolder) -> ReadExam:
    name = public_name(str(folder.exam.get("exam_id") or folder.split))
    asked = _exam_items(folder)
    found = ReadExam(folder, name, tuple(item.name for item in asked))
    scenes: dict[str, PublishedScene] = {}
    for item in asked:
        if item.scene_id not in scenes:
            label = item.document.get("scene_structure_label")
            scenes[item.scene_id] = PublishedScene.read(folder, item.scene_id, label)
        _take(found, item, scenes[item.scene_id], in_exam=True)
    taken = {item.place for item in asked}
    names = {item.name for item in asked}
    for item in _listed_items(folder, found.left_out):
        if item.place in taken:
            continue
        taken.add(item.place)
        try:
            if item.name in names:
                raise item.document.problem(("task_id",), "has the answer file of another task")
            if item.scene_id not in scenes:
                scenes[item.scene_id] = PublishedScene.read(folder, item.scene_id, None)
            _take(found, item, scenes[item.scene_id], in_exam=False)
            names.add(item.name)
        except UsageError as error:
            found.left_out[_reason(error)] += 1
    found.bundles = _bundles(asked, scenes)
    return found


def _exam_items(folder: ExamFolder) -> list[Item]:
    """The items of the exam in its order; each must be a task of the 33 variants."""
    items: list[Item] = []
    for document in items_of(folder.exam, "items"):
        try:
            items.append(read_item(document))
        except UnknownVariant as error:
            raise document.problem(("output_variant",), f"unknown variant {error}") from None
    if not items:
        raise folder.exam.problem(("items",), "is empty")
    names: set[str] = set()
    for item in items:
        if item.name in names:
            what = f"{item.name} names another item's answer too"
            raise item.document.problem(("answer_filename",), what)
        names.add(item.name)
    return items


def _listed_items(folder: ExamFolder, left_out: Counter[str]) -> Iterator[Item]:
    """What scenes list beyond the exam; what cannot be read is counted."""
    for scene_id, document in folder.listed():
        views = folder.scene_folder(scene_id) / "variants"
        several = views.is_dir() and len(list(views.iterdir())) > 1
        try:
            yield read_item(document, several_views=several)
        except UnknownVariant as error:
            left_out[f"unknown variant {error}"] += 1
        except UsageError as error:
            left_out[_reason(error)] += 1


def _reason(error: UsageError) -> str:
    """The complaint without its file and place, so that equal ones are counted together."""
    return re.sub(r"\[\d+\]", "", str(error).partition(": ")[2] or str(error))


def _take(found: ReadExam, item: Item, scene: PublishedScene, *, in_exam: bool) -> None:
    """Add the rows of one task; raises ``UsageError`` before anything is added."""
    row = task_row(item, scene)
    asked = item.asked(scene)
    answer = published(asked)
    found.tasks.append(row)
    found.truths.append(_truth_row(item, scene, answer))
    if item.spec.family == "prediction":
        found.labels[item.scene_id] = {
            "instance_id": item.scene_id,
            "outcome": scene.outcome,
            "kind": scene.outcome_kind,
            "values": scene.labels,
        }
    place = item.scene_id, item.view
    needed = in_exam and row["input_mode"] == "data"
    found.views[place] = found.views.get(place, False) or needed


def _truth_row(item: Item, scene: PublishedScene, answer: Answer) -> Row:
    problem = first_problem("truth/causalds", answer.target)
    if problem:
        raise item.document.problem((), f"its truth cannot be used ({problem})")
    number = None if answer.value is None else TrueValue(answer.value, None, None, PUBLISHED)
    return truth_row(
        item.name,
        item.scene_id,
        scene.structure,
        answer.target,
        number,
        should_abstain=answer.should_abstain,
    )


def _bundles(
    asked: Sequence[Item], scenes: Mapping[str, PublishedScene]
) -> dict[str, tuple[str, str]]:
    """Which items of an ablation ask one formal problem, and what differs between them.

    The verbalisation swap names its bundles (``bundle_id``, or in the file name ``bundle001__``),
    and what differs is the source of the telling; the observation layer names its pairs in the
    truths, and what differs is the view. Without either, one scene's task under several views.
    """
    found: dict[str, tuple[str, str]] = {}
    views: dict[tuple[str, str], set[str]] = {}
    for item in asked:
        views.setdefault((item.scene_id, item.task_id), set()).add(item.view)
    for item in asked:
        scene = scenes[item.scene_id]
        head, separator, tail = item.name.partition("__")
        named = item.document.get("bundle_id") or scene.ablation("bundle_id")
        if not named and separator and head.startswith("bundle"):
            named = head
        pair = item.document.get("pair_id") or scene.ablation("pair_id")
        if isinstance(named, str):
            source = item.document.get("source_scene_id") or scene.ablation("source_scene_id")
            found[item.name] = (named, str(source or tail or item.scene_id))
        elif isinstance(pair, str):
            found[item.name] = (pair, item.view)
        elif len(views[item.scene_id, item.task_id]) > 1:
            found[item.name] = (f"{item.scene_id}__{item.task_id}", item.view)
    return found


def _split(found: ReadExam) -> ImportedSplit:
    folder, seed = found.folder, found.folder.exam.get("seed")
    structures = Counter(str(row["structure"]) for row in found.truths)
    return ImportedSplit(
        name=found.split,
        track=TRACK,
        seed=str(seed) if seed is not None else found.exam,
        configs={
            f"{TRACK}_truth": RowSource(TRUTH, grouped(found.truths, ["task_id"])),
            f"{TRACK}_labels": RowSource(LABELS, grouped(found.labels.values(), ["instance_id"])),
            f"{TRACK}_scenes": RowSource(SCENES, lambda: _scenes(folder, found.views)),
        },
        exams={found.exam: DrawnExam(found.order, found.bundles)},
        tasks=found.tasks,
        structures=structures,
        left_out=found.left_out,
    )


def _scenes(folder: ExamFolder, views: Mapping[tuple[str, str], bool]) -> Iterable[Sequence[Row]]:
    """The tables, one scene and view at a time."""
    for (scene_id, view), with_data in sorted(views.items()):
        yield [scene_row(folder, scene_id, view, with_data=with_data)]

"""The import of the reference's exam as a release with public truth, in the form of a built one.

Values are stored as published, not rounded: what was published is the truth, to the last digit.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from builder.importing.reference import FETCH, TEXT, TRACK, Item, read_object, scene_row
from builder.importing.truth import published_answer
from builder.release.arrow import table_from_rows
from builder.release.exams import EXAM_SCHEMA, exam_table
from builder.release.manifest import FORMAT, canary, head, listing
from builder.release.papers import write_papers
from builder.release.rows import (
    FLAT,
    TASKS,
    TRUTH,
    TrueValue,
    labels_schema,
    scenes_schema,
    truth_row,
)
from builder.release.shards import (
    CONFIG,
    GROUP_ROWS,
    ConfigJob,
    Shard,
    schema_with_canary,
    write_flat,
    write_groups,
)
from builder.splits.track import DrawnExam, Row
from grader.errors import UsageError
from grader.io.files import new_folder
from grader.io.jsonio import canonical_json
from grader.io.paths import path_inside
from grader.io.schemas import first_problem
from grader.tracks.causalds import TRACK as GRADER
from grader.version import __version__

RELEASE: Final = ("causalds-reference", "1")
TITLE: Final = "CausalDS reference exam (imported)"
"""Name and version of what is written, and the title of its card."""


@dataclass(slots=True)
class ImportedExam:
    """An exam's rows in order, name, split, seed; ``labels`` by scene; (scene, view) pairs."""

    name: str
    split: str
    seed: str
    tasks: list[Row] = field(default_factory=list)
    truths: list[Row] = field(default_factory=list)
    labels: dict[str, Row] = field(default_factory=dict)
    views: set[tuple[str, str]] = field(default_factory=set)


def import_causalds(folder: Path, out: Path) -> ImportedExam:
    """Write the exam in a folder (``exam.json``, ``scenes/``, ``scenes_private/``) as a release.

    Return what was read. Raises ``UsageError`` naming file, field and fix for absent or damaged
    files, or where ``out`` exists."""
    if out.exists():
        raise UsageError(f"--out {out}: exists already; name another folder, or remove it first")
    exam = _read_exam(folder)
    scenes = (
        scene_row(path_inside(folder / "scenes", scene), view) for scene, view in sorted(exam.views)
    )
    listed = exam_table({exam.name: DrawnExam(tuple(str(row["task_id"]) for row in exam.tasks))})
    # Labels and tables in the double precision that was published.
    labels = [exam.labels[scene] for scene in sorted(exam.labels)]
    configs: dict[str, tuple[pa.Schema, Iterable[Row]]] = {
        TRACK: (TASKS, sorted(exam.tasks, key=itemgetter("task_id"))),
        f"{TRACK}_exams": (EXAM_SCHEMA, listed.to_pylist()),
        f"{TRACK}_labels": (labels_schema(pa.float64()), labels),
        f"{TRACK}_scenes": (scenes_schema(pa.float64()), scenes),
        f"{TRACK}_truth": (TRUTH, sorted(exam.truths, key=itemgetter("task_id"))),
    }
    with new_folder(out) as new:
        public, mark, shards = new / "public", canary(*RELEASE), list[Shard]()
        for name, (schema, rows) in configs.items():
            group = 1 if name == f"{TRACK}_scenes" else GROUP_ROWS
            waiting, groups = iter(rows), list[pa.Table]()
            while part := [*islice(waiting, group)]:
                groups.append(table_from_rows(part, schema, as_published=True))
            job = ConfigJob(name, exam.split, public, schema_with_canary(schema, mark))
            shards += write_groups(job, [table.nbytes for table in groups], groups)
        shards += write_flat(
            ConfigJob(CONFIG, exam.split, public, schema_with_canary(FLAT, mark)), {TRACK: GRADER}
        )
        write_papers(_manifest(exam, shards), public)
    return exam


def _manifest(exam: ImportedExam, shards: Sequence[Shard]) -> dict[str, Any]:
    """Return the manifest of the public side, the only one."""
    configuration = {"imported": TITLE, "splits": {exam.split: {"track": TRACK}}}
    identity = {
        "builder": __version__,
        "configuration": configuration,
        "content": {shard.name: shard.content_sha256 for shard in shards},
        "format": FORMAT,
        "release": RELEASE,
    }
    instances = len({row["instance_id"] for row in exam.tasks})
    variants = Counter(sorted(f"{row['family']}.{row['variant']}" for row in exam.tasks))
    realised = {"instances": instances, "tasks": len(exam.tasks), "variants": dict(variants)}
    track = {"requested": {"instances": instances}, "realised": realised, "rejections": {}}
    split = {
        "truth": "public",
        "seed": exam.seed,
        "tracks": {TRACK: track},
        "exams": {exam.name: {TRACK: len(exam.tasks)}},
    }
    return {
        **head(*RELEASE, "public"),
        "fingerprint": hashlib.sha256(canonical_json(identity).encode("utf-8")).hexdigest(),
        "configuration": configuration,
        "splits": {exam.split: split},
        **listing(shards),
    }


def _read_exam(folder: Path) -> ImportedExam:
    """Return the exam in ``folder`` with rows, but for its scenes; ``UsageError`` if damaged."""
    if not (folder / "exam.json").is_file():
        raise UsageError(
            f"{folder}: no exam.json there; name a folder like data/benchmark/main, with "
            "exam.json, scenes/ and scenes_private/"
        )
    document, private = read_object(folder / "exam.json"), folder / "scenes_private"
    if not private.is_dir():
        raise UsageError(f"{private}: not found; the truths are in there: {FETCH}")
    name, split = document.read(TEXT, "exam_id"), folder.resolve().name
    seed = str(document.get("seed") or name)
    exam = ImportedExam(_manifest_name(name), _manifest_name(split), seed)
    for entry in document.children("items"):
        item = Item.read(entry, private)
        if any(row["task_id"] == item.name for row in exam.tasks):
            what = f"{item.name} names another item's answer too"
            raise entry.problem(("answer_filename",), what)
        exam.tasks.append(item.row)
        answer = published_answer(item)
        if problem := first_problem("truth/causalds", answer.target):
            raise entry.problem((), f"its truth cannot be used ({problem})")
        number = None if answer.value is None else TrueValue(answer.value, None, None, "published")
        known = item.name, item.scene_id, item.scene.structure, answer.target, number
        exam.truths.append(truth_row(*known, should_abstain=answer.should_abstain))
        exam.views.add((item.scene_id, item.view))
        if item.spec.family == "prediction":
            exam.labels[item.scene_id] = {
                "instance_id": item.scene_id,
                "outcome": item.scene.outcome,
                "kind": item.scene.outcome_kind,
                "values": item.scene.labels,
            }
    return exam


def _manifest_name(text: str) -> str:
    """Return text as a manifest's name: lower-case letters, digits and underscores."""
    return re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_") or "imported"

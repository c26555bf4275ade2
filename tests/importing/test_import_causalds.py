"""A miniature of the public causalds reference: imported and graded."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from reference_exam import ASKED, HIDDEN, VIEWS, write_reference
from reference_grading import graded, task_of, text_of
from reference_layout import BINARY_LABELS, LABELS, NAMES, named

from builder.commands.main import main as build
from builder.importing.exam import import_causalds
from builder.tracks.causalds.design.eligibility import ELIGIBILITY
from grader import pipeline
from grader.commands.main import main as grade
from grader.io.schemas import first_problem
from grader.opening import open_release
from grader.release.exam import Exam, choose_exam
from grader.tracks import VARIANTS
from grader.verify import verify


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The miniature, imported."""
    folder = tmp_path_factory.mktemp("reference")
    write_reference(folder / "main")
    import_causalds(folder / "main", folder / "release")
    return folder / "release"


@pytest.fixture(scope="module")
def exam(imported: Path) -> Exam:
    return choose_exam(open_release(imported))


def cases() -> Iterator[tuple[str, Any, str | None, float | None]]:
    for number, (_, _, _, answers) in enumerate(ASKED, start=1):
        for answer, pool, loss in answers:
            yield f"task{number}", answer, pool, loss


def test_the_miniature_asks_every_variant_of_the_paper_and_all_are_imported(exam: Exam) -> None:
    asked = {task.spec.key for task in exam.split.tasks}
    assert len(asked) == 33, "the paper's; variants that came later are not in its release"
    assert asked <= {spec.key for spec in VARIANTS if spec.track == "causalds"}
    assert exam.name == "exam_12345"
    assert [task.task_id for task in exam.tasks] == [
        f"task{number}" for number in range(1, len(ASKED) + 1)
    ]


@pytest.mark.parametrize(("name", "answer", "pool", "loss"), list(cases()))
def test_the_paper_reading_of_every_answer_is_the_one_worked_by_hand(
    exam: Exam, name: str, answer: Any, pool: str | None, loss: float | None
) -> None:
    row = graded(exam, name, answer)
    assert row.paper_pool == pool
    if loss is None:
        assert row.paper_loss is None
    else:
        assert row.paper_loss == pytest.approx(loss, abs=1e-9)


def test_gold_answers_of_the_imported_release_are_all_right(imported: Path, tmp_path: Path) -> None:
    """From files to the report, of tasks outside the exam as well."""
    everything = choose_exam(open_release(imported), exam="all")
    for task in everything.tasks:
        gold = task.shape.gold(task, everything.truths[task.task_id])
        (tmp_path / task.answer_file).write_bytes(text_of(gold))
    whole = pipeline.grade(everything, tmp_path)
    assert [score.task_id for score in whole.scores if score.points != 1] == []
    assert whole.report["tracks"]["causalds"]["readings"]["paper"]["causalds_score"] == 0
    assert first_problem("report", whole.report) is None


def test_the_imported_release_verifies_and_its_workspace_holds_the_published_files(
    imported: Path, tmp_path: Path
) -> None:
    problems = [check for check in verify(open_release(imported)) if not check.ok]
    assert problems == []
    assert grade(["workspace", "--release", str(imported), "--out", str(tmp_path / "w")]) == 0
    task = tmp_path / "w" / "task1"
    assert (task / "prompt.md").read_text().startswith("## Task: prediction")
    assert (task / "story.md").read_text() == "Once upon a time.\n"
    assert pq.read_table(task / "data.parquet").column(NAMES["Y"]).to_pylist() == LABELS
    assert NAMES["Y"] not in pq.read_table(task / "test_features.parquet").column_names


LOAD = """
import sys
from datasets import load_dataset
folder, tasks = sys.argv[1] + "/public", int(sys.argv[2])
assert load_dataset(folder, split="main").num_rows == tasks, "the default config"
assert load_dataset(folder, "causalds_truth", split="main").num_rows == tasks
assert load_dataset(folder, "causalds_exams", split="main").num_rows == tasks
scenes = load_dataset(folder, "causalds_scenes", split="main")
assert len(scenes[0]["data"][0]["values"]) == 4
assert list(load_dataset(folder, "causalds_labels", split="main", streaming=True))
print("loaded")
"""


@pytest.mark.slow
def test_datasets_loads_every_config_of_the_imported_release(imported, tmp_path):
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "TQDM_DISABLE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(imported), str(len(ASKED))],
        env=os.environ | offline, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.stdout == "loaded\n", done.stderr


def test_tables_labels_and_structures_are_those_of_the_scenes(imported: Path, exam: Exam) -> None:
    public = imported / "public"
    scenes = pq.read_table(public / "causalds_scenes").to_pylist()
    assert {(row["instance_id"], row["view"]) for row in scenes} >= set(VIEWS.items())
    hidden = next(row for row in scenes if row["instance_id"] == HIDDEN)
    assert [column["name"] for column in hidden["calibration"]] == [
        NAMES["Z"], f"{NAMES['X']}1", NAMES["X"],
    ]  # fmt: skip
    labels = pq.read_table(public / "causalds_labels").to_pylist()
    assert {row["kind"]: row["values"] for row in labels} == {
        "continuous": LABELS,
        "binary": BINARY_LABELS,
    }
    truths = exam.truths
    assert {truth.structure for truth in truths.values()} == {
        "mediation", "iv", "grafted_1", "arrowhead", "frontdoor",
    }  # fmt: skip
    assert task_of(exam, "task1").inputs == {
        "outcome": "Recovery", "outcome_kind": "continuous", "columns": named("X", "Z"), "rows": 4,
    }  # fmt: skip
    for task in exam.split.tasks:
        assert set(task.inputs) == ELIGIBILITY[task.spec.key].inputs, task.spec.key
    assert task_of(exam, "task13").input_mode == "story"
    rows = pq.read_table(public / "causalds_truth").to_pylist()
    assert {row["value_source"] for row in rows if row["value"] is not None} == {"published"}


def test_the_summary_counts_tasks_and_nothing_is_overwritten(tmp_path, capsys):
    command = ["import-causalds", str(write_reference(tmp_path / "main")), "--out"]
    assert build([*command, str(tmp_path / "release")]) == 0
    assert f"split main, exam exam_12345: {len(ASKED)} tasks" in capsys.readouterr().out
    assert build([*command, str(tmp_path / "release")]) == 2
    assert "exists already" in capsys.readouterr().err


def test_importing_twice_gives_the_same_bytes(imported: Path, tmp_path: Path) -> None:
    main = write_reference(tmp_path / "elsewhere" / "main")
    import_causalds(main, tmp_path / "again")
    first, second = (
        {f.relative_to(top): f.read_bytes() for f in top.rglob("*") if f.is_file()}
        for top in (imported, tmp_path / "again")
    )
    assert first == second

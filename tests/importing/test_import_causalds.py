"""A miniature of the public causalds reference: imported and graded, and damaged copies refused;
names as answers to it may spell them, read by the published rules."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import reference_exam as paper
from reference_exam import HIDDEN, MEDIATED, NAMES, graded, ground_truth, item, write_reference

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
    folder = tmp_path_factory.mktemp("reference")
    write_reference(folder / "main")
    import_causalds(folder / "main", folder / "release")
    return folder / "release"


@pytest.fixture(scope="module")
def exam(imported: Path) -> Exam:
    return choose_exam(open_release(imported))


def cases() -> Iterator[tuple[str, Any, str | None, float | None]]:
    for number, (_, _, _, answers) in enumerate(paper.ASKED, start=1):
        for answer, pool, loss in answers:
            yield f"task{number}", answer, pool, loss


def test_the_miniature_asks_every_variant_of_the_paper_and_all_are_imported(exam: Exam) -> None:
    asked = {task.spec.key for task in exam.split.tasks}
    assert len(asked) == 33, "the paper's; variants that came later are not in its release"
    assert asked <= {spec.key for spec in VARIANTS if spec.track == "causalds"}
    assert exam.name == "exam_12345"
    names = [f"task{number}" for number in range(1, len(paper.ASKED) + 1)]
    assert [task.task_id for task in exam.tasks] == names


@pytest.mark.parametrize(("name", "answer", "pool", "loss"), list(cases()))
def test_the_paper_reading_of_every_answer_is_the_one_worked_by_hand(
    exam: Exam, name: str, answer: Any, pool: str | None, loss: float | None
) -> None:
    row = graded(exam, name, answer)
    assert row.paper_pool == pool
    assert row.paper_loss == (None if loss is None else pytest.approx(loss, abs=1e-9))


def test_gold_answers_of_the_imported_release_are_all_right(imported: Path, tmp_path: Path) -> None:
    """From files to the report, of tasks outside the exam as well."""
    everything = choose_exam(open_release(imported), exam="all")
    for task in everything.tasks:
        gold = task.shape.gold(task, everything.truths[task.task_id])
        (tmp_path / task.answer_file).write_bytes(paper.text_of(gold))
    whole = pipeline.grade(everything, tmp_path)
    assert [score.task_id for score in whole.scores if score.points != 1] == []
    assert whole.report["tracks"]["causalds"]["readings"]["paper"]["causalds_score"] == 0
    assert first_problem("report", whole.report) is None


def test_the_imported_release_verifies_and_its_workspace_holds_the_published_files(
    imported: Path, tmp_path: Path
) -> None:
    assert [check for check in verify(open_release(imported)) if not check.ok] == []
    assert grade(["workspace", "--release", str(imported), "--out", str(tmp_path / "w")]) == 0
    task = tmp_path / "w" / "task1"
    assert (task / "prompt.md").read_text().startswith("## Task: prediction")
    assert (task / "story.md").read_text() == "Once upon a time.\n"
    assert pq.read_table(task / "data.parquet").column(NAMES["Y"]).to_pylist() == paper.LABELS
    assert NAMES["Y"] not in pq.read_table(task / "test_features.parquet").column_names


def test_tables_labels_and_structures_are_those_of_the_scenes(imported: Path, exam: Exam) -> None:
    public = imported / "public"
    scenes = pq.read_table(public / "causalds_scenes").to_pylist()
    assert {(row["instance_id"], row["view"]) for row in scenes} >= set(paper.VIEWS.items())
    hidden = next(row for row in scenes if row["instance_id"] == HIDDEN)
    calibration = [column["name"] for column in hidden["calibration"]]
    assert calibration == [NAMES["Z"], f"{NAMES['X']}1", NAMES["X"]]
    labels = pq.read_table(public / "causalds_labels").to_pylist()
    kinds = {row["kind"]: row["values"] for row in labels}
    assert kinds == {"continuous": paper.LABELS, "binary": paper.BINARY_LABELS}
    structures = {truth.structure for truth in exam.truths.values()}
    assert structures == {"mediation", "iv", "grafted_1", "arrowhead", "frontdoor"}
    assert paper.task_of(exam, "task1").inputs == {
        "outcome": "Recovery", "outcome_kind": "continuous", "rows": 4,
        "columns": paper.named("X", "Z"),
    }  # fmt: skip
    for task in exam.split.tasks:
        assert set(task.inputs) == ELIGIBILITY[task.spec.key].inputs, task.spec.key
    assert paper.task_of(exam, "task13").input_mode == "story"
    accepted = [truth.target.get("accepted", "x") for truth in exam.truths.values()]
    assert sorted(one for one in accepted if len(one) > 1) == [["0", "+"], ["no_backdoor", 0]]
    rows = pq.read_table(public / "causalds_truth").to_pylist()
    assert {row["value_source"] for row in rows if row["value"] is not None} == {"published"}


def test_the_summary_counts_tasks_and_nothing_is_overwritten(tmp_path, capsys):
    command = ["import-causalds", str(write_reference(tmp_path / "main")), "--out"]
    assert build([*command, str(tmp_path / "release")]) == 0
    assert f"split main, exam exam_12345: {len(paper.ASKED)} tasks" in capsys.readouterr().out
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


PRIVATE = f"scenes_private/{MEDIATED}"
TRUTH = f"{PRIVATE}/ground_truth.json"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"


def first(**members: Any) -> Any:
    """A change of members of the first item."""
    return lambda document: document["items"][0].update(members)


DAMAGES: list[tuple[str, Any, str]] = [
    ("exam.json", None, "no exam.json there"),
    ("exam.json", "{}", "exam.json: exam_id: is absent; fetch the whole release again"),
    ("exam.json", '{"exam_id": "x", "items": 1}', "items: 1: Input should be a valid list"),
    ("exam.json", "{", "exam.json: no JSON"),
    ("scenes_private", None, "scenes_private: not found"),
    (TRUTH, None, "ground_truth.json: not found; fetch the whole release again"),
    (TRUTH, lambda d: d["causal"].pop("true_ate"),
     "ground_truth.json: causal.true_ate.value: is absent"),
    (TRUTH, lambda d: d["association"].update(value="0.3"),
     'association.value: "0.3": Input should be a valid number'),
    (TRUTH.replace(MEDIATED, HIDDEN), lambda d: d["graph"].update(edges_named=[["Dose"]]),
     "graph.edges_named.0: "),
    (f"{PRIVATE}/test.parquet", POINTER,
     "a Git LFS pointer, not the table itself; run `git lfs pull`"),
    (f"scenes/{MEDIATED}/variants/clean/data.parquet", None, "data.parquet: not found"),
    (f"scenes/{MEDIATED}/variants/clean/data.parquet", "x", "data.parquet: no Parquet table"),
    ("exam.json", first(output_variant="point_predicter"),
     "unknown variant prediction.point_predicter; did you mean 'prediction.point_predictor'?"),
    ("exam.json", first(answer_filename="../task1.csv"),
     'items[0].answer_filename: "../task1.csv" is not a plain name'),
    ("exam.json", first(scene_id="../../etc"), 'scene_id: "../../etc" is not a plain name'),
    ("exam.json", first(answer_filename="task1.json"), "does not end in .csv"),
    ("exam.json", first(answer_filename="task2.csv"), "names another item's answer too"),
    ("exam.json", first(inputs={"required_csv_columns": ["yhat"]}), "inputs.required_csv_columns"),
]  # fmt: skip
"""(file, None where it is removed, its new text or a change of its JSON; what is said)."""


@pytest.mark.parametrize(("file", "change", "message"), DAMAGES)
def test_what_is_needed_and_absent_is_one_line_with_file_field_and_fix(
    file, change, message, tmp_path, capsys
):
    main = write_reference(tmp_path / "main")
    path = main / file
    if change is None:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    elif isinstance(change, str):
        path.write_text(change)
    else:
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))
    assert build(["import-causalds", str(main), "--out", str(tmp_path / "release")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error
    assert {file.name for file in tmp_path.iterdir()} == {"main"}, "nothing half-written stays"


def test_what_needs_the_hidden_worlds_is_refused_for_an_imported_release(imported, capsys):
    exam = ["exam", "--from", str(imported), "--exam", "splits/exams/mini.toml"]
    for command in (["check", str(imported)], exam, ["inspect", str(imported), "main/0"]):
        assert build(command) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "release" in error


ONE = f"identification__{paper.ONE_SET}"
OTHER_NAMES = {
    "Dose": "Patient's Well-being",
    "Age (years)": "Age (years)",
    "Blood Level": "Blood Level",
    "Recovery": "Relapses",
}
"""The miniature's names, and those of this exam: with every mark that the rules speak of."""

DOSE, AGE, BLOOD, RECOVERY = OTHER_NAMES.values()

READ = [
    (BLOOD, "BLOOD level"),
    (BLOOD, " \tBlood \n Level "),
    (BLOOD, "Blood\u00a0Level"),
    (BLOOD, '"Blood Level"'),
    (BLOOD, "' Blood Level '"),
    (BLOOD, "Blood Level (continuous)"),
    (BLOOD, "Blood Level[0/1]"),
    (BLOOD, "Blood Level {a} (b c) [d] "),
    (BLOOD, "Blood Level (a]"),
    (BLOOD, " :Blood Level,;."),
    (BLOOD, "Blood Level score"),
    (BLOOD, "Blood Level Standardised UNITS"),
    (BLOOD, "Blood Level - rating (of 10)"),
    (BLOOD, "Blood Level (binary)."),
    (BLOOD, "Blood Level 0/1"),
    (BLOOD, "Blood Levels"),
    (AGE, "Age"),
    (AGE, "age (months)"),
    (AGE, "AGE INDEX"),
    (DOSE, "Patient\u2019s Well-being"),
    (DOSE, "patient\u2018s well\u2013being"),
    (DOSE, "Patient's Well\u2014being (index)"),
    (RECOVERY, "Relapse"),
]
"""(name, spelling): every step of the published normalisation, one or two at a time."""

UNREAD = [
    (BLOOD, "\u201cBlood Level\u201d"),  # curly quotes around a name become plain too late
    (BLOOD, "the Blood Level"),
    (BLOOD, "(a) Blood Level"),
    (BLOOD, "Blood Level (a (b) c)"),  # brackets in brackets
    (BLOOD, "Blood Level (mmol)."),  # the stop hides the bracket
    (BLOOD, "Blood Levels score"),  # one step or the other
    (BLOOD, "Blood Level score of the day"),
    (BLOOD, "Blood Level, score"),
    (BLOOD, "Blood-Level"),
    (BLOOD, "BloodLevel"),
    (RECOVERY, "Relapsess"),
]
"""Spellings that the rules do not read as the name."""


def renamed(value: Any) -> Any:
    """A document of the miniature under the names of this exam."""
    text = json.dumps(value)
    for old, new in OTHER_NAMES.items():
        text = text.replace(f'"{old}"', json.dumps(new))
    return json.loads(text)


def import_one(main: Path, truth: Any, *tasks: Any) -> Exam:
    """The exam of one scene with these tasks, imported."""
    paper.write_scene(main, truth)
    paper.write_exam(main, tasks)
    import_causalds(main, main / "release")
    return choose_exam(open_release(main / "release"))


@pytest.fixture(scope="module")
def names_exam(tmp_path_factory: pytest.TempPathFactory) -> Exam:
    """One scene, and every task in which an answer names variables."""
    truth = ground_truth(
        "scene_000001", ["X M", "M Y", "Z X", "Z Y"], sets=[["Z"], ["M", "Z"]], ate=0.5,
        forbidden={"colliders": ["M"], "descendants": []},
        conditionals=[paper.conditional("Z", 0.3, 0.2), paper.conditional("M", 0.3, -0.2, "-")],
    )  # fmt: skip
    both = {"conditioning_var_ids": ["Z", "M"], "conditioning_vars": [NAMES["Z"], NAMES["M"]]}
    asked = {
        "causal_sketch__edges_only": {},
        "causal_sketch__skeleton_edges": {},
        ONE: paper.AVAILABLE,
        "identification__all_minimal_adjustment_sets": paper.AVAILABLE,
        "bias_diagnostic__forbidden_controls_list": {"observed_vars": ["Z", "M"]},
        "association__argmax_change": both,
    }
    tasks = [
        renamed(item("scene_000001", name, number, **inputs))
        for number, (name, inputs) in enumerate(asked.items(), start=1)
    ]
    return import_one(tmp_path_factory.mktemp("names"), renamed(truth), *tasks)


def losses(exam: Exam, spell: Callable[[str], str]) -> dict[str, float]:
    """The paper's loss of the right answer to each task, every name spelt by ``spell``."""
    dose, age, blood, recovery = map(spell, (DOSE, AGE, BLOOD, RECOVERY))
    edges = [(dose, blood), (blood, recovery), (age, dose), (age, recovery)]
    answers: dict[str, Any] = {
        "edges": {"edges": [{"from": a, "to": b} for a, b in edges]},
        "skeleton": {"skeleton_edges": [{"a": b, "b": a} for a, b in edges]},
        "set": {"adjust": [blood, age]},
        "sets": {"adjustment_sets": [[age]]},
        "forbidden": {"forbidden": [blood]},
        "argmax": {"conditioning_var": blood},
    }
    return {
        kind: graded(exam, f"task{number}", answer).paper_loss
        for number, (kind, answer) in enumerate(answers.items(), start=1)
    }


@pytest.mark.parametrize(("name", "spelling"), READ)
def test_a_spelling_that_the_published_rules_read_is_the_name(names_exam, name, spelling):
    found = losses(names_exam, lambda other: spelling if other == name else other)
    # Only the largest change is compared letter by letter there.
    assert found.pop("argmax") == float(name == BLOOD)
    assert set(found.values()) == {0.0}


@pytest.mark.parametrize(("name", "spelling"), UNREAD)
def test_a_spelling_that_they_do_not_read_is_another_name(names_exam, name, spelling):
    found = losses(names_exam, lambda other: spelling if other == name else other)
    # Each of the two has two of the four edges: precision and recall are a half.
    assert found["edges"] == found["skeleton"] == pytest.approx(0.5)
    expected = {"set": 1.0, "sets": 0.0, "forbidden": 1.0, "argmax": 1.0}
    if name != BLOOD:
        expected = dict.fromkeys(expected, 0.0)
    assert {kind: found[kind] for kind in expected} == expected


def test_the_right_names_are_right_and_an_end_without_a_name_leaves_its_edge_out(names_exam):
    assert set(losses(names_exam, str).values()) == {0.0}
    nothing = [{"from": "(continuous)", "to": DOSE}, {"from": " . ", "to": "[]"}]
    edges = [(DOSE, BLOOD), (BLOOD, RECOVERY), (AGE, DOSE), (AGE, RECOVERY)]
    answer = {"edges": [*nothing, *({"from": a, "to": b} for a, b in edges)]}
    assert graded(names_exam, "task1", answer).paper_loss == 0.0


def test_names_are_read_as_those_of_the_true_sets_alone(tmp_path: Path) -> None:
    """ "Age score" is a variable of its own, but not in any true set: it is read as "Age"."""
    truth = ground_truth("scene_000001", ["X Y", "Z X", "Z Y", "M X"], sets=[["Z"]], ate=0.5)
    text = json.dumps(truth).replace(NAMES["M"], "Age score")
    exam = import_one(tmp_path, json.loads(text), item("scene_000001", ONE, 1, **paper.AVAILABLE))
    assert graded(exam, "task1", {"adjust": ["Age score"]}).paper_loss == 0.0
    assert graded(exam, "task1", {"adjust": ["Weight score"]}).paper_loss == 1.0


def test_names_are_spelt_as_the_question_spells_them(tmp_path: Path) -> None:
    truth = ground_truth("scene_000001", ["X Y", "Z X", "Z Y"], sets=[["Z"]], ate=0.5)
    curly = json.dumps(truth).replace("Age (years)", "Patient\u2019s Age\u2013years")
    task = item("scene_000001", ONE, 1, available_vars=["Z"])
    task["prompt"] = 'Choose among "Patient\'s Age-years".'
    exam = import_one(tmp_path, json.loads(curly), task)
    row = graded(exam, "task1", {"adjust": ["Patient's Age-years"]})
    assert (row.paper_loss, row.message) == (0.0, "")

"""Names as answers to an imported release may spell them, read by the published rules."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference_layout import (
    NAMES,
    conditional,
    graded,
    ground_truth,
    item,
    write_exam,
    write_scene,
)

from builder.importing.exam import import_causalds
from grader.opening import open_release
from grader.release.exam import Exam, choose_exam

ONE_SET = "identification__one_valid_adjustment_set"
AVAILABLE = {"available_vars": ["Z", "M"]}
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


def imported(main: Path, truth: Any, *tasks: Any) -> Exam:
    """The exam of one scene with these tasks, imported."""
    write_scene(main, truth)
    write_exam(main, tasks)
    import_causalds(main, main / "release")
    return choose_exam(open_release(main / "release"))


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Exam:
    """One scene, and every task in which an answer names variables."""
    truth = ground_truth(
        "scene_000001", ["X M", "M Y", "Z X", "Z Y"], sets=[["Z"], ["M", "Z"]], ate=0.5,
        forbidden={"colliders": ["M"], "descendants": []},
        conditionals=[conditional("Z", 0.3, 0.2), conditional("M", 0.3, -0.2, "-")],
    )  # fmt: skip
    both = {"conditioning_var_ids": ["Z", "M"], "conditioning_vars": [NAMES["Z"], NAMES["M"]]}
    asked = {
        "causal_sketch__edges_only": {},
        "causal_sketch__skeleton_edges": {},
        ONE_SET: AVAILABLE,
        "identification__all_minimal_adjustment_sets": AVAILABLE,
        "bias_diagnostic__forbidden_controls_list": {"observed_vars": ["Z", "M"]},
        "association__argmax_change": both,
    }
    tasks = [
        renamed(item("scene_000001", name, number, **inputs))
        for number, (name, inputs) in enumerate(asked.items(), start=1)
    ]
    return imported(tmp_path_factory.mktemp("names"), renamed(truth), *tasks)


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
def test_a_spelling_that_the_published_rules_read_is_the_name(exam, name, spelling):
    found = losses(exam, lambda other: spelling if other == name else other)
    # Only the largest change is compared letter by letter there.
    assert found.pop("argmax") == float(name == BLOOD)
    assert set(found.values()) == {0.0}


@pytest.mark.parametrize(("name", "spelling"), UNREAD)
def test_a_spelling_that_they_do_not_read_is_another_name(exam, name, spelling):
    found = losses(exam, lambda other: spelling if other == name else other)
    # Each of the two has two of the four edges: precision and recall are a half.
    assert found["edges"] == found["skeleton"] == pytest.approx(0.5)
    expected = {"set": 1.0, "sets": 0.0, "forbidden": 1.0, "argmax": 1.0}
    if name != BLOOD:
        expected = dict.fromkeys(expected, 0.0)
    assert {kind: found[kind] for kind in expected} == expected


def test_the_right_names_are_right_and_an_end_without_a_name_leaves_its_edge_out(exam):
    assert set(losses(exam, str).values()) == {0.0}
    nothing = [{"from": "(continuous)", "to": DOSE}, {"from": " . ", "to": "[]"}]
    edges = [(DOSE, BLOOD), (BLOOD, RECOVERY), (AGE, DOSE), (AGE, RECOVERY)]
    answer = {"edges": [*nothing, *({"from": a, "to": b} for a, b in edges)]}
    assert graded(exam, "task1", answer).paper_loss == 0.0


def test_names_are_read_as_those_of_the_true_sets_alone(tmp_path: Path) -> None:
    """ "Age score" is a variable of its own, but not in any true set: it is read as "Age"."""
    truth = ground_truth("scene_000001", ["X Y", "Z X", "Z Y", "M X"], sets=[["Z"]], ate=0.5)
    text = json.dumps(truth).replace(NAMES["M"], "Age score")
    exam = imported(tmp_path, json.loads(text), item("scene_000001", ONE_SET, 1, **AVAILABLE))
    assert graded(exam, "task1", {"adjust": ["Age score"]}).paper_loss == 0.0
    assert graded(exam, "task1", {"adjust": ["Weight score"]}).paper_loss == 1.0


def test_names_are_spelt_as_the_question_spells_them(tmp_path: Path) -> None:
    truth = ground_truth("scene_000001", ["X Y", "Z X", "Z Y"], sets=[["Z"]], ate=0.5)
    curly = json.dumps(truth).replace("Age (years)", "Patient\u2019s Age\u2013years")
    task = item("scene_000001", ONE_SET, 1, available_vars=["Z"])
    task["prompt"] = 'Choose among "Patient\'s Age-years".'
    exam = imported(tmp_path, json.loads(curly), task)
    row = graded(exam, "task1", {"adjust": ["Patient's Age-years"]})
    assert (row.paper_loss, row.message) == (0.0, "")

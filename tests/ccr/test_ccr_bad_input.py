"""Every kind of bad answer has a documented status, and none stops a run."""

import json

import pytest
from ccr_worlds import Exam, grade
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.ccr import perfect
from grader.answers.check import REASONS
from grader.scoring.model import RawAnswer
from grader.scoring.score import check
from grader.scoring.shape import Task
from grader.tracks.ccr.tables import SPECIFICATION

EXAM = Exam({"seed": "bad", "sizes": (3, 3)})
TASK, TRUTH = max(EXAM.pairs, key=lambda pair: pair[0].inputs["units"])
UNITS = TASK.inputs["units"]
RIGHT = {rung: list(values) for rung, values in perfect(TASK).items()}  # type: ignore[union-attr]
(DIRECT,) = Exam(
    {"seed": "q", "purpose": "direct", "variant": "direct.boolean", "sizes": (3, 3)}
).pairs
DEDUCED = [
    Exam({"seed": "q", "purpose": "deductive", "variant": "deductive.boolean", "sizes": (3, 3, 3),
          "verdict": verdict}).pairs[0]
    for verdict in ("value", "inconsistent", "insufficient")
]  # fmt: skip


def changed(**rungs: object) -> dict[str, object]:
    return RIGHT | rungs


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (changed(do_true=RIGHT["do_true"][:-1]), "wrong_length"),
        (changed(factual=[*RIGHT["factual"], True]), "wrong_length"),
        (changed(factual=[]), "wrong_length"),
        ({"factual": RIGHT["factual"], "do_true": RIGHT["do_true"]}, "schema"),
        ({"do_false": RIGHT["factual"]}, "absent_field"),
        (changed(do_true="yes"), "schema"),
        (changed(do_true={"0": True}), "schema"),
        (changed(cause="Nobody"), "unknown_quantity"),
        (changed(effect="Nobody"), "unknown_quantity"),
        ([RIGHT], "not_object"),
        (b"", "empty"),
        (b"{", "not_json"),
        (b'{"do_true": [NaN]}', "non_finite"),
    ],
)
def test_answers_that_cannot_be_aligned_are_invalid(answer: object, reason: str) -> None:
    """A list of another length says nothing about which case is which."""
    result = grade((TASK, TRUTH), answer)
    assert (result.status, result.reason) == ("invalid", reason)
    assert result.points == 0 and reason in REASONS and "\n" not in result.message


def test_words_and_booleans_may_be_mixed() -> None:
    """Yes in any case, with punctuation or a sentence behind it, is a yes."""
    words = {True: ["Yes", "yes.", True, " YES, she is"], False: ["no", False, "No!", "\tno way"]}
    mixed = {
        rung: [words[value][k % 4] for k, value in enumerate(values)]
        for rung, values in RIGHT.items()
    }
    assert grade((TASK, TRUTH), mixed | {"cause": TASK.inputs["cause"]}).points == 1.0


@pytest.mark.parametrize(
    "entry", [None, 1, 0, 1.0, "maybe", "", "nope", [True], {"a": 1}, "yesterday"]
)
def test_an_entry_that_is_no_yes_or_no_is_wrong_for_its_case_alone(entry: object) -> None:
    result = grade((TASK, TRUTH), changed(factual=[entry, *RIGHT["factual"][1:]]))
    extra = json.loads(result.extra_json)
    assert result.status == "scored" and extra["invalid_answers"] == 1
    assert extra["accuracy_factual"] == pytest.approx(1 - 1 / UNITS)
    assert result.points == 1.0  # the factual answers do not enter the PNS


@pytest.mark.parametrize(("share", "complete"), [(0.0, True), (0.09, True), (0.12, False)])
def test_a_context_with_unreadable_factual_answers_is_not_complete(share, complete):
    """No estimate needs them, so that leaving them out showed nowhere."""
    exam = Exam({"seed": "factual", "sizes": (3, 3, 3)})

    def solver(task: Task) -> object:
        answers: dict[str, list[bool | None]] = {k: list(v) for k, v in perfect(task).items()}  # type: ignore[union-attr]
        units = len(answers["factual"])
        answers["factual"][: round(share * units)] = [None] * round(share * units)
        return answers

    (result,) = exam.contexts(solver)
    assert result.complete is complete
    assert result.quadrant == "VC" and result.share == 1.0
    metrics = exam.summary(solver).metrics
    answered = metrics["unit_answers"] / 3
    assert metrics["factual_answers_invalid"] == metrics["unit_answers_invalid"]
    assert metrics["factual_answers_invalid"] / answered == pytest.approx(share, abs=0.03)
    assert metrics["accuracy_factual"] == pytest.approx(1 - share, abs=0.06)


def test_wrong_factual_answers_show_in_the_message_and_in_the_terminal() -> None:
    wrong = changed(factual=[not right for right in RIGHT["factual"]])
    result = grade((TASK, TRUTH), wrong)
    assert result.points == 1.0 and "0.0% of the factual answers are right" in result.message
    exam = Exam({"seed": "factual", "sizes": (3, 3)})
    metrics = exam.summary(
        lambda task: perfect(task) | {"factual": [True] * task.inputs["units"]}
    ).metrics  # type: ignore[operator]
    part = {"points": 100.0, "metrics": metrics}
    (_, cases) = SPECIFICATION.in_terminal({"submission": {"system": "a"}, "tracks": {"ccr": part}})
    column = list(cases.head).index("acc. factual")
    assert str(cases.rows[0][column]) == f"{metrics['accuracy_factual']:.3f}"
    assert 0 < metrics["accuracy_factual"] < 1


@pytest.mark.parametrize(
    ("answer", "status", "reason", "points"),
    [
        ({"quantities": {}}, "scored", "", 0),
        ({"quantities": {"Q1": 0.1}}, "scored", "", 0),
        ({"quantities": {"Q9": 0.1}}, "invalid", "unknown_quantity", 0),
        ({"quantities": {"Q1": "0.1"}}, "invalid", "schema", 0),
        ({"quantities": [0.1]}, "invalid", "schema", 0),
        ({}, "invalid", "absent_field", 0),
    ],
)
def test_stated_values(answer: object, status: str, reason: str, points: float) -> None:
    """A quantity that is absent is not right; one that was not asked is a mix-up."""
    result = grade(DIRECT, answer)
    assert (result.status, result.reason, result.points) == (status, reason, points)


def test_what_is_left_out_is_said_without_the_truth() -> None:
    """`validate` called valid what `grade` counted as wrong."""
    for pair, answer, message in (
        (DIRECT, {"quantities": {"Q1": 0.1}}, "Q2"),
        ((TASK, TRUTH), changed(do_true=[None] * UNITS), f"{UNITS} of {3 * UNITS} answers"),
    ):
        said = check(pair[0], RawAnswer("a", json.dumps(answer).encode()))
        assert said.status == "scored" and message in said.message
        result = grade(pair, answer)
        assert said.message in result.message and result.points == 0
    assert "no estimate" in result.message and "estimate_pns" not in json.loads(result.extra_json)


def test_stated_values_are_right_within_a_tenth() -> None:
    """The threshold of the paper, on every listed quantity."""
    right = perfect(DIRECT[0])["quantities"]  # type: ignore[index]
    for factor, points in ((1.0, 1), (1.09, 1), (0.91, 1), (1.11, 0), (-1.0, 0)):
        stated = {name: value * factor for name, value in right.items()}
        assert grade(DIRECT, {"quantities": stated}).points == points
    one_off = right | {"Q1": right["Q1"] * 1.2}
    assert grade(DIRECT, {"quantities": one_off}).points == 0


@pytest.mark.parametrize("given_answer", ["value", "inconsistent", "insufficient"])
def test_a_deduction_is_right_only_as_it_is(given_answer: str) -> None:
    """Refusing an answerable question is wrong, and so is a number where there is none."""
    for pair in DEDUCED:
        verdict = pair[1].target["verdict"]
        answer = (pair[1].value or 0.5) if given_answer == "value" else given_answer
        assert grade(pair, {"value": answer}).points == float(given_answer == verdict)
    assert grade(DEDUCED[1], {"value": " Inconsistent\n"}).points == 1
    assert grade(DEDUCED[1], {"value": "unknown"}).reason == "unknown_label"
    assert grade(DEDUCED[1], {"value": None}).reason == "schema"
    assert grade(DEDUCED[1], {"value": True}).reason == "schema"


NUMBERS = st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
RUNG_OR_FIELD = st.sampled_from(["factual", "do_true", "do_false", "quantities", "value"])


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(RUNG_OR_FIELD, JSON), st.booleans())
def test_no_answer_crashes_the_grader(document: dict[str, object], full: bool) -> None:
    answer = RIGHT | document if full else document
    for pair in ((TASK, TRUTH), DIRECT, *DEDUCED):
        assert grade(pair, answer).status in ("scored", "invalid")

"""Prompts hold all that is needed; every kind of bad answer has a documented status."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from math import prod
from typing import Any

import numpy as np
import pytest
from built_tasks import pairs_of
from ccr_worlds import Exam, built, grade
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.ccr import perfect
from baselines.ccr_story import read_simulation
from builder.tracks.ccr.model import CutTree, Pair, context_from_json, cut_tree
from builder.tracks.ccr.plan import VERDICTS
from builder.tracks.ccr.questions import Deduction, deduce
from builder.tracks.ccr.text import decimal
from builder.tracks.ccr.themes import THEMES
from grader.answers.check import REASONS
from grader.io.schemas import schema_folder
from grader.scoring.model import RawAnswer
from grader.scoring.score import check
from grader.scoring.shape import Task
from grader.tracks.ccr.tables import SPECIFICATION


@pytest.mark.parametrize("theme", sorted(THEMES))
@pytest.mark.parametrize("operators", ["random", "mixed"])
def test_the_story_reader_answers_every_unit_from_the_text_alone(theme, operators):
    """One wrong answer means that a prompt lacks, or garbles, what is needed."""
    made = built(f"{theme}/0", theme=theme, operators=operators, sizes=(3, 4, 3))
    for task, truth in pairs_of(made, "ccr"):
        told = truth.target["answers"].items()
        assert perfect(task) == {rung: [bit == "1" for bit in bits] for rung, bits in told}


SCHEMA_EXAMPLES = {
    name: [
        example
        for example in json.loads((schema_folder() / "answers" / f"{name}.json").read_text())[
            "examples"
        ]
        if not isinstance(example.get("value"), str)  # a word, which the prompt lists
    ]
    for name in ("quantities", "deduction")
}

SINGLE = [
    ("direct", "direct.boolean", None, (3, 4, 3)),
    ("direct", "direct.boolean", None, (3, 3, 3, 3)),
    ("linear", "direct.linear", None, (3, 4, 3)),
    ("linear", "direct.trap", None, (4, 4)),
    *(("deductive", "deductive.boolean", v, n) for v in VERDICTS for n in ((3, 3), (3, 4, 3))),
    *(("linear", "deductive.linear", verdict, (3, 4, 3)) for verdict in VERDICTS),
    ("additive", "direct.additive", None, (4, 4)),
    *(
        ("additive", f"{f}.additive", v, (4, 4))
        for f in ("inductive", "deductive")
        for v in VERDICTS
    ),
]


@pytest.mark.parametrize(("purpose", "variant", "verdict", "sizes"), SINGLE)
def test_a_single_prompt_holds_all_that_is_needed_and_no_number(purpose, variant, verdict, sizes):
    """The example 0.25 was within 10% of one truth in fourteen, so that the form holds blanks. The
    examples of the schema, which lies beside the prompt, are never right either; no given tells by
    its digits that it was altered; arrows between neighbours looked like the edges of the graph."""
    for theme in sorted(THEMES):
        changes = {"purpose": purpose, "variant": variant, "verdict": verdict, "theme": theme}
        ((task, truth),) = pairs_of(built(f"{theme}/single", sizes=sizes, **changes), "ccr")
        answer: Any = perfect(task)
        assert grade((task, truth), answer).points == 1.0
        (form,) = re.findall(r"\{.*\}", task.prompt)
        assert "<number>" in form and not re.search(r"[:\[] *-?\d", form)
        blank = json.loads(form.replace("<number>", "1e6"))
        scored = grade((task, truth), blank)
        assert (scored.status, scored.points) == ("scored", 0.0)
        for example in SCHEMA_EXAMPLES[task.answer_schema]:
            assert grade((task, truth), example).points == 0.0
        if variant.startswith("direct"):
            assert sorted(blank["quantities"]) == sorted(answer["quantities"])
        if variant == "direct.trap":
            first, second = answer["quantities"].values()
            assert first != pytest.approx(second, rel=0.2)
        if verdict is not None:
            assert truth.target["verdict"] == verdict
            assert "exactly when" not in task.prompt and "probabilities" not in task.prompt
            if variant.endswith("additive"):
                named = " and ".join(task.inputs["mediators"])
                assert f"{named} are named here, in no particular order" in task.prompt
            else:
                tree = ", ".join(task.inputs["cut_tree"])
                assert f"in causal order: {tree}. The other nodes and the edges" in task.prompt
            assert "->" not in task.prompt and "at most 1% do so by rounding" in task.prompt
            given = re.findall(r"\) = (\S+) ± (\S+)$", task.prompt, re.MULTILINE)
            assert given
            for number, slack in given:
                assert Fraction(slack) == Fraction(1, 2 * 10 ** len(number.partition(".")[2]))
                assert len(number.strip("-").replace(".", "").lstrip("0")) == 4, number


def test_a_given_has_four_significant_digits() -> None:
    values = [Fraction(3, 25), Fraction(9, 2), Fraction(-1, 3), Fraction(1, 12345678)]
    assert [decimal(v) for v in values] == ["0.1200", "4.500", "-0.3333", "0.00000008100"]


def test_equations_have_no_sign_after_a_plus() -> None:
    """ "+ -1.25 V22" is no equation that anybody writes."""
    text = ""
    for seed in range(8):
        rows = built(f"signs/{seed}", purpose="linear", variant="direct.linear").rows
        text += str(rows["ccr"][0]["prompt"])
    lines = re.findall(r"^- V\d+ = .*$", text, re.MULTILINE)
    term = r"\d\.?\d* V\d+"
    for line in lines:
        assert re.fullmatch(rf"- V\d+ = (-?{term}( [+-] {term})* \+ )?noise of V\d+", line), line
    assert re.search(rf"= -{term}", text) and re.search(rf" - {term}", text)


@cache
def valued(number: int) -> tuple[CutTree, Mapping[Pair, Fraction]]:
    """A cut tree of two to four components and the PNS of its pairs."""
    made = built(f"deduce/{number}", sizes=(3,) * (2 + number % 3))
    world = json.loads(str(made.rows["ccr_worlds"][0]["world_json"]))
    values = {(q["cause"], q["effect"]): Fraction(q["pns"]) for q in world["quantities"]}
    return cut_tree(context_from_json(world["context"]).dag), values


def deductions(count: int) -> list[tuple[str, tuple[str, ...], Deduction]]:
    """(wanted verdict, nodes of the cut tree, question)."""
    found = []
    for seed in range(count):
        tree, values = valued(seed % 12)
        for number, verdict in enumerate(VERDICTS):
            rng = np.random.default_rng([seed, number])
            question = deduce(tree, values, verdict, rng, bounded=True)
            found.append((verdict, tree.nodes, question))
    return found


def test_the_pattern_of_givens_does_not_tell_a_contradiction() -> None:
    """More than needed was given only where it contradicted: counting lines was enough."""
    patterns: dict[str, Counter[object]] = {verdict: Counter() for verdict in VERDICTS}
    for verdict, nodes, found in deductions(360):
        place = [tuple(map(nodes.index, pair)) for pair in found.givens]
        pattern = (len(nodes), tuple(sorted(place)), tuple(map(nodes.index, found.target)))
        patterns[verdict][pattern] += 1
    common = [pattern for pattern, n in patterns["inconsistent"].items() if n >= 8]
    assert len(common) > 10
    assert [pattern for pattern in common if not patterns["value"][pattern]] == []


def test_contradictions_are_a_quarter_or_more_and_all_else_agrees_within_rounding() -> None:
    """What the prompt promises of the printed numbers."""
    for verdict, nodes, found in deductions(120):
        printed = {pair: Fraction(decimal(value)) for pair, value in found.givens.items()}
        gaps = [Fraction(0)]
        for pair, value in printed.items():
            inside = nodes[nodes.index(pair[0]) : nodes.index(pair[1]) + 1]
            for count in range(1, len(inside) - 1):
                for between in combinations(inside[1:-1], count):
                    steps = list(pairwise((pair[0], *between, pair[1])))
                    known = [printed[step] for step in steps if step in printed]
                    if len(known) == len(steps):
                        gaps.append(abs(value / prod(known) - 1))
                    elif len(known) == len(steps) - 1:
                        gaps.append(max(Fraction(0), value / prod(known) - 1))
        if verdict == "inconsistent":
            assert max(gaps) >= Fraction(1, 4)
        else:
            assert max(gaps) <= Fraction(1, 100)


def test_text_order_is_unrelated_to_topological_order() -> None:
    """Scanning downwards must not be a way to find causes: Kendall's tau averages to zero."""
    taus: dict[str, list[float]] = {"rules": [], "cases": [], "names": []}
    for seed in range(60):
        rows = built(f"order/{seed}", sizes=(3, 3), theme="abstract").rows
        world = json.loads(str(rows["ccr_worlds"][0]["world_json"]))
        names = context_from_json(world["context"]).dag.nodes
        prompt = str(rows["ccr"][0]["prompt"])
        story = read_simulation(prompt).story
        taus["rules"].append(tau([names.index(name) for name in story.rules]))
        taus["names"].append(tau([sorted(names).index(name) for name in names]))
        line = prompt.partition("\n1. ")[2].partition("\n")[0]
        holders = {rule.holder: name for name, rule in story.rules.items()}
        shown = [holders[item.split()[1]] for item in line.split("; ")]
        taus["cases"].append(tau([names.index(name) for name in shown]))
    for place, values in taus.items():
        error = np.std(values) / np.sqrt(len(values))
        assert abs(np.mean(values)) < 4 * error, place


def tau(ranks: list[int]) -> float:
    pairs = [(a, b) for k, a in enumerate(ranks) for b in ranks[k + 1 :]]
    return sum(1 if a < b else -1 for a, b in pairs) / len(pairs)


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


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({**RIGHT, "do_true": RIGHT["do_true"][:-1]}, "wrong_length"),
        ({**RIGHT, "factual": [*RIGHT["factual"], True]}, "wrong_length"),
        ({**RIGHT, "factual": []}, "wrong_length"),
        ({"factual": RIGHT["factual"], "do_true": RIGHT["do_true"]}, "schema"),
        ({"do_false": RIGHT["factual"]}, "absent_field"),
        ({**RIGHT, "do_true": "yes"}, "schema"),
        ({**RIGHT, "do_true": {"0": True}}, "schema"),
        ({**RIGHT, "cause": "Nobody"}, "unknown_quantity"),
        ({**RIGHT, "effect": "Nobody"}, "unknown_quantity"),
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
    result = grade((TASK, TRUTH), {**RIGHT, "factual": [entry, *RIGHT["factual"][1:]]})
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
    wrong = RIGHT | {"factual": [not right for right in RIGHT["factual"]]}
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
        ((TASK, TRUTH), RIGHT | {"do_true": [None] * UNITS}, f"{UNITS} of {3 * UNITS} answers"),
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

"""The hypothesis language: what it reads, errors to act on, and halves that stand alone."""

import json
from collections.abc import Mapping
from contextlib import suppress
from itertools import permutations
from typing import Any

import pytest
from laboratories import CHAIN, TARGET, episodes, grade, make_row, task_and_truth

from grader.io.schemas import first_problem
from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import (
    BadHypothesis,
    Hypothesis,
    parse_hypothesis,
    write_hypothesis,
)
from grader.laboratory.session import Laboratory, RefusedRequest
from grader.scoring.model import Score
from grader.tracks.causalab.shapes import true_hypothesis

EQUATIONS = {"ph": [("temperatureC", 1.0)], TARGET: [("ph", 2.0), ("density", 3.0)]}
PUBLIC = make_row(EQUATIONS)["public"]


def parse(document: object, family: str = "linear", acts: bool = False) -> Hypothesis:
    public = {**PUBLIC, "family": family, "frequency_may_be_parent": acts}
    return parse_hypothesis(document, public)


def hypothesis(
    equation: str, coefficients: dict[str, Any], parents: tuple[str, ...] = ("ph", "density")
) -> dict[str, Any]:
    edges = [{"from": parent, "to": "frequency"} for parent in parents]
    return {"edges": edges, "freq_equation": equation, "coefficients": coefficients}


GOOD = {"base": 20, "c_ph": 2, "c_density": 3.5}


@pytest.mark.parametrize(
    "equation",
    [
        "base + c_ph*ph + c_density*density",
        "frequency = base + c_ph * pH + c_density * Density",
        "resonanceFreq = 20 + 2*ph + 3.5*density",
        "2*ph + density*3.5 + 20",
        "20 + 2*ph + 3.50 * density^1",
        "base + ph*c_ph + 7*0.5*density",
    ],
)
def test_the_same_equation_may_be_written_in_many_ways(equation: str) -> None:
    found = parse(hypothesis(equation, GOOD))
    assert (found.base, dict(found.terms)) == (20.0, {"ph": (2.0, 0.0), "density": (3.5, 0.0)})
    assert found.predict({"ph": 1.0, "density": 2.0}) == 29.0
    found = parse(hypothesis("-3 - 2*ph + -1*density", {"base": -3, "c_ph": -2, "c_density": -1}))
    assert found.predict({"ph": 1.0, "density": 10.0}) == -15.0, "signs belong to the numbers"
    found = parse(hypothesis("base + c_ph*ph", {"base": None, "c_ph": None}, ("ph",)))
    assert (found.base, found.terms) == (None, {"ph": (None, 0.0)}), "null is not known"
    assert found.predict({"ph": 1.0}) is None


@pytest.mark.parametrize(
    "coefficients",
    [{"base": 1, "c2_ph": 0.01, "c_ph": -1.5}, {"base": 1, "c_ph_1": 0.01, "c_ph_2": -1.5}],
)
def test_quadratic_terms_have_a_square_and_a_linear_coefficient(coefficients):
    square, linear = list(coefficients)[1:]
    equation = f"base + {square}*ph^2 + {linear}*ph"
    found = parse(hypothesis(equation, coefficients, ("ph",)), "quadratic")
    assert found.terms == {"ph": (-1.5, 0.01)}
    assert found.predict({"ph": 10.0}) == pytest.approx(1 + 1 - 15)


def test_edges_may_be_pairs_and_repeats_collapse() -> None:
    document = hypothesis("base", {"base": 1}, ())
    document["edges"] = [["ph", "density"], {"from": "pH", "to": "Density"}, ["ph", "frequency"]]
    document |= {"freq_equation": "base + 2*ph", "coefficients": {"base": 1, "c_ph": 2}}
    assert parse(document).edges == {("ph", "density"), ("ph", TARGET)}
    acting = {**hypothesis("base", {"base": 1}, ()), "edges": [["frequency", "ph"]]}
    assert parse(acting, acts=True).edges == {(TARGET, "ph")}


@pytest.mark.parametrize(
    ("edges", "acts", "says"),
    [
        ([["ph", "density"], ["density", "ph"]], False,
         "edges: a circle from ph to density to ph; nothing acts on itself"),
        ([["ph", "density"], ["density", "temperatureC"], ["temperatureC", "ph"]], False,
         "a circle from "),
        ([["frequency", "ph"]], False, "edge 1: frequency acts on nothing here"),
        ([["frequency", "density"], ["density", "frequency"]], True, "a circle from "),
    ],
)  # fmt: skip
def test_what_the_law_rules_out_is_no_hypothesis(edges, acts, says):
    causes = [cause for cause, effect in edges if effect == TARGET]
    equation = " + ".join(["base", *(f"c_{cause}*{cause}" for cause in causes)])
    numbers = {"base": 1, **{f"c_{cause}": 2 for cause in causes}}
    document = {"edges": edges, "freq_equation": equation, "coefficients": numbers}
    with pytest.raises(BadHypothesis, match=says):
        parse(document, acts=acts)


def test_a_parent_adds_something_or_it_is_not_known_what() -> None:
    """One power of a quadratic term may be zero, an unknown coefficient null."""
    for family, coefficients in (
        ("linear", {"base": 1, "c_ph": 0}),
        ("quadratic", {"base": 1, "c_ph": 0.0, "c2_ph": -0.0}),
    ):
        equation = " + ".join(["base", "c_ph*ph", "c2_ph*ph^2"][: len(coefficients)])
        with pytest.raises(BadHypothesis, match="ph adds 0, so it is no parent of frequency"):
            parse(hypothesis(equation, coefficients, ("ph",)), family)
        known = {**coefficients, "c_ph": None}
        assert parse(hypothesis(equation, known, ("ph",)), family).edges == {("ph", TARGET)}
    half = hypothesis("base + c_ph*ph + c2_ph*ph^2", {"base": 1, "c_ph": 0, "c2_ph": 2}, ("ph",))
    assert parse(half, "quadratic").terms == {"ph": (0.0, 2.0)}


def test_what_is_written_is_what_is_read() -> None:
    terms = {"ph": (2.0, 0.01), "density": (0.0, 0.5), "temperatureC": (0.0, 0.0)}
    written = write_hypothesis(TARGET, "quadratic", [("ph", "density")], 4.5, terms)
    found = parse(written, "quadratic")
    del terms["temperatureC"]  # it adds nothing
    assert found.terms == terms and found.base == 4.5
    assert found.edges == {("ph", "density"), *((parent, TARGET) for parent in terms)}
    answer = {"prediction": 1.0, "hypothesis": written}
    assert first_problem("answers/laboratory_jsonl", answer) is None


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (hypothesis("base + c_x*x", {"base": 1, "c_x": 2}), "names no term"),
        (hypothesis("base + c_ph*ph + 2*charm", {"base": 1, "c_ph": 2}), '"charm" is not declared'),
        (hypothesis("base + c_ph*ph", {"base": 1, "c_ph": "two"}, ("ph",)), "write a number"),
        (hypothesis("base + c_ph*ph", {"base": 1, "c_ph": True}, ("ph",)), "write a number"),
        (hypothesis("base + c_ph*ph", {"base": 1, "c_ph": 1e300}, ("ph",)), "beyond"),
        (hypothesis("base + c_ph*ph", GOOD), "density is a parent of frequency in edges"),
        (hypothesis("base + c_ph*ph + 1*density", GOOD, ("ph",)), "in freq_equation but not"),
        (hypothesis("base + c_ph*ph + 3*density", GOOD), "is 3 in freq_equation but 3.5"),
        (hypothesis("21 + 2*ph + 3.5*density", GOOD), "the base is 21"),
        (hypothesis("c_ph*ph + c_density*density", GOOD), "the base is missing"),
        (hypothesis("base + c_ph*ph + c_density*density", {"base": 1, "c_ph": 2}), "coefficients"),
        (hypothesis("base + c_ph*ph^2 + 3.5*density", GOOD), "another variable than its own"),
        (hypothesis("base + 2*ph^2 + 3.5*density", GOOD), "the family is linear"),
        (hypothesis("base + 2*ph^3 + 3.5*density", GOOD), "a power other than 2"),
        (hypothesis("base + 2*ph*density", GOOD), "a product of two variables"),
        (hypothesis("base + 2*(ph)", GOOD), "cannot be read"),
        (hypothesis("base + 2*ph +", GOOD), "it ends"),
        (hypothesis("base + 2*ph 3.5*density", GOOD), "not expected there"),
        (hypothesis("ph = base", GOOD), "its left side"),
        (hypothesis("base + 2*frequency", GOOD), "its own parent"),
        (hypothesis("base + base", {"base": 1}, ()), "two constants"),
        (hypothesis("__import__", GOOD), "not declared"),
        ({**hypothesis("base", {"base": 1}, ()), "edges": [["ph", "quark"]]}, "declared are"),
        ({**hypothesis("base", {"base": 1}, ()), "edges": [["ph", "ph"]]}, "to itself"),
        ({**hypothesis("base", {"base": 1}, ()), "edges": [{"from": "ph"}]}, 'write {"from"'),
        ({**hypothesis("base", {"base": 1}, ()), "edges": {}}, "not a list"),
        ({**hypothesis("base", {"base": 1}, ()), "nodes": []}, "no member"),
        ({"edges": [], "freq_equation": "base"}, '"coefficients" is absent'),
        (hypothesis("base", {"c_ph": 2}, ()), '"base"'),
        ([], "no object"),
        ({"hypothesis": {}, "plan": 1}, "no field"),
    ],
)
def test_an_error_says_what_to_change(document: object, says: str) -> None:
    with pytest.raises(BadHypothesis) as error:
        parse(document)
    assert says in str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 400


def test_no_equation_takes_long_to_refuse() -> None:
    for text in ("+" * 2000, "2*" * 1000, "base+" * 400, "9" * 2000, "ph**" * 500):
        with pytest.raises(BadHypothesis):
            parse(hypothesis(text, GOOD))


EMPTY = {"edges": [], "freq_equation": "base", "coefficients": {"base": 0}}
FREE: dict[str, Any] = {"budget": 0, "opening": False}


def every_pair(episode: Episode) -> dict[str, Any]:
    """All pairs in both directions: everything true is in it."""
    pairs = [{"from": a, "to": b} for a, b in permutations(episode.nodes, 2)]
    if not episode.public["frequency_may_be_parent"]:
        pairs = [pair for pair in pairs if pair["from"] != episode.target]
    causes = [pair["from"] for pair in pairs if pair["to"] == episode.target]
    return {
        "edges": pairs,
        "freq_equation": " + ".join(["base", *(f"c_{cause}*{cause}" for cause in causes)]),
        "coefficients": {"base": 0, **{f"c_{cause}": 1 for cause in causes}},
    }


def stating(episode: Episode, hypothesis: Mapping[str, Any], prediction: float) -> Score:
    """An answer with the hypothesis, as often as the laboratory lets it be sent, and a prediction:
    where nothing can be set, one line."""
    row = {"task_id": episode.task_id, "public": episode.public, "private": episode.private}
    task, truth = task_and_truth(row)
    if not episode.budget:
        return grade(task, truth, json.dumps({"prediction": prediction, "hypothesis": hypothesis}))
    session = Laboratory(episode)
    for stated in (*[hypothesis] * 4, None):
        with suppress(RefusedRequest):
            session.predict(prediction, stated)
            break
    return grade(task, truth, session.transcript_text())


@pytest.mark.parametrize(
    "suite", ["main-3", "main-4", "main-6", "freqparent-4", "hidden-count-1", "golden-4", "12o0i-4"]
)
def test_all_pairs_both_ways_earn_no_more_than_an_empty_hypothesis(suite: str) -> None:
    for episode in episodes(suite, count=4, seed="both ways"):
        empty = stating(episode, EMPTY, 100.0)
        both = stating(episode, every_pair(episode), 100.0)
        assert both.status == empty.status == "scored"
        assert both.points == empty.points, both.message
        figures = json.loads(both.extra_json)
        assert (figures["parse_failures"], figures["hypothesised"]) == (1, 0)


def test_each_half_of_an_answer_stands_for_itself() -> None:
    """In the short form, left out or null, and in a session; without both nothing is earned."""
    row, free = make_row(CHAIN), make_row(CHAIN, **FREE)
    task, truth = task_and_truth(free)
    parts = {"prediction": truth.value, "hypothesis": true_hypothesis(Episode.load(**free))}
    for kept, says, points in (
        ("prediction", "no hypothesis was given", 0.5),
        ("hypothesis", "no prediction was made", 0.5),
        ("", "no prediction was made; no hypothesis was given", 0.0),
    ):
        half = {name: value if name == kept else None for name, value in parts.items()}
        for answer in (half, {kept: parts[kept]}) if kept else ():
            result = grade(task, truth, json.dumps(answer))
            assert (result.status, result.points, result.message) == ("scored", points, says)
        episode = Episode.load(**row)
        session = Laboratory(episode)
        if kept == "hypothesis":
            session.hypothesise(true_hypothesis(episode))
        if kept == "prediction":
            session.predict(episode.frequency)
        else:
            session.stop()
        result = grade(*task_and_truth(row), session.transcript_text())
        early = "; predicted with experiments left, though "
        says += f"{early}other graphs remain equivalent to the true one" * (kept == "prediction")
        assert (result.status, result.points, result.message) == ("scored", points, says)
    session = Laboratory(episode)
    session.intervene("density", 80.0)
    session.predict(episode.frequency, EMPTY)
    result = grade(*task_and_truth(row), session.transcript_text())
    assert result.message.endswith(f"{early}a reading contradicts the hypothesis")


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({**EMPTY, "edges": [["density", "moisture"], ["moisture", "density"]]}, "a circle"),
        ({**EMPTY, "edges": [["density", "quark"]]}, '"quark" is not declared'),
        ({"edges": []}, '"freq_equation" is absent'),
        ([], "no object"),
    ],
)
def test_a_hypothesis_that_is_not_read_leaves_the_prediction(broken: object, says: str) -> None:
    task, truth = task_and_truth(make_row(CHAIN, **FREE))
    result = grade(task, truth, json.dumps({"prediction": truth.value, "hypothesis": broken}))
    assert (result.status, result.points) == ("scored", 0.5)
    assert f"{task.answer_file}: the hypothesis is not read: " in result.message
    assert says in result.message and result.message.endswith("no hypothesis was read")
    assert "\n" not in result.message

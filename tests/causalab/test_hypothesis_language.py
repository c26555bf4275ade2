"""The hypothesis language: what it reads, and errors an agent can act on."""

from typing import Any

import pytest
from causalab_episodes import TARGET, make_row

from grader.io.schemas import first_problem
from grader.laboratory.episode import spellings_of
from grader.laboratory.equation import BadHypothesis
from grader.laboratory.hypothesis import Hypothesis, parse_hypothesis, write_hypothesis

EQUATIONS = {"ph": [("temperatureC", 1.0)], TARGET: [("ph", 2.0), ("density", 3.0)]}
PUBLIC = make_row(EQUATIONS)["public"]


def parse(document: object, family: str = "linear", acts: bool = False) -> Hypothesis:
    public = {**PUBLIC, "family": family, "frequency_may_be_parent": acts}
    return parse_hypothesis(document, public, spellings_of(public))


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


def test_signs_belong_to_the_numbers() -> None:
    found = parse(hypothesis("-3 - 2*ph + -1*density", {"base": -3, "c_ph": -2, "c_density": -1}))
    assert found.predict({"ph": 1.0, "density": 10.0}) == -15.0


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


def test_unknown_coefficients_are_null_and_predict_nothing() -> None:
    found = parse(hypothesis("base + c_ph*ph", {"base": None, "c_ph": None}, ("ph",)))
    assert found.base is None and found.terms == {"ph": (None, 0.0)}
    assert found.predict({"ph": 1.0}) is None


def test_edges_may_be_pairs_and_repeats_collapse() -> None:
    document = hypothesis("base", {"base": 1}, ())
    document["edges"] = [["ph", "density"], {"from": "pH", "to": "Density"}, ["ph", "frequency"]]
    document |= {"freq_equation": "base + 2*ph", "coefficients": {"base": 1, "c_ph": 2}}
    assert parse(document).edges == {("ph", "density"), ("ph", TARGET)}


@pytest.mark.parametrize(
    ("edges", "acts", "says"),
    [
        ([["ph", "density"], ["density", "ph"]], False, "a circle from "),
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


def test_frequency_has_effects_where_it_may() -> None:
    document = {**hypothesis("base", {"base": 1}, ()), "edges": [["frequency", "ph"]]}
    assert parse(document, acts=True).edges == {(TARGET, "ph")}


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

"""A session: what is allowed, in which order, and what a refusal leaves untouched."""

import json

import pytest
from causalab_episodes import CHAIN, TARGET, chain_episode, make_row

from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import write_hypothesis
from grader.laboratory.session import Laboratory, RefusedRequest

HYPOTHESIS = write_hypothesis(
    TARGET, "linear", [("density", "moisture")], 20.0, {"density": (1.0, 0.0)}
)


def events(session: Laboratory) -> list[str]:
    return [line["event"] for line in session.transcript]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("density", 100.01, "from 0 to 100"),
        ("density", -0.01, "from 0 to 100"),
        ("density", float("nan"), "from 0 to 100"),
        ("density", float("inf"), "from 0 to 100"),
        ("density", 10**400, "from 0 to 100"),
        ("density", "40", "from 0 to 100"),
        ("density", True, "from 0 to 100"),
        ("density", None, "from 0 to 100"),
        ("mystery", 4, "set one of moisture, density"),
        (["density"], 4, "set one of moisture, density"),
        ("x" * 100_000, 4, "set one of moisture, density"),
        (TARGET, 4, "cannot be set; set one of moisture, density"),
    ],
)
def test_a_bad_setting_says_what_is_allowed_and_costs_nothing(name, value, says):
    session = Laboratory(chain_episode())
    with pytest.raises(RefusedRequest) as refusal:
        session.intervene(name, value)
    assert says in str(refusal.value) and "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300
    assert session.remaining == 8 and not session.readings
    assert events(session) == ["opened", "refused"]
    assert session.transcript[-1]["error"] == str(refusal.value)


def test_an_uncontrollable_property_cannot_be_set() -> None:
    session = Laboratory(chain_episode(uncontrollable=["moisture"]))
    with pytest.raises(RefusedRequest, match="moisture cannot be set; set one of density"):
        session.intervene("moisture", 4)


def test_the_budget_is_the_number_of_settings() -> None:
    session = Laboratory(chain_episode(budget=2))
    session.intervene("density", 1)
    session.intervene("density", 1)
    with pytest.raises(RefusedRequest, match="all 2 interventions are used"):
        session.intervene("density", 1)
    assert session.remaining == 0


def test_opening_the_reactor_ends_the_experiments() -> None:
    session = Laboratory(chain_episode())
    shown = session.open_reactor()
    assert TARGET not in shown
    with pytest.raises(RefusedRequest, match="ended the experiments"):
        session.intervene("density", 1)
    assert session.open_reactor() == shown, "looking again is free"
    assert events(session) == ["opened", "reactor", "refused"]


def test_there_is_one_prediction_and_it_ends_the_session() -> None:
    session = Laboratory(chain_episode())
    with pytest.raises(RefusedRequest, match="one number from"):
        session.predict("soon")
    session.predict(3)
    assert events(session) == ["opened", "refused", "reactor", "prediction", "closed"]
    for call in (
        lambda: session.predict(3),
        lambda: session.intervene("density", 1),
        lambda: session.hypothesise(HYPOTHESIS),
        session.open_reactor,
        session.stop,
    ):
        with pytest.raises(RefusedRequest, match="the session is over"):
            call()
    assert events(session)[-1] == "closed"


def test_a_prediction_outside_the_reactors_range_is_refused() -> None:
    row = make_row(CHAIN)
    row["public"]["reactor_range"] = [0.0, 10_000.0]
    session = Laboratory(Episode.load(**row))
    with pytest.raises(RefusedRequest, match="from 0 to 10000"):
        session.predict(-1)
    session.predict(10_000)


def test_names_do_not_mind_case_spaces_units_or_display_names() -> None:
    equations = {"temperatureC": [("ph", 1.0)], TARGET: [("temperatureC", 1.0)]}
    episode = Episode.load(**make_row(equations))
    for node, names in {
        "temperatureC": ("temperatureC", "Temperature (°C)", "TEMPERATURE", "temperature_C"),
        "ph": ("pH", "PH", " ph "),
        TARGET: ("frequency", "Resonance Frequency (Hz)", "resonanceFreq", "freq"),
    }.items():
        assert [episode.node(name) for name in names] == [node] * len(names)
    assert episode.node("density") is None


def test_a_hypothesis_is_asked_for_again_twice_and_then_recorded_as_a_parse_failure() -> None:
    session = Laboratory(chain_episode())
    for _ in range(3):
        with pytest.raises(RefusedRequest, match="absent"):
            session.hypothesise({"edges": []})
    assert events(session) == ["opened", "reprompt", "reprompt", "parse_failure"]
    with pytest.raises(RefusedRequest, match="three times"):
        session.hypothesise(HYPOTHESIS)
    session.intervene("density", 3)
    session.hypothesise(HYPOTHESIS)
    assert session.parse_failures == 1
    assert [step for step, _ in session.hypotheses] == [1]


def test_a_bad_final_hypothesis_leaves_the_prediction_to_be_made() -> None:
    session = Laboratory(chain_episode())
    with pytest.raises(RefusedRequest):
        session.predict(3, {"edges": "none"})
    assert session.prediction is None and session.phase == "experiments"
    session.predict(3, HYPOTHESIS)
    assert session.prediction == 3.0


def test_a_step_record_and_a_bare_hypothesis_are_both_taken() -> None:
    fields = {"memory": "m", "thought": "t", "past_data": [], "experiment": {}}
    for record in (HYPOTHESIS, {**fields, "hypothesis": HYPOTHESIS}):
        session = Laboratory(chain_episode())
        hypothesis = session.hypothesise(record)
        assert hypothesis.edges == {("density", "moisture"), ("density", TARGET)}
        assert session.transcript[-1]["record"] == record


@pytest.mark.parametrize(
    "record",
    [
        {"hypothesis": HYPOTHESIS, "notes": "a sixth field"},
        {"hypothesis": HYPOTHESIS, "thought": "x" * 20_000},
        {"hypothesis": HYPOTHESIS, "thought": "\ud800"},
        {"hypothesis": HYPOTHESIS, "thought": float("nan")},
        {"hypothesis": HYPOTHESIS, "thought": {1, 2}},
        {"hypothesis": HYPOTHESIS, "thought": json.loads("[" * 30 + "]" * 30)},
        None,
        7,
    ],
)
def test_a_record_that_cannot_be_kept_is_refused(record: object) -> None:
    session = Laboratory(chain_episode())
    with pytest.raises(RefusedRequest) as refusal:
        session.hypothesise(record)
    assert "\n" not in str(refusal.value)
    assert events(session) == ["opened", "reprompt"]


def test_refusals_do_not_fill_the_disk() -> None:
    session = Laboratory(chain_episode())
    for _ in range(600):
        with pytest.raises(RefusedRequest):
            session.intervene("nobody", 1)
    assert len(session.transcript) == 501

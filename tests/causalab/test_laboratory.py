"""A session: what is allowed, in which order, and interventions worked by hand in every mode."""

import json
from dataclasses import asdict

import pytest
from laboratories import CHAIN, TARGET, chain_episode, make_row

from causal_exams.laboratory.host import open_episode
from grader.errors import UsageError
from grader.laboratory.episode import Episode, EpisodeError
from grader.laboratory.hypothesis import write_hypothesis
from grader.laboratory.model import Model, Term
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
        ("ph", 4, "ph cannot be set; set one of moisture, density"),
    ],
)
def test_a_bad_setting_says_what_is_allowed_and_costs_nothing(name, value, says):
    names = ["moisture", "density", "ph"]
    session = Laboratory(chain_episode(names=names, uncontrollable=["ph"], budget=8))
    with pytest.raises(RefusedRequest) as refusal:
        session.intervene(name, value)
    assert says in str(refusal.value) and "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300
    assert session.remaining == 8 and not session.readings
    assert events(session) == ["opened", "refused"]
    assert session.transcript[-1]["error"] == str(refusal.value)


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
    row = make_row(CHAIN)
    row["public"]["reactor_range"] = [0.0, 10_000.0]
    session = Laboratory(Episode.load(**row))
    for value in ("soon", -1):
        with pytest.raises(RefusedRequest, match="one number from 0 to 10000"):
            session.predict(value)
    session.predict(10_000)
    assert events(session) == ["opened", "refused", "refused", "reactor", "prediction", "closed"]
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


START = {"density": 10.0, "moisture": 5.0}
"""density 10; moisture 5 + 2·10 = 25; frequency 20 + 3·25 + 10 = 105."""


def lab(mode: str, **options: object) -> Laboratory:
    """The chain density → moisture → frequency ← density, from :data:`START`."""
    return Laboratory(chain_episode(mode=mode, manipulator=START, **options))


@pytest.mark.parametrize(
    ("mode", "first", "then"),
    [
        # The base becomes 40 and 2·10 comes on top; the parent still acts on the new base.
        ("shift", (60.0, 20 + 3 * 60 + 10.0), (40 + 2 * 30.0, 20 + 3 * 100 + 30.0)),
        # The base becomes 20 so that 20 + 2·10 = 40; the parent acts on that one.
        ("pin", (40.0, 20 + 3 * 40 + 10.0), (20 + 2 * 30.0, 20 + 3 * 80 + 30.0)),
        # No parent acts on a held property.
        ("do", (40.0, 20 + 3 * 40 + 10.0), (40.0, 20 + 3 * 40 + 30.0)),
    ],
)
def test_effects_persist_and_parents_go_on_acting_unless_cut(mode, first, then):
    session = lab(mode)
    for name, value, density, shown in (("moisture", 40, 10.0, first), ("density", 30, 30.0, then)):
        reading = session.intervene(name, value)
        assert (reading.pop("density"), tuple(reading.values())) == (density, shown)


def test_terms_are_summed_before_rounding_and_children_read_the_rounded_parent() -> None:
    """0.012·10² - 1.203·10 + 7 = -3.83; then 20 + 0.01·(-3.83)² = 20.146689. And 0.333·1 + 0 shows
    0.33, 100 times that is 33, not 33.3."""
    equations = {"moisture": [("density", -1.203, 0.012)], TARGET: [("moisture", 0.0, 0.01)]}
    model = Episode.load(**make_row(equations, family="quadratic")).model
    reading = model.read({"density": 10.0, "moisture": 7.0})
    assert reading == {"moisture": -3.83, "density": 10.0, TARGET: 20.15}
    terms = {"moisture": [Term("density", 0.333)], TARGET: [Term("moisture", 100.0)]}
    model = Model.make(["density", "moisture"], TARGET, terms, 0.0)
    assert model.read({"density": 1.0, "moisture": 0.0})[TARGET] == 33.0


def test_a_disturbance_shifts_its_nodes_after_each_intervention_and_never_builds_up() -> None:
    disturbance = {"nodes": ["moisture"], "values": [-5.0, 0.0, 5.0], "sequence": [5.0, -5.0, 0.0]}
    session = lab("shift", disturbance=disturbance, budget=3)
    assert session.episode.public["opening"] == {"density": 10.0, "moisture": 25.0, TARGET: 105.0}
    # 40 + 20 + 5, then 40 + 2·30 - 5, then 40 + 2·0 + 0: each on the clean base.
    assert session.intervene("moisture", 40) == {
        "density": 10.0, "moisture": 65.0, TARGET: 20 + 195 + 10.0,
    }  # fmt: skip
    assert session.intervene("density", 30)["moisture"] == 95.0
    assert session.intervene("density", 0) == {"density": 0.0, "moisture": 40.0, TARGET: 140.0}


@pytest.mark.parametrize(("mode", "shown"), [("pin", 45.0), ("do", 40.0)])
def test_a_value_is_solved_on_clean_readings_and_a_held_one_feels_no_disturbance(mode, shown):
    disturbance = {"nodes": ["moisture"], "values": [5.0], "sequence": [5.0, 5.0]}
    session = lab(mode, disturbance=disturbance, budget=2)
    assert session.intervene("moisture", 40)["moisture"] == shown
    assert session.intervene("moisture", 40)["moisture"] == shown


def test_values_are_rounded_to_two_decimals_before_they_are_set() -> None:
    session = lab("shift")
    assert session.intervene("density", 30.006)["density"] == 30.01
    assert session.transcript[-1]["set"] == {"name": "density", "value": 30.01}


@pytest.mark.parametrize(
    ("part", "member", "value", "message"),
    [
        ("public", "opening", {"density": 1.0, "moisture": 1.0, TARGET: 1.0}, "opening"),
        ("private", "frequency", 7.0, "reactor"),
        ("private", "equations", {"mystery": []}, "mystery"),
        ("private", "equations", {"ph": [asdict(Term("ph", 1.0))]}, "a circle"),
        ("public", "records", [], "records"),
        ("public", "frequency_may_be_parent", False, "frequency acts"),
        ("public", "shifts", [], "shifts"),
        ("public", "shifts", [-50.0, 0.0, 50.0], "shifts"),
        ("public", "mode", "pin", r"chain\[0\]"),  # the same chain in another mode is another chain
    ],
)
def test_an_episode_that_contradicts_itself_is_refused(part, member, value, message):
    disturbance = {"nodes": ["density"], "values": [-5.0, 0.0, 5.0]}
    row = make_row(
        {**CHAIN, "ph": [(TARGET, 1.0)]}, chain=[("moisture", 40.0), ("density", 3.0)],
        disturbance=disturbance, frequency_may_be_parent=True,
    )  # fmt: skip
    Episode.load(**row)
    row[part][member] = value
    with pytest.raises(EpisodeError, match=message):
        Episode.load(**row)


@pytest.mark.parametrize(
    ("part", "member", "value"),
    [("private", "base", "x"), ("public", "mode", "wish"), ("public", "budget", -1)],
)
def test_an_episode_in_a_file_must_fit_the_schemas(part, member, value, tmp_path):
    row = make_row(CHAIN)
    row[part][member] = value
    (tmp_path / "own.json").write_text(json.dumps(row))
    with pytest.raises(UsageError, match=rf"own\.json: {part}: at /{member}: "):
        open_episode(str(tmp_path / "own.json"))

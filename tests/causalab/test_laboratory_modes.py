"""Interventions worked by hand in every mode: for whatever has parents, each differs."""

import json
from graphlib import CycleError

import pytest
from causalab_episodes import CHAIN, TARGET, chain_episode, make_row

from causal_exams.laboratory.host import open_episode
from grader.errors import UsageError
from grader.laboratory.episode import Episode, EpisodeError
from grader.laboratory.model import Model, Term
from grader.laboratory.session import Laboratory

START = {"density": 10.0, "moisture": 5.0}
"""density 10; moisture 5 + 2·10 = 25; frequency 20 + 3·25 + 10 = 105."""


def lab(mode: str, **options: object) -> Laboratory:
    """The chain density → moisture → frequency ← density, from :data:`START`."""
    return Laboratory(chain_episode(mode=mode, manipulator=START, **options))


@pytest.mark.parametrize(
    ("mode", "shown"),
    [
        # The base becomes 40 and 2·10 comes on top: 60; 20 + 3·60 + 10.
        ("shift", {"density": 10.0, "moisture": 60.0, TARGET: 210.0}),
        # The base becomes 20 so that 20 + 2·10 = 40; 20 + 3·40 + 10.
        ("pin", {"density": 10.0, "moisture": 40.0, TARGET: 150.0}),
        ("do", {"density": 10.0, "moisture": 40.0, TARGET: 150.0}),
    ],
)
def test_setting_a_property_with_a_parent_differs_by_mode(mode, shown):
    assert lab(mode).intervene("moisture", 40) == shown


@pytest.mark.parametrize(
    ("mode", "moisture", "frequency"),
    [
        ("shift", 40 + 2 * 30.0, 20 + 3 * 100 + 30.0),  # the parent still acts on the new base
        ("pin", 20 + 2 * 30.0, 20 + 3 * 80 + 30.0),  # and on the solved one
        ("do", 40.0, 20 + 3 * 40 + 30.0),  # but not on a held property
    ],
)
def test_effects_persist_and_parents_go_on_acting_unless_cut(mode, moisture, frequency):
    session = lab(mode)
    session.intervene("moisture", 40)
    reading = session.intervene("density", 30)
    assert reading == {"density": 30.0, "moisture": moisture, TARGET: frequency}


def test_quadratic_terms_are_summed_before_rounding() -> None:
    """0.012·10² - 1.203·10 + 7 = -3.83; then 20 + 0.01·(-3.83)² = 20.146689."""
    equations = {"moisture": [("density", -1.203, 0.012)], TARGET: [("moisture", 0.0, 0.01)]}
    model = Episode.load(**make_row(equations, family="quadratic")).model
    reading = model.read({"density": 10.0, "moisture": 7.0})
    assert reading == {"moisture": -3.83, "density": 10.0, TARGET: 20.15}


def test_children_read_the_rounded_parent() -> None:
    """0.333·1 + 0 shows 0.33, and 100 times that is 33, not 33.3."""
    equations = {"moisture": [("density", 0.333)], TARGET: [("moisture", 100.0)]}
    model = Episode.load(**make_row(equations, base=0.0)).model
    assert model.read({"density": 1.0, "moisture": 0.0})[TARGET] == 33.0


def test_a_disturbance_shifts_its_nodes_after_each_intervention_and_never_builds_up() -> None:
    disturbance = {"nodes": ["moisture"], "values": [-5.0, 0.0, 5.0], "sequence": [5.0, -5.0, 0.0]}
    session = lab("shift", disturbance=disturbance, budget=3)
    assert session.opening == {"density": 10.0, "moisture": 25.0, TARGET: 105.0}
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


def test_circular_equations_are_no_model() -> None:
    equations = {"a": [Term("b", 1.0)], "b": [Term("a", 1.0)]}
    with pytest.raises(CycleError):
        Model.make(["a", "b"], TARGET, equations, 0.0)


@pytest.mark.parametrize(
    ("part", "member", "value", "message"),
    [
        ("public", "opening", {"density": 1.0, "moisture": 1.0, TARGET: 1.0}, "opening"),
        ("private", "frequency", 7.0, "reactor"),
        ("private", "equations", {"mystery": []}, "mystery"),
        ("public", "records", [], "records"),
    ],
)
def test_an_episode_that_contradicts_itself_is_refused(part, member, value, message):
    row = make_row(CHAIN)
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


def test_frequency_acts_only_where_the_agent_is_told() -> None:
    row = make_row({"ph": [(TARGET, 1.0)], TARGET: [("density", 2.0)]})
    with pytest.raises(EpisodeError, match="frequency acts"):
        Episode.load(**row)
    row["public"]["frequency_may_be_parent"] = True
    Episode.load(**row)


def test_the_shifts_told_are_those_that_may_come() -> None:
    values = [-5.0, 0.0, 5.0]
    row = make_row(CHAIN, disturbance={"nodes": ["density"], "values": values})
    assert row["public"]["shifts"] == values
    for told in ([], [-50.0, 0.0, 50.0]):
        row["public"]["shifts"] = told
        with pytest.raises(EpisodeError, match="shifts"):
            Episode.load(**row)


def test_a_given_chain_must_be_what_the_mode_gives() -> None:
    """The same chain read in another mode is another chain."""
    row = make_row(CHAIN, mode="shift", chain=[("moisture", 40.0), ("density", 3.0)])
    Episode.load(**row)
    row["public"]["mode"] = "pin"
    with pytest.raises(EpisodeError, match=r"chain\[0\]"):
        Episode.load(**row)

"""Consistency, equivalence, stopping and trajectory: what a session says beyond its hypothesis."""

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from causalab_episodes import TARGET, chain_episode, make_row, random_episode
from lab_worlds import episodes
from scipy.optimize import linprog
from test_causalab_graphs import every_dag, signature

from builder.tracks.causalab.suites import SUITES
from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import Hypothesis, parse_hypothesis
from grader.laboratory.model import Mode
from grader.laboratory.session import Laboratory, RefusedRequest
from grader.tracks.causalab.diagnostics import (
    Evidence,
    diagnose,
    equation_fits,
    equivalence_sizes,
    graph_fits,
    trajectory,
)
from grader.tracks.causalab.shapes import true_hypothesis


def played(episode: Episode, settings: Sequence[tuple[str, float]]) -> Evidence:
    session = Laboratory(episode)
    for name, value in settings:
        session.intervene(name, value)
    return Evidence(episode, session.readings)


RIGHT = Hypothesis(chain_episode().edges, 20.0, {"moisture": (3.0, 0.0), "density": (1.0, 0.0)})
"""The truth of :func:`chain_episode`."""


def test_premature_is_a_prediction_with_budget_left_and_something_open() -> None:
    episode = chain_episode(budget=3, frequency_may_be_parent=True)
    settings = [("density", 80.0), ("moisture", 5.0), ("density", 11.0)]
    figures = [
        diagnose(played(episode, settings[:count]), RIGHT, committed=True) for count in range(4)
    ]
    assert [row["class_size"] for row in figures] == [6, 2, 1, 1]
    assert [row["premature"] for row in figures] == [1, 1, 0, 0]
    assert [row["budget_share"] for row in figures] == [0, 1 / 3, 2 / 3, 1]
    wrong = replace(RIGHT, base=40.0)
    for count, flag in ((2, 1), (3, 0)):
        found = diagnose(played(episode, settings[:count]), wrong, committed=True)
        assert (found["consistent"], found["premature"]) == (0, flag), "a spent budget never is"
    unsettled = diagnose(played(episode, []), RIGHT, committed=False)
    assert unsettled["premature"] is None, "nothing was committed"


def test_a_disturbance_adds_its_bound() -> None:
    disturbance = {"nodes": [TARGET], "values": [-5.0, 5.0]}
    episode = chain_episode(disturbance=disturbance)
    evidence = played(episode, [("density", 80), ("moisture", 5)])
    figures = diagnose(evidence, RIGHT, committed=True)
    assert (figures["consistent"], figures["consistency"], figures["premature"]) == (1, 1.0, 0)
    found = diagnose(evidence, replace(RIGHT, base=40.0), committed=True)
    assert (found["consistent"], found["consistency"], found["premature"]) == (0, 0.0, 1)


def wandered(episode: Episode, seed: int) -> Evidence:
    generator = random.Random(seed)
    settings = [
        (generator.choice(episode.controllable), round(generator.uniform(0, 100), 2))
        for _ in range(episode.budget)
    ]
    return played(episode, settings)


@pytest.mark.parametrize("mode", ["shift", "pin", "do"])
def test_gold_is_consistent_in_every_episode(mode: Mode) -> None:
    """Whatever is set: every suite and regime, both settings, disturbed ones included."""
    for suite in SUITES.values():
        for setting in suite.settings:
            for episode in episodes(suite.name, setting, 2, mode, seed="gold"):
                stated = true_hypothesis(episode)
                gold = parse_hypothesis(stated, episode.public, episode.spellings)
                found = diagnose(wandered(episode, 1), gold, committed=True)
                where = (suite.name, setting, episode.task_id)
                assert (found["graph_consistent"], found["consistent"]) == (1, 1), where
                assert found["consistency"] == 1.0, where


def feasible(evidence: Evidence, node: str, parents: Sequence[str]) -> bool:
    """Whether some coefficients miss no reading of ``node`` by more than its allowance.

    A linear program over rows that are made anew from the rules of the modes.
    """
    episode = evidence.episode
    hidden = episode.disturbance
    shifted = 0.01 + hidden.largest_shift if hidden and node in hidden.nodes else 0.005
    first = episode.public["opening"]
    lines = [] if first is None else [(first, None, 0, 0.005)]
    phase, base = 0, None
    for name, value, reading in evidence.settings:
        if name == node:
            phase, base = phase + 1, value if episode.mode == "shift" else None
            if episode.mode == "do":
                break
        lines.append((reading, base, phase, shifted))
    powers = (1, 2) if episode.family == "quadratic" else (1,)
    matrix = np.array(
        [
            [*(reading[p] ** power / 100**power for p in parents for power in powers),
             *(float(base is None and phase == k) for k in range(len(lines)))]
            for reading, base, phase, _ in lines
        ]
    ).reshape(len(lines), -1)  # fmt: skip
    if not lines:
        return True
    sides = np.array([reading[node] - (base or 0.0) for reading, base, _, _ in lines])
    room = np.array([allowed for *_, allowed in lines]) + 1e-7
    both, limits = np.vstack([matrix, -matrix]), np.concatenate([sides + room, room - sides])
    return bool(linprog(np.zeros(matrix.shape[1]), both, limits, bounds=(None, None)).status == 0)


@pytest.mark.parametrize("mode", ["shift", "pin", "do"])
@pytest.mark.parametrize("name", ["main-4", "main-5", "quad-hard", "hidden-count-2"])
def test_what_a_linear_program_solves_is_explained(name: str, mode: Mode) -> None:
    """Over the true parents, with any other added or left out; what is refused, it cannot solve.

    What least squares lets pass beside it is rare: rounding spread over all readings.
    """
    agreed = refused = cases = 0
    for episode in episodes(name, count=3, mode=mode, seed="programs"):
        evidence = wandered(episode, 2)
        for node in episode.names:
            true = {parent for parent, child in episode.edges if child == node}
            for other in sorted({*episode.names} - {node}):
                parents = sorted(true ^ {other})
                mine, program = (
                    evidence.explained_by(node, parents),
                    feasible(evidence, node, parents),
                )
                assert mine or not program, (episode.task_id, node, parents)
                cases, agreed, refused = cases + 1, agreed + (mine == program), refused + (not mine)
    assert agreed >= 0.9 * cases and (refused or mode == "do")


def test_consistency_is_the_share_of_verified_readings_that_fit() -> None:
    """A wrong base that one reading happens to forgive: none here, but a missing parent does."""
    episode = chain_episode(manipulator={"density": 0.0, "moisture": 5.0}, records=0)
    evidence = played(episode, [("moisture", 50), ("density", 10)])
    blind = Hypothesis(frozenset({("moisture", TARGET)}), 20.0, {"moisture": (3.0, 0.0)})
    assert equation_fits(evidence, blind) == [True, True, False]
    assert not graph_fits(evidence, blind), "moisture moved with density, which it needs as parent"
    assert graph_fits(evidence, Hypothesis(episode.edges, None, {}))
    unknown = Hypothesis(episode.edges, None, {})
    assert equation_fits(evidence, unknown) == [False, False, False], "no equation fits nothing"


def test_class_sizes_shrink_with_the_interventions_made() -> None:
    """The chain with its shortcut is complete: 6 graphs, oriented step by step."""
    settings = [("density", 1.0), ("density", 2.0), ("moisture", 3.0)]
    episode = chain_episode(frequency_may_be_parent=True)
    assert equivalence_sizes(played(episode, settings)) == [6, 2, 2, 1]
    hidden = chain_episode(frequency_may_be_parent=True, opening=False)
    assert equivalence_sizes(played(hidden, settings[:2])) == [6, 6, 2]


def test_that_frequency_acts_on_nothing_leaves_fewer_graphs() -> None:
    """Complete graphs, so every causal order is one: all of them, or those with frequency last."""
    names = ["density", "moisture", "ph"]
    for count, free, sink in ((1, 2, 1), (2, 6, 2), (3, 24, 6)):
        chosen = names[:count]
        equations = {n: [(cause, 1.0) for cause in chosen[:i]] for i, n in enumerate(chosen)}
        equations[TARGET] = [(cause, 1.0) for cause in chosen]
        for acts, size in ((True, free), (False, sink)):
            row = make_row(equations, names=chosen, frequency_may_be_parent=acts)
            assert equivalence_sizes(Evidence(Episode.load(**row), ())) == [size]


@pytest.mark.parametrize("seed", range(6))
def test_the_sink_takes_from_a_class_what_contradicts_it(seed: int) -> None:
    """Against all graphs on four nodes, whose skeletons and v-structures are compared."""
    episode = random_episode(seed, 4)
    nodes = episode.nodes
    same = [
        graph
        for graph in every_dag(nodes)
        if signature(graph, ["density"]) == signature(episode.edges, ["density"])
        and all(cause != episode.target for cause, _ in graph)
    ]
    assert equivalence_sizes(played(episode, [("density", 1)]))[-1] == len(same)


def test_the_trajectory_scores_the_last_hypothesis_of_every_step() -> None:
    episode = chain_episode()
    poor = Hypothesis(frozenset({("density", TARGET)}), None, {"density": (None, 0.0)})
    good = Hypothesis(episode.edges, 20.0, {"moisture": (3.0, 0.0), "density": (1.0, 0.0)})
    rows = trajectory(episode, [(0, poor), (2, poor), (2, good)])
    assert [(row["step"], row["edge_f1"]) for row in rows] == [(0, 0.5), (2, 1.0)]
    assert rows[1]["coefficient_f1"] == 1.0 and rows[0]["shd"] == 2


def test_refused_settings_are_no_evidence() -> None:
    session = Laboratory(chain_episode())
    with pytest.raises(RefusedRequest):
        session.intervene("density", 900)
    assert Evidence(session.episode, session.readings).steps == 0

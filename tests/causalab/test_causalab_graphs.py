"""Graphs beside Table 1, equivalence classes by brute force, what a session says beyond them."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations, product
from statistics import mean, pvariance

import networkx as nx
import numpy as np
import pytest
from laboratories import TARGET, chain_episode, episodes, random_episode
from scipy.optimize import linprog

from builder.graphs.graph import LatentDAG
from builder.tracks.causalab.episode import sample_equations
from builder.tracks.causalab.plan import FREQUENCY, PAPER, REGIMES, SIZES, SUITES, sample_graphs
from builder.tracks.causalab.track import TABLE_1, colliders, forks
from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import Hypothesis, parse_hypothesis
from grader.laboratory.model import Mode
from grader.laboratory.session import Laboratory
from grader.tracks.causalab.metrics import (
    Evidence,
    class_size,
    diagnose,
    equation_fits,
    equivalence_sizes,
    graph_fits,
    trajectory,
)
from grader.tracks.causalab.shapes import true_hypothesis


def graphs(size: int, count: int, acts: bool = False, seed: int = 1) -> list[LatentDAG]:
    return sample_graphs(size, count, acts, np.random.default_rng(seed))


def test_forks_and_colliders_are_counted_with_and_without_a_shield() -> None:
    """By hand: a causes b, c, f; b and c cause f. Forks (a: 3), colliders (f: 3)."""
    edges = [("a", "b"), ("a", "c"), ("a", "f"), ("b", "f"), ("c", "f")]
    assert forks(edges) == 3
    assert colliders(edges) == 3
    assert forks([("a", "b"), ("b", "c")]) == colliders([("a", "b"), ("b", "c")]) == 0


@pytest.mark.parametrize("size", SIZES)
def test_edges_forks_and_colliders_are_near_table_1(size: int) -> None:
    """Over 400 graphs; the paper's own figures are means over 50."""
    found = graphs(size, 100 if size == 3 else 400)
    counts = [len(g.edges) for g in found]
    reference = {3: (2, 3), 4: (3, 6), 5: (4, 10), 6: (5, 12), 7: (6, 14)}
    assert (min(counts), max(counts)) == reference[size]
    _, edge_mean, edge_variance, fork_mean, collider_mean = TABLE_1[size]
    error = (edge_variance / 50) ** 0.5
    assert abs(mean(counts) - edge_mean) < 4 * error + 0.15
    assert 0.6 < pvariance(counts) / edge_variance < 1.6
    assert abs(mean(forks(g.edges) for g in found) - fork_mean) < 0.2 * fork_mean + 0.2
    assert abs(mean(colliders(g.edges) for g in found) - collider_mean) < 0.2 * collider_mean + 0.2


@pytest.mark.parametrize("acts", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_graphs_differ_are_acyclic_and_reach_frequency_directly(size: int, acts: bool) -> None:
    found = graphs(size, 60, acts)
    assert len({(frozenset(g.nodes), frozenset(g.edges)) for g in found}) == 60
    for graph in found:
        order = graph.topological_order()
        assert all(order.index(a) < order.index(b) for a, b in graph.edges)
        assert graph.parents(FREQUENCY)
        assert acts or all(cause != FREQUENCY for cause, _ in graph.edges)
        assert graph.nodes[-1] == FREQUENCY and len(set(graph.nodes)) == size
    acting = sum(any(cause == FREQUENCY for cause, _ in graph.edges) for graph in found)
    assert 15 < acting < 55 or not acts or size != 4, "in some graphs where it may"


def test_the_order_of_listing_says_nothing_about_the_causal_order() -> None:
    pairs = [
        (g.nodes.index(a), g.nodes.index(b))
        for g in graphs(6, 200)
        for a, b in g.edges
        if b != FREQUENCY
    ]
    share = sum(a < b for a, b in pairs) / len(pairs)
    assert abs(share - 0.5) < 4 * (0.25 / len(pairs)) ** 0.5


def test_there_are_the_19_suites_of_the_paper_and_its_21_regimes() -> None:
    assert len(PAPER) == 19 and len(REGIMES) == 21 and len(SUITES) == 40
    assert all(s.budget == 4 * (s.size - 1) and s.observations == 2 for s in PAPER if not s.golden)
    assert {s.name for s in REGIMES if s.size == 6} == {
        "5o0i-6", "10o0i-6", "20o0i-6", "0o5i-6", "0o10i-6", "0o20i-6", "5o5i-6", "5o10i-6",
        "5o20i-6",
    }  # fmt: skip
    assert SUITES["3o24i-4"].budget == 24 and SUITES["0o24i-4"].observations == 0


def test_signs_and_bases_are_those_of_their_setting() -> None:
    """The second derivation goes through the sizes of coefficients."""
    graph = graphs(7, 30)[-1]
    rng = np.random.default_rng(2)
    reference = [sample_equations(graph, "linear", "reference", rng) for _ in range(40)]
    assert {e.base for e in reference} <= set(map(float, range(15, 26)))
    wide = [sample_equations(graph, "linear", "wide", rng) for _ in range(40)]
    sizes = [t.linear for e in wide for ts in e.equations.values() for t in ts]
    assert 0.4 < sum(value > 0 for value in sizes) / len(sizes) < 0.6
    assert all(e.base for e in wide)
    for found in (sample_equations(graph, "quadratic", "reference", rng) for _ in range(40)):
        floor = sum(t.linear**2 / (4 * t.quadratic) for t in found.equations[FREQUENCY])
        assert 14.9 < found.base - floor < 25.1


Graph = frozenset[tuple[str, str]]
NODES = "abcde"


def every_dag(nodes: Sequence[str]) -> list[Graph]:
    found = []
    pairs = list(combinations(nodes, 2))
    for choice in product((0, 1, 2), repeat=len(pairs)):
        edges = frozenset(
            (a, b) if way == 1 else (b, a) for (a, b), way in zip(pairs, choice, strict=True) if way
        )
        if nx.is_directed_acyclic_graph(nx.DiGraph(edges)):
            found.append(edges)
    return found


def signature(edges: Graph, targets: Iterable[str]) -> tuple[object, object]:
    """Skeleton and v-structures of the graph with one more node per intervention."""
    augmented = edges | {(f"set {target}", target) for target in targets}
    skeleton = frozenset(frozenset(edge) for edge in augmented)
    colliders = frozenset(
        (frozenset((a, b)), c)
        for a, c in augmented
        for b, other in augmented
        if other == c and a != b and frozenset((a, b)) not in skeleton
    )
    return skeleton, colliders


@pytest.mark.parametrize(("size", "count"), [(2, 3), (3, 25), (4, 543)])
def test_sizes_agree_with_brute_force_for_every_graph_and_set_of_targets(size, count):
    nodes = NODES[:size]
    graphs = every_dag(nodes)
    assert len(graphs) == count
    for chosen in range(size + 1):
        for targets in combinations(nodes, chosen):
            classes: dict[object, int] = {}
            for graph in graphs:
                key = signature(graph, targets)
                classes[key] = classes.get(key, 0) + 1
            for graph in graphs:
                expected = classes[signature(graph, targets)]
                assert class_size(size, graph, frozenset(targets)) == expected, (graph, targets)


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
    for suite in SUITES.values():
        for setting in suite.settings:
            for episode in episodes(suite.name, setting, 2, mode, seed="gold"):
                stated = true_hypothesis(episode)
                gold = parse_hypothesis(stated, episode.public)
                found = diagnose(wandered(episode, 1), gold, committed=True)
                where = (suite.name, setting, episode.task_id)
                assert (found["graph_consistent"], found["consistent"]) == (1, 1), where
                assert found["consistency"] == 1.0, where


def feasible(evidence: Evidence, node: str, parents: Sequence[str]) -> bool:
    """Whether some coefficients miss no reading of ``node`` by more than its allowance."""
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
    """Over the true parents, with any other added or left out."""
    agreed = refused = cases = 0
    for episode in episodes(name, count=3, mode=mode, seed="programs"):
        evidence = wandered(episode, 2)
        for node in episode.names:
            true = {parent for parent, child in episode.edges if child == node}
            for other in sorted({*episode.names} - {node}):
                parents = sorted(true ^ {other})
                mine = evidence.explained_by(node, parents)
                program = feasible(evidence, node, parents)
                assert mine or not program, (episode.task_id, node, parents)
                cases, agreed, refused = cases + 1, agreed + (mine == program), refused + (not mine)
    assert agreed >= 0.9 * cases and (refused or mode == "do")


def test_consistency_is_the_share_of_verified_readings_that_fit() -> None:
    """A wrong base that one reading happens to forgive: none here, but a missing parent does."""
    episode = chain_episode(manipulator={"density": 0.0, "moisture": 5.0}, records=0)
    evidence = played(episode, [("moisture", 50), ("density", 10)])
    blind = Hypothesis(frozenset({("moisture", TARGET)}), 20.0, {"moisture": (3.0, 0.0)})
    unknown = Hypothesis(episode.edges, None, {})
    assert equation_fits(evidence, blind) == [True, True, False]
    assert not graph_fits(evidence, blind), "moisture moved with density, which it needs as parent"
    assert graph_fits(evidence, unknown)
    assert equation_fits(evidence, unknown) == [False, False, False], "no equation fits nothing"


def test_class_sizes_shrink_with_the_interventions_made() -> None:
    """The chain with its shortcut is complete: 6 graphs, oriented step by step."""
    settings = [("density", 1.0), ("density", 2.0), ("moisture", 3.0)]
    episode = chain_episode(frequency_may_be_parent=True)
    assert equivalence_sizes(played(episode, settings)) == [6, 2, 2, 1]
    hidden = chain_episode(frequency_may_be_parent=True, opening=False)
    assert equivalence_sizes(played(hidden, settings[:2])) == [6, 6, 2]
    assert class_size(6, frozenset(), frozenset()) is None, "larger graphs are not enumerated"


@pytest.mark.parametrize("seed", range(6))
def test_the_sink_takes_from_a_class_what_contradicts_it(seed: int) -> None:
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
    rows = trajectory(episode, [(0, poor), (2, poor), (2, RIGHT)])
    assert [(row["step"], row["edge_f1"]) for row in rows] == [(0, 0.5), (2, 1.0)]
    assert rows[1]["coefficient_f1"] == 1.0 and rows[0]["shd"] == 2

"""When the evidence decides graph and equation: against linear programs over every graph.

The programs ask, for every acyclic graph and every sign of its coefficients, whether coefficients
exist that fit all readings within their rounding. That is the definition; what is tested answers
by elimination with error bounds, which may only be late, and is hardly ever.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from causalab_episodes import TARGET, chain_episode, make_row, random_episode
from scipy.optimize import linprog
from test_equivalence_classes import every_dag, signature

from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import Hypothesis
from grader.laboratory.session import Laboratory, Refused
from grader.tracks.causalab.diagnostics import (
    diagnose,
    equation_fits,
    equivalence_sizes,
    graph_fits,
    progress,
    trajectory,
)
from grader.tracks.causalab.evidence import Evidence
from grader.tracks.causalab.fitting import fit, tightest
from grader.tracks.causalab.identification import NO_EDGE, identify
from grader.tracks.causalab.metrics import tolerance


def played(episode: Episode, settings: Sequence[tuple[str, float]]) -> Evidence:
    session = Laboratory(episode)
    for name, value in settings:
        session.intervene(name, value)
    return Evidence(episode, session.readings)


def system(
    evidence: Evidence, node: str, parents: Sequence[str], step: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None:
    """Rows and left sides for ``node``, written anew from the rules of the modes."""
    episode = evidence.episode
    rows, constants, sides = [], [], []
    public = episode.public
    if node == TARGET:
        shown = [
            *public["records"],
            public["opening"],
            *(r for _, _, r in evidence.settings[:step]),
        ]
        rows = [[reading[p] for p in parents] for reading in shown]
        constants, sides = [0] * len(shown), [reading[node] for reading in shown]
    else:
        phase, base = 0, None
        for name, value, reading in [("", 0.0, public["opening"]), *evidence.settings[:step]]:
            if name == node:
                phase, base = phase + 1, value if episode.mode == "shift" else None
                if episode.mode == "do":
                    break
            rows.append([reading[p] for p in parents])
            constants.append(-1 if base is not None else phase)
            sides.append(reading[node] - (base or 0.0))
    if not rows:
        return None
    kinds = sorted(set(constants) - {-1})
    extra = [[float(c == kind) for kind in kinds] for c in constants]
    matrix = np.array([[*row, *more] for row, more in zip(rows, extra, strict=True)])
    return matrix.reshape(len(sides), -1), np.array(sides)


def extremes(
    evidence: Evidence, node: str, parents: Sequence[str], step: int, least: float
) -> list[tuple[float, float]] | None:
    """Bounds of every coefficient of size ``least`` or more that fits; ``None`` if none do."""
    found = system(evidence, node, parents, step)
    if found is None:
        return [(-np.inf, np.inf)] * len(parents)
    matrix, sides = found
    both = np.vstack([matrix, -matrix])
    limits = np.concatenate([sides + 0.005, -sides + 0.005])
    bounds: list[tuple[float, float]] | None = None
    for signs in product((1, -1), repeat=len(parents)):
        box: list[tuple[float | None, float | None]] = [
            (least, None) if sign > 0 else (None, -least) for sign in signs
        ]
        box += [(None, None)] * (matrix.shape[1] - len(parents))
        if linprog(np.zeros(matrix.shape[1]), both, limits, bounds=box).status != 0:
            continue
        reach = []
        for k in range(len(parents)):
            ends = []
            for way in (1, -1):
                goal = np.zeros(matrix.shape[1])
                goal[k] = way
                result = linprog(goal, both, limits, bounds=box)
                ends.append(way * result.fun if result.status == 0 else -way * np.inf)
            reach.append((ends[0], ends[1]))
        old = bounds or reach
        bounds = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(old, reach, strict=True)]
    if not parents:
        fits = linprog(
            np.zeros(max(1, matrix.shape[1])), *_padded(both, limits), bounds=(None, None)
        )
        return [] if fits.status == 0 else None
    return bounds


def _padded(
    both: np.ndarray[Any, Any], limits: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return (both if both.shape[1] else np.zeros((len(limits), 1))), limits


def by_programs(evidence: Evidence, step: int) -> tuple[bool, bool]:
    """Whether graph and equation are settled at ``step``, by the definition."""
    episode = evidence.episode
    letters = "abcd"[: len(episode.nodes)]
    named = dict(zip(letters, episode.nodes, strict=True))
    sizes = [abs(t.linear) for n in episode.nodes for t in episode.model.equations[n]]
    least = NO_EDGE * min(sizes)
    cache: dict[Any, Any] = {}

    def reach(node: str, parents: tuple[str, ...]) -> list[tuple[float, float]] | None:
        if (node, parents) not in cache:
            cache[node, parents] = extremes(evidence, node, parents, step, least)
        return cache[node, parents]  # type: ignore[no-any-return]

    graph, equation = True, True
    for dag in every_dag(letters):
        edges = frozenset((named[a], named[b]) for a, b in dag)
        if any(a == TARGET for a, _ in edges):
            continue  # the episode says that the target is no parent
        sets = {n: tuple(sorted(a for a, b in edges if b == n)) for n in episode.nodes}
        if any(reach(node, parents) is None for node, parents in sets.items()):
            continue
        graph = graph and edges == episode.edges
        true = {t.parent: t.linear for t in episode.model.equations[TARGET]}
        bounds = reach(TARGET, sets[TARGET]) or []
        equation = equation and sets[TARGET] == tuple(sorted(true)) and all(
            abs(end - true[p]) <= tolerance(episode, p, 1, true[p])
            for p, ends in zip(sets[TARGET], bounds, strict=True)
            for end in ends
        )  # fmt: skip
    return graph, equation


def first_by_programs(evidence: Evidence) -> tuple[int | None, int | None]:
    settled = [by_programs(evidence, step) for step in range(evidence.steps + 1)]
    steps = [
        next((step for step, flags in enumerate(settled) if flags[which]), None) for which in (0, 1)
    ]
    return steps[0], steps[1]


@pytest.mark.parametrize("mode", ["shift", "pin", "do"])
def test_three_nodes_agree_with_linear_programs_over_all_graphs(mode: str) -> None:
    agreed = cases = 0
    for seed in range(6):
        episode = random_episode(seed, 3, mode=mode, records=seed % 3)
        first, second = episode.names if seed % 2 else episode.names[::-1]
        evidence = played(episode, [(first, 80), (second, 5), (first, 11)])
        found = identify(evidence)
        assert found is not None
        steps = (found.graph_step, found.equation_step)
        for mine, programs in zip(steps, first_by_programs(evidence), strict=True):
            cases += 1
            agreed += mine == programs
            assert programs is not None or mine is None, f"seed {seed}: settled too early"
            assert mine is None or programs is None or mine >= programs, f"seed {seed}: too early"
    assert agreed >= 0.9 * cases


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["shift", "pin", "do"])
def test_four_nodes_agree_with_linear_programs_over_all_graphs(mode: str) -> None:
    agreed = cases = 0
    for seed in range(4):
        episode = random_episode(seed, 4, mode=mode)
        evidence = played(episode, [(n, 90 - 30 * k) for k, n in enumerate(episode.names)])
        found = identify(evidence)
        assert found is not None
        steps = (found.graph_step, found.equation_step)
        for mine, programs in zip(steps, first_by_programs(evidence), strict=True):
            cases += 1
            agreed += mine == programs
            assert mine is None or (programs is not None and mine >= programs)
    assert agreed >= 0.9 * cases


@pytest.mark.parametrize("k", [3, 4, 5, 6, 7])
def test_in_shift_mode_single_interventions_on_all_but_one_property_decide_the_graph(
    k: int,
) -> None:
    """An opening reading and k - 2 settings are k - 1 readings, one a node for every equation."""
    for seed in range(8):
        episode = random_episode(seed, k)
        evidence = played(episode, [(name, 100) for name in episode.names])
        found = identify(evidence)
        assert found is not None and found.graph_step is not None
        assert k - 2 <= found.graph_step <= k - 1, seed


def test_premature_is_a_prediction_while_experiments_could_still_tell() -> None:
    episode = chain_episode(budget=3)
    hypothesis = Hypothesis(episode.edges, 20.0, {"moisture": (3.0, 0.0), "density": (1.0, 0.0)})
    settings = [("density", 80.0), ("moisture", 5.0), ("density", 11.0)]
    flags = []
    for count in range(4):
        evidence = played(episode, settings[:count])
        figures = diagnose(evidence, hypothesis, committed=True)
        flags.append(figures["premature"])
        assert figures["used"] == count and figures["budget_share"] == count / 3
    assert flags[0] == 1 and flags[-1] == 0
    unsettled = diagnose(played(episode, settings[:0]), hypothesis, committed=False)
    assert unsettled["premature"] is None, "nothing was committed"


def test_a_spent_budget_is_never_premature() -> None:
    episode = chain_episode(budget=1)
    figures = diagnose(played(episode, [("moisture", 50)]), Hypothesis(frozenset(), None, {}),
                       committed=True)  # fmt: skip
    assert figures["premature"] == 0


def test_a_disturbance_leaves_identification_and_stopping_open() -> None:
    disturbance = {"nodes": [TARGET], "values": [-5.0, 5.0]}
    episode = chain_episode(disturbance=disturbance)
    evidence = played(episode, [("density", 80), ("moisture", 5)])
    right = Hypothesis(episode.edges, 20.0, {"moisture": (3.0, 0.0), "density": (1.0, 0.0)})
    figures = diagnose(evidence, right, committed=True)
    for name in ("graph_step", "equation_step", "steps_after", "premature"):
        assert figures[name] is None
    assert (figures["consistent"], figures["consistency"]) == (1, 1.0), "within its bound"
    wrong = Hypothesis(episode.edges, 40.0, {"moisture": (3.0, 0.0), "density": (1.0, 0.0)})
    assert diagnose(evidence, wrong, committed=True)["consistency"] == 0.0


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
            assert equivalence_sizes(Evidence(Episode.load(row), ())) == [size]


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
    held = progress(episode, [(1, poor), (2, good)], 4)
    shares = [held[f"edge_f1_at_{share}"] for share in (0, 25, 50, 75)]
    assert shares == [0.0, 0.5, 1.0, 1.0]


def test_fitted_bounds_hold_the_coefficients_that_made_the_readings() -> None:
    generator = np.random.default_rng(3)
    for _ in range(40):
        rows = generator.uniform(0, 100, (9, 3)).round(2)
        true = generator.uniform(-3, 3, 3)
        values = (rows @ true).round(2)
        found = fit(rows.tolist(), values.tolist(), [0.005] * 9)
        assert found.feasible
        for column in range(3):
            close = tightest(rows.tolist(), values.tolist(), [0.005] * 9, column)
            assert found.lower[column] <= true[column] <= found.upper[column]
            assert close[0] - 1e-9 <= true[column] <= close[1] + 1e-9
            assert close[1] - close[0] <= found.upper[column] - found.lower[column] + 1e-12


def test_the_tightest_bounds_are_those_of_the_dual_program() -> None:
    """Least total error of a combination of rows that isolates a coefficient, as a program."""
    generator = np.random.default_rng(4)
    for _ in range(20):
        rows = generator.uniform(0, 100, (8, 3)).round(2)
        values = (rows @ generator.uniform(-3, 3, 3)).round(2)
        errors = generator.choice([0.005, 0.5], 8)
        goal = np.concatenate([errors, errors])
        result = linprog(goal, A_eq=np.hstack([rows.T, -rows.T]), b_eq=[0.0, 1.0, 0.0])
        low, high = tightest(rows.tolist(), values.tolist(), errors.tolist(), 1)
        assert high - low == pytest.approx(2 * result.fun, rel=1e-6)


def test_readings_no_coefficients_fit_are_infeasible_and_short_evidence_is_open() -> None:
    assert not fit([[1.0], [2.0]], [1.0, 5.0], [0.005, 0.005]).feasible
    open_fit = fit([[1.0, 2.0]], [3.0], [0.005])
    assert open_fit.feasible and open_fit.lower == (float("-inf"),) * 2
    partly = fit([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], [3.0, 4.0], [0.005, 0.005])
    assert partly.lower[0] == pytest.approx(2.995) and partly.upper[1] == float("inf")


def test_quadratic_equations_are_identified_by_three_values_a_parent() -> None:
    equations: Any = {"moisture": [("density", -1.2, 0.012)], TARGET: [("moisture", 0.5, 0.008)]}
    row = make_row(equations, family="quadratic", records=0,
                   manipulator={"density": 0.0, "moisture": 50.0})  # fmt: skip
    episode = Episode.load(row)
    settings = [
        ("density", 50),
        ("density", 100),
        ("moisture", 0),
        ("moisture", 100),
        ("moisture", 30),
    ]
    found = identify(played(episode, settings))
    assert found is not None and found.graph_step is not None and found.equation_step is not None
    few = identify(played(episode, settings[:1]))
    assert few is not None and few.graph_step is None and few.equation_step is None


def test_refused_settings_are_no_evidence() -> None:
    session = Laboratory(chain_episode())
    with pytest.raises(Refused):
        session.intervene("density", 900)
    assert Evidence(session.episode, session.readings).steps == 0
